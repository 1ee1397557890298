/** Runs one test file in a temporary directory of its own, and checks what it left behind. */
import { mkdir, rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { endProcessesUsing, entriesOf } from './leftovers.ts';
import type { Outcome } from './outcomes.ts';

export interface FileRun {
  file: string;
  outcomes: Outcome[];
  /** Faults of the file as a whole: it died, ran no test, or left something behind. */
  faults: string[];
  /** What it printed, cut in the middle when very long. */
  output: string;
  seconds: number;
  /** The machine's load average of the minute before the file ended. */
  load: number;
  /** What failed before, in a run during which the machine stood still. */
  disturbed?: Disturbance;
}

export interface Disturbance {
  standstillMs: number;
  failures: string;
}

/** What the process that ran the file tells. */
export type InProcess = Pick<FileRun, 'outcomes' | 'faults' | 'output'>;

export interface FileOptions {
  /** Used by this file alone; removed afterwards. */
  directory: string;
  /** Its tests put their files into this directory, which is empty before and after. */
  runIn(temporary: string): Promise<InProcess>;
  signal: AbortSignal;
}

export async function runFile(file: string, { directory, runIn, signal }: FileOptions): Promise<FileRun> {
  const startedAt = performance.now();
  const temporary = join(directory, 't');
  await mkdir(temporary, { recursive: true });
  const { outcomes, faults, output } = await runIn(temporary);
  if (signal.aborted) {
    await endProcessesUsing(directory, 0);
  } else {
    for (const { pid, command } of await endProcessesUsing(directory))
      faults.push(`It left process ${pid} running: ${command.slice(0, 200)}`);
    for (const entry of await entriesOf(temporary))
      faults.push(`It left ${entry} in the temporary directory.`);
  }
  // The run's own directory is removed at the end, with anything that is still written here.
  await rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  const seconds = (performance.now() - startedAt) / 1000;
  return { file, outcomes, faults, output, seconds, load: loadavg()[0] ?? 0 };
}
