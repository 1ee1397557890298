/** `start-first` and `start-warm`: from the start of the process to ready, with all of PostgreSQL in it. */

import type { Fixture } from '../fixture.ts';
import type { Comparison, Outcome, Row } from '../row.ts';
import { startService } from '../service.ts';

const times = 3;

export const firstStart: Row = {
  name: 'start-first',
  what: 'first start to ready: initdb, migrations, keys',
  async measure(fixture) {
    const readyMs: number[] = [];
    for (let time = 1; time <= times; time += 1)
      readyMs.push(await startOnce(fixture, await fixture.newDirectory()));
    return within(10, readyMs);
  },
};

export const warmStart: Row = {
  name: 'start-warm',
  what: 'start to ready on a data directory that was used before',
  async measure(fixture) {
    const dataDir = await fixture.newDirectory();
    await startOnce(fixture, dataDir);
    const readyMs: number[] = [];
    for (let time = 1; time <= times; time += 1) readyMs.push(await startOnce(fixture, dataDir));
    return within(3, readyMs);
  },
};

/** Stopped again, so that its PostgreSQL stops as well. */
async function startOnce(fixture: Fixture, dataDir: string): Promise<number> {
  const service = await fixture.keep(() => startService({ dataDir }));
  await service.stop();
  return service.readyMs;
}

/** The slowest counts: a limit has to hold every time. */
function within(limitSeconds: number, readyMs: number[]): Outcome {
  const slowest = Math.max(...readyMs) / 1000;
  const comparison: Comparison = {
    figure: 'slowest',
    peer: null,
    holdfast: { value: slowest, unit: 's', p99Ms: null },
    ratio: null,
    toReach: `≤ ${limitSeconds} s`,
    reached: slowest <= limitSeconds,
  };
  return { comparisons: [comparison], details: { readyMs } };
}
