/** CPU time of the processes of this machine, as the kernel counts it (/proc). Linux only. */
import { readdir, readFile } from 'node:fs/promises';

export interface ProcessTimes {
  pid: number;
  parent: number;
  /** Of all its threads, also those that have ended; in steps of 10 ms. */
  ownMs: number;
  /** Of the children that it has seen end, and theirs; in steps of 10 ms. */
  endedMs: number;
}

export async function readProcesses(): Promise<ProcessTimes[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(names.map(Number).map(readProcess))).filter((one) => one !== null);
}

/** Null when it has ended. */
export async function readProcess(pid: number): Promise<ProcessTimes | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // After the name of the program, which may hold anything: state, parent, … and from the twelfth on the times of
  // the process and of the children it has seen end, in hundredths of a second. See proc_pid_stat(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const milliseconds = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * 10;
  return { pid, parent: Number(fields[1]), ownMs: milliseconds(11), endedMs: milliseconds(13) };
}

/**
 * Milliseconds with all their digits, of the threads that run. Null when the process has ended, or when the kernel does
 * not tell (CONFIG_SCHED_INFO).
 */
export async function readThreadsMs(pid: number): Promise<number | null> {
  const folder = `/proc/${pid}/task`;
  const names = await readdir(folder).catch(() => []);
  const read = async (name: string): Promise<number | null> => {
    const text = await readFile(`${folder}/${name}/schedstat`, 'utf8').catch(() => null);
    // Nanoseconds on a core, nanoseconds waiting for one, turns.
    return text === null ? null : Number(text.split(' ')[0]) / 1e6;
  };
  const threads = (await Promise.all(names.map(read))).filter((one) => one !== null);
  return threads.length === 0 ? null : threads.reduce((total, ms) => total + ms, 0);
}
