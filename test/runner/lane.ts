/** Runs files one after the other: in a warm worker, or each in a process of its own where it has to be. */
import { clockStartingAt } from '../support/service/clock.ts';
import { type FileRun, type InProcess, runFile } from './file-run.ts';
import { runInOwnProcess } from './own-process.ts';
import { needsOwnProcess } from './tiers.ts';
import { startWarmWorker, type WarmWorker } from './warm-worker.ts';

export interface Lane extends AsyncDisposable {
  run(file: string, options: LaneRun): Promise<FileRun>;
}

export interface LaneRun {
  directory: string;
  /** The time at which the file begins; null: now, as for all others of the lane. */
  at: Date | null;
  /** Only tests whose name matches. */
  name: string | null;
}

export interface LaneOptions {
  env: Record<string, string>;
  signal: AbortSignal;
}

export function createLane({ env, signal }: LaneOptions): Lane {
  let worker: WarmWorker | null = null;
  /** By how much the worker's clock is ahead. */
  let aheadMs = 0;
  const retire = async () => {
    await worker?.retire();
    worker = null;
  };
  async function runAlone(request: { file: string; temporary: string }, at: Date | null): Promise<InProcess> {
    const started = startWarmWorker({ env: { ...env, ...(at && clockStartingAt(at)) }, alone: true, signal });
    try {
      return await started.run(request);
    } finally {
      await started.retire();
    }
  }
  return {
    run: (file, { directory, at, name }) =>
      runFile(file, {
        directory,
        signal,
        async runIn(temporary) {
          const clock = at === null ? {} : clockStartingAt(at);
          // A worker has loaded files whose tests have other names.
          if (name !== null)
            return runInOwnProcess(file, { temporary, env: { ...env, ...clock }, name, signal });
          if (needsOwnProcess(file)) return runAlone({ file, temporary }, at);
          const clockMs = at === null ? 0 : at.getTime() - Date.now();
          // The clock of a worker never goes back.
          if (worker && (!worker.isFresh() || clockMs < aheadMs)) await retire();
          worker ??= startWarmWorker({ env: { ...env, ...clock }, signal });
          aheadMs = clockMs;
          return worker.run({ file, temporary, ...(at !== null && { clockMs }) });
        },
      }),
    [Symbol.asyncDispose]: retire,
  };
}
