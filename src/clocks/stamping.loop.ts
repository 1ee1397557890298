/** Asks timestamp authorities for tokens of batches while this node leads on the chain. */
import type { Lead } from '../chain/chain.ts';
import { type Changes, createWakeup, type Loop, quietMs } from '../runtime/loop.ts';
import type { Stamping, StampingLane } from './stamping.ts';

export interface StampingLoopOptions {
  lead(): Lead | null;
  changes: Changes;
}

const lookMs = 1_000;
const longestStepMs = 60_000;

export function stampingLoop(
  { lanes }: Pick<Stamping, 'lanes'>,
  { lead, changes }: StampingLoopOptions,
): Loop {
  return {
    name: 'timestamps',
    dispensable: true,
    stuckAfterMs: quietMs + longestStepMs,
    async run(signal, beat) {
      const ended = new AbortController();
      const either = AbortSignal.any([signal, ended.signal]);
      const running = lanes.map((lane) => runLane(lane, either, beat));
      try {
        await Promise.all(running);
      } finally {
        // One lane failed: the others are started again together with it.
        ended.abort();
        await Promise.allSettled(running);
      }
    },
  };

  async function runLane(lane: StampingLane, signal: AbortSignal, beat: () => void): Promise<void> {
    const wakeup = createWakeup();
    const unfollow = changes.follow(wakeup, lookMs);
    try {
      while (!signal.aborted) {
        const leading = lead();
        const restMs = leading ? await lane.step(leading, signal) : lookMs;
        beat();
        await wakeup.wait(Math.min(Math.max(restMs, 0), quietMs), signal);
      }
    } finally {
      unfollow();
    }
  }
}
