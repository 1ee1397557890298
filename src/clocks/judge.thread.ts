/** The thread for large lists of revoked certificates; see judge-thread.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { TimestampAnchor } from '../proof/rfc3161/anchor.ts';
import { judgeTimestamp, type TimestampJudgement, type TimestampQuestion } from '../proof/rfc3161/judge.ts';
import { readCrl } from '../proof/rfc3161/revocation.ts';

export type JudgeOrder = { anchor: TimestampAnchor; question: TimestampQuestion } | { crl: Uint8Array };

export type JudgeAnswer =
  | { judgement: TimestampJudgement }
  /** When the list ends, if it says so. */
  | { nextUpdate: number | undefined }
  /** What is wrong with the list. */
  | { fault: string };

parentPort?.postMessage(await answer(workerData as JudgeOrder));

async function answer(order: JudgeOrder): Promise<JudgeAnswer> {
  if ('anchor' in order) return { judgement: await judgeTimestamp(order.anchor, order.question) };
  try {
    return { nextUpdate: readCrl(order.crl, 'The file').nextUpdate };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
