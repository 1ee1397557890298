/** How much of the machine others use while we measure: what the cores did, less what we and our children did. */
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

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
 * rests a second between two rounds. Returns how long that took.
 */
export async function waitForRest(): Promise<number> {
  const began = performance.now();
  if (process.platform !== 'linux') return sleep(2_000, 2_000);
  let before = { at: began, cpuMs: (await ownCpuMs()).childrenMs };
  for (let quiet = 0; quiet < 4; ) {
    await sleep(lookMs);
    // Without our own process, which does nothing but look, and that is work enough on a busy machine.
    const now = { at: performance.now(), cpuMs: (await ownCpuMs()).childrenMs };
    quiet = now.cpuMs - before.cpuMs < (now.at - before.at) * idleShare ? quiet + 1 : 0;
    before = now;
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
    sum((byParent.get(pid) ?? []).map((one) => one.cpuMs + below(one.pid)));
  const self = all.find(({ pid }) => pid === process.pid);
  return { selfMs: self?.cpuMs ?? 0, childrenMs: below(process.pid) };
}

export interface ProcessTimes {
  pid: number;
  parent: number;
  ownMs: number;
  /** With that of the children it has seen end. */
  cpuMs: number;
}

/** All of this machine. Linux only. */
export async function readProcesses(): Promise<ProcessTimes[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(names.map(readProcess))).filter((one) => one !== null);
}

/** Null when it ended meanwhile. */
async function readProcess(name: string): Promise<ProcessTimes | null> {
  const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // After the name of the program, which may hold anything: state, parent, … and from the twelfth on the times of
  // the process and of the children it has seen end, in hundredths of a second. See proc_pid_stat(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const milliseconds = (from: number, to: number) => sum(fields.slice(from, to).map(Number)) * 10;
  return {
    pid: Number(name),
    parent: Number(fields[1]),
    ownMs: milliseconds(11, 13),
    cpuMs: milliseconds(11, 15),
  };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
