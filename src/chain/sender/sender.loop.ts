/** Sends enqueued transactions while this node leads. */

import { type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import type { Sender } from './sender.ts';

export function senderLoop(
  sender: Pick<Sender, 'step'>,
  { lead, wakeup }: { lead: () => Lead | null; wakeup: Wakeup },
): Loop {
  return repeating({
    name: 'sender',
    // Woken when something is enqueued; polling serves transactions that become due later.
    restMs: 1_000,
    // A round ends after 10 s, but its last call may take until several addresses have failed.
    longestStepMs: 60_000,
    wakeup,
    async step() {
      const present = lead();
      return present ? sender.step(present) : false;
    },
  });
}
