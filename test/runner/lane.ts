/** Runs files one after the other: in a warm worker, or each in a process of its own where it has to be. */
import { type FileRun, runFile } from './file-run.ts';
import { runInOwnProcess } from './own-process.ts';
import { needsOwnProcess } from './tiers.ts';
import { startWarmWorker, type WarmWorker } from './warm-worker.ts';

export interface Lane extends AsyncDisposable {
  run(file: string, options: LaneRun): Promise<FileRun>;
}

export interface LaneRun {
  directory: string;
  /** Environment for a process whose clock is set. */
  clock: Record<string, string> | null;
  /** Only tests whose name matches. */
  name: string | null;
}

export interface LaneOptions {
  env: Record<string, string>;
  signal: AbortSignal;
}

export function createLane({ env, signal }: LaneOptions): Lane {
  let worker: WarmWorker | null = null;
  const retire = async () => {
    await worker?.retire();
    worker = null;
  };
  return {
    run: (file, { directory, clock, name }) =>
      runFile(file, {
        directory,
        signal,
        async runIn(temporary) {
          // A worker's clock is that of its start, and it has loaded files whose tests have other names.
          if (clock !== null || name !== null || needsOwnProcess(file))
            return runInOwnProcess(file, { temporary, env: { ...env, ...clock }, name, signal });
          if (worker?.isFresh() === false) await retire();
          worker ??= startWarmWorker({ env, signal });
          return worker.run({ file, temporary });
        },
      }),
    [Symbol.asyncDispose]: retire,
  };
}
