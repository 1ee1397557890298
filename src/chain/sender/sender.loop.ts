/** Sends enqueued transactions while this node leads. */

import { type Changes, type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import type { Sender } from './sender.ts';

export interface SenderLoopOptions {
  lead(): Lead | null;
  /** Woken when something is enqueued. */
  wakeup: Wakeup;
  changes?: Changes;
  /** Whether any transaction is open. */
  hasOpen(): Promise<boolean>;
}

export function senderLoop(
  sender: Pick<Sender, 'step'>,
  { lead, wakeup, changes, hasOpen }: SenderLoopOptions,
): Loop {
  /** The epoch in which a step last ran while nothing was open. */
  let idleIn: number | null = null;
  return repeating({
    name: 'sender',
    // Polling serves open transactions, which become due later.
    restMs: 1_000,
    // A round ends after 10 s, but its last call may take until several addresses have failed.
    longestStepMs: 60_000,
    wakeup,
    changes,
    async step() {
      const present = lead();
      if (!present) return 'again';
      const { epoch } = present.term;
      const open = await hasOpen();
      // A step locks a row even if nothing is open, and every loop would take that for a change.
      if (!open && idleIn === epoch) return false;
      const more = await sender.step(present);
      idleIn = open ? null : epoch;
      return more || (open && 'again');
    },
  });
}
