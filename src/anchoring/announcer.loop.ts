/** Tells of confirmed batches, as long as this node leads on the chain. */
import type { Lead } from '../chain/chain.ts';
import { type Bell, type Loop, repeating } from '../runtime/loop.ts';
import type { Announcer } from './announcer.ts';

export interface AnnouncerLoopOptions {
  lead(): Lead | null;
  /** Rung when a batch may have been confirmed. */
  bell: Bell;
}

export function announcerLoop(announcer: Announcer, { lead, bell }: AnnouncerLoopOptions): Loop {
  return repeating({
    name: 'anchor-announcer',
    restMs: 250,
    bell,
    async step() {
      const leading = lead();
      return leading ? announcer.step(leading) : false;
    },
  });
}
