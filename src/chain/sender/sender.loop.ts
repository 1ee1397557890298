/** Sends what was enqueued, while this node leads. */

import { type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import type { Sender } from './sender.ts';

export function senderLoop(
  sender: Pick<Sender, 'step'>,
  { lead, wakeup }: { lead: () => Lead | null; wakeup: Wakeup },
): Loop {
  return repeating({
    name: 'sender',
    // Woken when something is enqueued; the rest is for what waits for its time.
    restMs: 1_000,
    // A round ends after 10 s; the last call of it may take as long as several addresses need to fail.
    longestStepMs: 60_000,
    wakeup,
    async step() {
      const present = lead();
      return present ? sender.step(present) : false;
    },
  });
}
