/** Saves results in batches, and keeps them while the database is unavailable. */

import { isStatementFault } from '../../db/faults.ts';
import { createWakeup, pause, quietMs } from '../../runtime/loop.ts';
import type { DeliveryResult, Queue } from './queue.ts';

export interface ResultWriter {
  add(result: DeliveryResult): void;
  /** How many results are not saved yet. */
  waiting(): number;
  /** Runs until it is stopped and everything is saved or cannot be. */
  run(stopping: AbortSignal, beat: () => void): Promise<void>;
}

export interface ResultWriterDeps {
  queue: Pick<Queue, 'complete'>;
  /** Called with the saved results, and how many of them were refused because their claim was lost. */
  onWritten(results: DeliveryResult[], refused: number): void;
  log: { error(details: object, message: string): void };
}

/** How long a result may wait for others. If a node dies in that time, it is sent again. */
const gatherMs = 50;
const batchSize = 500;
const againMs = 500;

const unstored = '(the response could not be stored)';

export function createResultWriter({ queue, onWritten, log }: ResultWriterDeps): ResultWriter {
  const results: DeliveryResult[] = [];
  const first = createWakeup();
  const full = createWakeup();

  /**
   * A result that PostgreSQL cannot store must not block others: it is found by bisection and saved without its response.
   */
  async function write(batch: DeliveryResult[]): Promise<void> {
    try {
      const taken = await queue.complete(batch);
      onWritten(batch, batch.length - taken);
    } catch (error) {
      const [only] = batch;
      if (!isStatementFault(error) || !only) throw error;
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        await write(batch.slice(0, half));
        await write(batch.slice(half));
        return;
      }
      if (only.attempt === null || only.attempt.responseBody === unstored) throw error;
      log.error({ err: error, delivery: only.delivery.id }, 'could not store a response');
      const attempt = {
        ...only.attempt,
        error: plain(only.attempt.error),
        responseHeaders: {},
        responseBody: unstored,
      };
      await write([{ ...only, attempt }]);
    }
  }

  return {
    add(result) {
      results.push(result);
      if (results.length === 1) first.wake();
      if (results.length >= batchSize) full.wake();
    },
    waiting: () => results.length,
    async run(stopping, beat) {
      while (!stopping.aborted || results.length > 0) {
        if (results.length === 0) await first.wait(quietMs, stopping);
        if (results.length < batchSize) await full.wait(gatherMs, stopping);
        const batch = results.splice(0, batchSize);
        if (batch.length === 0) continue;
        try {
          await write(batch);
          beat();
        } catch (error) {
          log.error({ err: error }, 'could not save delivery results yet');
          results.unshift(...batch);
          // The remaining deliveries are sent again by the next node that claims them.
          if (stopping.aborted) return;
          await pause(againMs, stopping);
        }
      }
    },
  };
}

function plain(text: string | null): string | null {
  return text?.replace(/[^\x20-\x7E]/g, '?') ?? null;
}
