/**
 * Reads large lists of revoked certificates in a thread: one of some hundred kilobytes takes tenths of a second, during which
 * the main thread goes on answering requests. The thread ends with its answer, as there is about one a minute.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { TimestampAnchor } from '../proof/rfc3161/anchor.ts';
import { judgeTimestamp, type TimestampJudgement, type TimestampQuestion } from '../proof/rfc3161/judge.ts';
import { readCrl } from '../proof/rfc3161/revocation.ts';
import type { JudgeAnswer, JudgeOrder } from './judge.thread.ts';

/** Up to this size a list takes some milliseconds, and a thread more than that to start. */
const smallBytes = 16_384;

export async function judgeWithLists(
  anchor: TimestampAnchor,
  question: TimestampQuestion,
): Promise<TimestampJudgement> {
  // Base64 has four characters for three bytes.
  const bytes = anchor.crls.reduce((sum, { length }) => sum + (length * 3) / 4, 0);
  if (bytes <= smallBytes) return judgeTimestamp(anchor, question);
  const answer = await ask({ anchor, question });
  if (!('judgement' in answer)) throw new Error('the thread answered something else');
  return answer.judgement;
}

/** When the list ends, if it says so. Throws when it is none. */
export async function readCrlEnd(bytes: Uint8Array): Promise<number | undefined> {
  if (bytes.length <= smallBytes) return readCrl(bytes, 'The file').nextUpdate;
  const answer = await ask({ crl: bytes });
  if ('fault' in answer) throw new Error(answer.fault);
  return 'nextUpdate' in answer ? answer.nextUpdate : undefined;
}

async function ask(order: JudgeOrder): Promise<JudgeAnswer> {
  const thread = new Worker(new URL('./judge.thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
  });
  const ended = new AbortController();
  try {
    return await Promise.race([
      once(thread, 'message', { signal: ended.signal }).then(([answer]) => answer as JudgeAnswer),
      once(thread, 'exit', { signal: ended.signal }).then(() => {
        throw new Error('the thread that reads lists of revoked certificates ended');
      }),
    ]);
  } finally {
    ended.abort();
    await thread.terminate();
  }
}
