/** How much of the machine others use while we measure: what the cores did, less what we and our children did. */
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessTimes, readProcesses } from './process-times.ts';

/** Starts looking; the function it returns tells the share of all cores since then, or null where there is no /proc. */
export async function watchOthers(): Promise<() => Promise<number | null>> {
  const before = await cpuTimes();
  return async () => {
    const after = await cpuTimes();
    if (!before || !after) return null;
    const others = after.busyMs - before.busyMs - (after.oursMs - before.oursMs);
    return Math.max(0, others / (after.at - before.at) / availableParallelism());
  };
}

const lookMs = 300;
const longestRestMs = 60_000;
/** Of one core. A service at rest, its PostgreSQL and an emulated chain were seen to need 0.14 on a busy machine. */
const idleShare = 0.25;

/**
 * Waits until nothing that we started is at work any more, background loops included: long enough to see a loop that
 * rests a second between two rounds. Returns how long that took. `stillBusy` is called whenever there was work.
 */
export async function waitForRest({ stillBusy }: { stillBusy?: () => Promise<void> } = {}): Promise<number> {
  const began = performance.now();
  if (process.platform !== 'linux') return sleep(2_000, 2_000);
  let before = { at: began, cpuMs: (await ownCpuMs()).childrenMs };
  for (let quiet = 0; quiet < 4; ) {
    await sleep(lookMs);
    // Without our own process, which does nothing but look, and that is work enough on a busy machine.
    const now = { at: performance.now(), cpuMs: (await ownCpuMs()).childrenMs };
    quiet = now.cpuMs - before.cpuMs < (now.at - before.at) * idleShare ? quiet + 1 : 0;
    before = now;
    if (quiet === 0) await stillBusy?.();
    if (performance.now() - began > longestRestMs) throw new Error('the service did not come to rest');
  }
  return performance.now() - began;
}

interface CpuTimes {
  at: number;
  busyMs: number;
  oursMs: number;
}

async function cpuTimes(): Promise<CpuTimes | null> {
  if (process.platform !== 'linux') return null;
  const busyMs = sum(cpus().map(({ times }) => times.user + times.nice + times.sys + times.irq));
  const { selfMs, childrenMs } = await ownCpuMs();
  return { at: performance.now(), busyMs, oursMs: selfMs + childrenMs };
}

/** Of this process, and of all below it: the service, its PostgreSQL, the peers and the load generators. */
async function ownCpuMs(): Promise<{ selfMs: number; childrenMs: number }> {
  const all = await readProcesses();
  const byParent = Map.groupBy(all, ({ parent }) => parent);
  const below = (pid: number): number =>
    sum((byParent.get(pid) ?? []).map((one) => cpuMs(one) + below(one.pid)));
  const cpuMs = (one: ProcessTimes) => one.ownMs + one.endedMs;
  const self = all.find(({ pid }) => pid === process.pid);
  return { selfMs: self ? cpuMs(self) : 0, childrenMs: below(process.pid) };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
