/** `embedded-idle`: what a fresh service, its PostgreSQL and its chain use of a core while there is nothing to do. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Comparison, Row } from '../row.ts';
import { startService } from '../service.ts';
import { processesOf } from '../service-processes.ts';
import { watchProcesses } from '../spent.ts';

const settleSeconds = 20;
const seconds = 60;
const toReachPercent = 2;

export const embeddedIdle: Row = {
  name: 'embedded-idle',
  what: `CPU time of service, embedded PostgreSQL and embedded chain in ${seconds} s with nothing to do`,
  async measure(fixture) {
    const dataDir = await fixture.newDirectory();
    const service = await fixture.keep(() => startService({ dataDir }));
    await sleep(settleSeconds * 1000);
    const began = performance.now();
    const watch = await watchProcesses(await processesOf(service));
    await sleep(seconds * 1000);
    const cpu = await watch.sofar();
    const tookMs = performance.now() - began;
    await service.stop();
    if (!cpu) throw new Error('this row needs /proc');

    const percentOf = (ms: number) => (100 * ms) / tookMs;
    const { service: ofService = 0, postgres = 0, chain = 0 } = cpu;
    const sum = percentOf(ofService + postgres + chain);
    return {
      comparisons: [
        share('service', percentOf(ofService)),
        share('database', percentOf(postgres)),
        share('engine', percentOf(chain)),
        {
          ...share('sum', sum),
          toReach: `≤ ${toReachPercent} % of a core`,
          reached: sum <= toReachPercent,
        },
      ],
      details: { settleSeconds, tookMs, cpuMs: cpu },
    };
  },
};

function share(figure: string, percent: number): Comparison {
  return {
    figure,
    peer: null,
    holdfast: { value: percent, unit: '% of a core', p99Ms: null },
    ratio: null,
    toReach: null,
    reached: null,
  };
}
