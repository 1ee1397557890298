/** Announces confirmed batches while this node leads on the chain, and reads what was missed of their blocks. */
import type { Lead } from '../chain/chain.ts';
import { type Changes, type Loop, repeating, type Wakeup } from '../runtime/loop.ts';
import type { Announcer } from './announcer.ts';
import type { Inclusions } from './evidence/inclusions.ts';

export interface AnnouncerLoopOptions {
  lead(): Lead | null;
  inclusions: Pick<Inclusions, 'catchUp'>;
  /** Woken when a batch may have been confirmed. */
  wakeup: Wakeup;
  changes: Changes;
}

export function announcerLoop(
  announcer: Announcer,
  { lead, inclusions, wakeup, changes }: AnnouncerLoopOptions,
): Loop {
  return repeating({
    name: 'anchor-announcer',
    restMs: 250,
    wakeup,
    changes,
    async step() {
      const leading = lead();
      if (!leading) return 'again';
      return (await announcer.step(leading)) || inclusions.catchUp(leading);
    },
  });
}
