/** Makes a batch at every interval while this node leads on the chain and the previous batch is in a block. */
import type { Lead } from '../../chain/chain.ts';
import { type Changes, createWakeup, type Loop, pause, quietMs } from '../../runtime/loop.ts';
import type { Batcher } from './batcher.ts';

export interface BatcherLoopOptions {
  lead(): Lead | null;
  /** From the start of a batch to the start of the next. */
  intervalMs: number;
  /** When given, the loop rests until something has changed while no leaf is pending. */
  changes?: Changes;
}

/** The interval may be long; at least this often the loop checks for the lead and makes new transactions for failed ones. */
const lookMs = 1_000;
const longestStepMs = 60_000;
/** How often to check whether the previous batch is in a block, with a statement that finds at most one row. */
const waitMs = 100;

export function batcherLoop(batcher: Batcher, { lead, intervalMs, changes }: BatcherLoopOptions): Loop {
  const restMs = Math.min(intervalMs, lookMs);
  const wakeup = createWakeup();
  return {
    name: 'anchor-batcher',
    stuckAfterMs: Math.max(restMs, quietMs) + longestStepMs,
    async run(signal, beat) {
      const unfollow = changes?.follow(wakeup, restMs);
      try {
        await batch(signal, beat);
      } finally {
        unfollow?.();
      }
    },
  };

  async function batch(signal: AbortSignal, beat: () => void): Promise<void> {
    let dueAt = performance.now();
    while (!signal.aborted) {
      const leading = lead();
      let waits = false;
      let quiet = false;
      if (leading) {
        await batcher.resend(leading);
        const startedAt = performance.now();
        const isDue = startedAt >= dueAt;
        waits = isDue && (await batcher.waits());
        if (isDue && !waits) {
          const more = await batcher.step(leading);
          dueAt = more ? startedAt : startedAt + intervalMs;
          quiet = !batcher.isBusy();
        }
      }
      beat();
      if (quiet && changes) {
        await wakeup.wait(quietMs, signal);
        continue;
      }
      const untilDueMs = waits ? waitMs : Math.max(0, dueAt - performance.now());
      await pause(leading ? Math.min(restMs, untilDueMs) : restMs, signal);
    }
  }
}
