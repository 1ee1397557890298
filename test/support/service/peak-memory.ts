/** How much memory some work takes at its peak, whatever earlier work has taken. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

export interface Measured<T> {
  result: T;
  growthBytes: number;
}

/** Of this process. What earlier work has left behind is given back first, and its peak forgotten. */
export async function measureGrowth<T>(work: () => Promise<T>): Promise<Measured<T>> {
  collect();
  // Not on Linux: the peak of the process so far, so that only a higher one is seen.
  if (process.platform !== 'linux') {
    const before = process.resourceUsage().maxRSS;
    const result = await work();
    return { result, growthBytes: (process.resourceUsage().maxRSS - before) * 1024 };
  }
  // See clear_refs in proc_pid_clear_refs(5).
  writeFileSync('/proc/self/clear_refs', '5');
  const before = kernelBytes('VmRSS');
  const result = await work();
  return { result, growthBytes: kernelBytes('VmHWM') - before };
}

function kernelBytes(which: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}
