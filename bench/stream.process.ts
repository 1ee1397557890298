/** The process that makes the stream; see stream.ts. */
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerQuestions } from './child.ts';
import { createLeanClient } from './lean-client.ts';
import type { Stream, StreamRequest, StreamResult } from './stream.ts';

answerQuestions<Stream, StreamResult>(runStream);

async function runStream(stream: Stream): Promise<StreamResult> {
  const { url, perSecond, seconds, inFlight, requests, warmUpSeconds = 0, keepAnswers = false } = stream;
  const client = createLeanClient(url);
  const latencies = createHistogram();
  let succeeded = 0;
  let fault: string | null = null;
  const answers: StreamResult['answers'] = [];

  async function send(request: StreamRequest, dueAt: number): Promise<void> {
    try {
      const { statusCode, text } = await client.request(request, { keepText: keepAnswers });
      const isRight = statusCode >= 200 && statusCode < 300;
      if (!isRight) fault ??= `${statusCode}: ${text}`;
      if (!isRight || dueAt < countedFrom) return;
      succeeded += 1;
      // From the time it was due: waiting for a connection counts.
      latencies.record(Math.max(1, Math.round((performance.now() - dueAt) * 1000)));
      if (keepAnswers) answers.push({ at: performance.timeOrigin + performance.now(), text });
    } catch (error) {
      fault ??= String(error);
    }
  }

  /** Each when the one before was answered, a share of the requests. */
  async function sendOnAndOn(first: number): Promise<void> {
    for (let turn = first; fault === null && performance.now() < endMs; turn += inFlight) {
      const request = requests[turn % requests.length];
      if (request) await send(request, performance.now());
    }
  }

  async function sendAtTheirTimes(perSecond: number): Promise<void> {
    const under = new Set<Promise<void>>();
    const most = perSecond * (warmUpSeconds + seconds);
    for (let sent = 0; sent < most && performance.now() < endMs; sent += 1) {
      const dueAt = began + (sent / perSecond) * 1000;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      while (under.size >= inFlight) await Promise.race(under);
      const request = requests[sent % requests.length];
      if (!request) continue;
      const sending = send(request, dueAt).finally(() => under.delete(sending));
      under.add(sending);
    }
    await Promise.all(under);
  }

  const began = performance.now();
  const countedFrom = began + warmUpSeconds * 1000;
  const endMs = countedFrom + seconds * 1000;
  if (perSecond === null)
    await Promise.all(Array.from({ length: inFlight }, (_, first) => sendOnAndOn(first)));
  else await sendAtTheirTimes(perSecond);
  const took = (performance.now() - countedFrom) / 1000;
  client.close();
  return {
    seconds: took,
    succeeded,
    perSecond: succeeded / took,
    p99Ms: latencies.percentile(99) / 1000,
    fault,
    answers,
  };
}
