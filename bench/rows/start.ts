/** `start-first` and `start-warm`: from the start of the process to ready, with all of PostgreSQL in it. */

import type { Fixture } from '../fixture.ts';
import type { Comparison, Outcome, Row } from '../row.ts';
import { startService } from '../service.ts';
import { processesOf } from '../service-processes.ts';
import { perOperation, type Spent, spentSinceStart } from '../spent.ts';

const times = 3;

interface Start {
  readyMs: number;
  operations: 1;
  cpu: Spent | null;
}

export const firstStart: Row = {
  name: 'start-first',
  what: 'first start to ready: initdb, migrations, keys',
  async measure(fixture) {
    const starts: Start[] = [];
    for (let time = 1; time <= times; time += 1)
      starts.push(await startOnce(fixture, await fixture.newDirectory()));
    return within(10, starts);
  },
};

export const warmStart: Row = {
  name: 'start-warm',
  what: 'start to ready on a data directory that was used before',
  async measure(fixture) {
    const dataDir = await fixture.newDirectory();
    await startOnce(fixture, dataDir);
    const starts: Start[] = [];
    for (let time = 1; time <= times; time += 1) starts.push(await startOnce(fixture, dataDir));
    return within(3, starts);
  },
};

/** Stopped again, so that its PostgreSQL stops as well. */
async function startOnce(fixture: Fixture, dataDir: string): Promise<Start> {
  const service = await fixture.keep(() => startService({ dataDir }));
  const answering = await spentSinceStart(await processesOf(service));
  await service.stop();
  return { readyMs: service.readyMs, cpu: answering && { answering, afterwards: {} }, operations: 1 };
}

/** The slowest counts: a limit has to hold every time. */
function within(limitSeconds: number, starts: Start[]): Outcome {
  const slowest = Math.max(...starts.map(({ readyMs }) => readyMs)) / 1000;
  const comparison: Comparison = {
    figure: 'slowest',
    peer: null,
    holdfast: { value: slowest, unit: 's', p99Ms: null, cpuMicros: perOperation(starts) },
    ratio: null,
    toReach: `≤ ${limitSeconds} s`,
    reached: slowest <= limitSeconds,
  };
  return { comparisons: [comparison], details: { starts } };
}
