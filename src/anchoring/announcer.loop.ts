/** Announces confirmed batches while this node leads on the chain. */
import type { Lead } from '../chain/chain.ts';
import { type Changes, type Loop, repeating, type Wakeup } from '../runtime/loop.ts';
import type { Announcer } from './announcer.ts';

export interface AnnouncerLoopOptions {
  lead(): Lead | null;
  /** Woken when a batch may have been confirmed. */
  wakeup: Wakeup;
  changes: Changes;
}

export function announcerLoop(announcer: Announcer, { lead, wakeup, changes }: AnnouncerLoopOptions): Loop {
  return repeating({
    name: 'anchor-announcer',
    restMs: 250,
    wakeup,
    changes,
    async step() {
      const leading = lead();
      return leading ? announcer.step(leading) : 'again';
    },
  });
}
