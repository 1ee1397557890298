/** Makes a batch at every interval, as long as this node leads on the chain. */
import type { Lead } from '../chain/chain.ts';
import { type Loop, pause } from '../loop.ts';
import type { Batcher } from './batcher.ts';

export interface BatcherLoopOptions {
  lead(): Lead | null;
  /** From the start of a batch to the start of the next. */
  intervalMs: number;
}

/** The interval may be long; the lead is looked for, and failed transactions are made anew, at least so often. */
const lookMs = 1_000;
const longestStepMs = 60_000;

export function batcherLoop(batcher: Batcher, { lead, intervalMs }: BatcherLoopOptions): Loop {
  const restMs = Math.min(intervalMs, lookMs);
  return {
    name: 'anchor-batcher',
    stuckAfterMs: restMs + longestStepMs,
    async run(signal, beat) {
      let dueAt = performance.now();
      while (!signal.aborted) {
        const leading = lead();
        if (leading) {
          await batcher.resend(leading);
          const startedAt = performance.now();
          if (startedAt >= dueAt) {
            const more = await batcher.step(leading);
            dueAt = more ? startedAt : startedAt + intervalMs;
          }
        }
        beat();
        const untilDueMs = Math.max(0, dueAt - performance.now());
        await pause(leading ? Math.min(restMs, untilDueMs) : restMs, signal);
      }
    },
  };
}
