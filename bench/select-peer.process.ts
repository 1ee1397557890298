/** The process that runs the statements; see select-peer.ts. */
import { createHistogram } from 'node:perf_hooks';
import { openDatabase } from '../src/db/database.ts';
import { answerQuestions } from './child.ts';
import type { Selects, SelectsResult } from './select-peer.ts';

answerQuestions<Selects, SelectsResult>(async ({ connection, statements, inFlight, seconds }) => {
  // As the service opens it, with its settings and its number of connections.
  const database = openDatabase({ connection: () => connection, onError() {} });
  const latencies = createHistogram();
  const began = performance.now();
  const endMs = began + seconds * 1000;
  let done = 0;
  let rows = 0;
  async function goOn(first: number): Promise<void> {
    for (let turn = first; performance.now() < endMs; turn += inFlight) {
      const sentAt = performance.now();
      const result = await database.pool.query({ ...(statements[turn % statements.length] as object) } as {
        text: string;
      });
      latencies.record(Math.max(1, Math.round((performance.now() - sentAt) * 1000)));
      done += 1;
      rows += result.rows.length;
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, first) => goOn(first)));
  const took = (performance.now() - began) / 1000;
  await database.close();
  return { perSecond: done / took, p99Ms: latencies.percentile(99) / 1000, rows, done };
});
