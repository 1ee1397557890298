/** Removes once an hour what no blob needs. */
import { type Loop, repeating } from '../runtime/loop.ts';
import type { Sweep } from './sweep.ts';

export function blobSweepLoop(sweep: Sweep): Loop {
  return {
    // A store that is away for a while must not make the node count as not ready.
    dispensable: true,
    ...repeating({
      name: 'blob-sweep',
      restMs: 60 * 60 * 1000,
      longestStepMs: 5 * 60 * 1000,
      step: () => sweep.step(),
    }),
  };
}
