/** Submits batches to OpenTimestamps calendars and completes their proofs, while this node leads on the chain. */
import type { Lead } from '../chain/chain.ts';
import { type Changes, type Loop, repeating } from '../runtime/loop.ts';
import type { OpenTimestamps } from './ots.ts';

export interface OtsLoopOptions {
  lead(): Lead | null;
  changes: Changes;
}

export function otsLoop(openTimestamps: OpenTimestamps, { lead, changes }: OtsLoopOptions): Loop {
  const loop = repeating({
    name: 'opentimestamps',
    restMs: 1_000,
    changes,
    // Ten proofs, each asked for at several calendars at once, and a few headers.
    longestStepMs: 300_000,
    async step(signal) {
      const leading = lead();
      return leading ? openTimestamps.step(leading, signal) : 'again';
    },
  });
  return { ...loop, dispensable: true };
}
