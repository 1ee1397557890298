/** Measures the peak memory of some work, independent of earlier work. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

export interface Measured<T> {
  result: T;
  growthBytes: number;
}

/** Measures this process. First frees the memory of earlier work, and resets the peak. */
export async function measureGrowth<T>(work: () => Promise<T>): Promise<Measured<T>> {
  collect();
  // Other systems than Linux only have the peak of the whole process, so only a higher one is noticed.
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
