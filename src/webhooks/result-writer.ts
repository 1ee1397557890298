/** Writes results down in batches, and keeps them while the database is away. */
import { createBell, pause } from '../loop.ts';
import type { Queue, Result } from './queue.ts';

export interface ResultWriter {
  add(result: Result): void;
  /** How many are not written down yet. */
  waiting(): number;
  /** Runs until it is stopped and all is written, or cannot be. */
  run(stopping: AbortSignal, beat: () => void): Promise<void>;
}

export interface ResultWriterDeps {
  queue: Pick<Queue, 'complete'>;
  /** Told what was written down, and how many of these were refused because their claim was lost. */
  onWritten(results: Result[], refused: number): void;
  log: { error(details: object, message: string): void };
}

/** How long a result may wait for others: what is sent and not yet written when a node dies is sent again. */
const gatherMs = 50;
const batchSize = 500;
const againMs = 500;

export function createResultWriter({ queue, onWritten, log }: ResultWriterDeps): ResultWriter {
  const results: Result[] = [];
  const bell = createBell();

  return {
    add(result) {
      results.push(result);
      if (results.length >= batchSize) bell.ring();
    },
    waiting: () => results.length,
    async run(stopping, beat) {
      while (!stopping.aborted || results.length > 0) {
        if (results.length < batchSize) await bell.wait(gatherMs, stopping);
        const batch = results.splice(0, batchSize);
        if (batch.length === 0) continue;
        try {
          const taken = await queue.complete(batch);
          onWritten(batch, batch.length - taken.length);
          beat();
        } catch (error) {
          log.error({ err: error }, 'results of deliveries could not be written yet');
          results.unshift(...batch);
          // What is left then is sent again by whoever claims it next.
          if (stopping.aborted) return;
          await pause(againMs, stopping);
        }
      }
    },
  };
}
