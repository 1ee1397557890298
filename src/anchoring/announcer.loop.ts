/** Announces confirmed batches while this node leads on the chain. */
import type { Lead } from '../chain/chain.ts';
import { type Loop, repeating, type Wakeup } from '../runtime/loop.ts';
import type { Announcer } from './announcer.ts';

export interface AnnouncerLoopOptions {
  lead(): Lead | null;
  /** Woken when a batch may have been confirmed. */
  wakeup: Wakeup;
}

export function announcerLoop(announcer: Announcer, { lead, wakeup }: AnnouncerLoopOptions): Loop {
  return repeating({
    name: 'anchor-announcer',
    restMs: 250,
    wakeup,
    async step() {
      const leading = lead();
      return leading ? announcer.step(leading) : false;
    },
  });
}
