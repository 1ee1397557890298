/** How backup and restore show their stages, and how they are stopped. */
import { OperatorError } from '../runtime/errors.ts';
import type { ProgressLine } from './progress-line.ts';

const units = { database: 'rows', blobs: 'bytes', archive: 'bytes verified' };
/** Of base backups, which copy files. */
export const baseUnits = { ...units, database: 'files', blobs: 'blobs', log: 'segments verified' };

export function stageProgress<Stage extends string = keyof typeof units>(
  line: ProgressLine,
  words: Record<Stage, string> = units as Record<Stage, string>,
): (stage: Stage, progress: { done: number; total: number }) => void {
  return (stage, { done, total }) =>
    line.tell({ check: stage, what: words[stage], done: Math.round(done), total: Math.round(total) });
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
