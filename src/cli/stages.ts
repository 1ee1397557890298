/** How backup and restore show their stages, and how they are stopped. */
import type { OnProgress } from '../backup/backup.ts';
import { OperatorError } from '../runtime/errors.ts';
import type { ProgressLine } from './progress-line.ts';

const units = { database: 'rows', blobs: 'bytes', archive: 'bytes verified' } as const;

export function stageProgress(line: ProgressLine): OnProgress {
  return (stage, { done, total }) =>
    line.tell({ check: stage, what: units[stage], done: Math.round(done), total: Math.round(total) });
}

/** Ctrl-C and SIGTERM end the work cleanly: whatever it has begun to write is removed. */
export async function stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new OperatorError('It was stopped.'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(stopping.signal);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
