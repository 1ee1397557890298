/** Runs a test file again, once, when it failed while the machine stood still. */
import type { FileRun } from './file-run.ts';
import type { StandstillWatch } from './standstill.ts';
import { describeDisturbance, hasFailed, nameFailures } from './summary.ts';

export interface UndisturbedOptions {
  runFile(): Promise<FileRun>;
  standstill: StandstillWatch;
  print(text: string): void;
  signal: AbortSignal;
}

export async function runUndisturbed(options: UndisturbedOptions): Promise<FileRun> {
  const { runFile, standstill, print, signal } = options;
  const startedAt = performance.now();
  const run = await runFile();
  const standstillMs = standstill.longestSince(startedAt);
  if (signal.aborted || !hasFailed(run) || standstillMs === 0) return run;
  const disturbed = { standstillMs, failures: nameFailures(run) };
  print(describeDisturbance(run.file, disturbed));
  return { ...(await runFile()), disturbed };
}
