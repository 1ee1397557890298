/** Removes objects that no blob needs, once an hour. */
import { type Loop, repeating } from '../runtime/loop.ts';
import type { Sweep } from './sweep.ts';

export function blobSweepLoop(sweep: Sweep): Loop {
  return {
    // A temporarily unavailable store must not make the node report itself as not ready.
    dispensable: true,
    ...repeating({
      name: 'blob-sweep',
      restMs: 60 * 60 * 1000,
      longestStepMs: 5 * 60 * 1000,
      step: () => sweep.step(),
    }),
  };
}
