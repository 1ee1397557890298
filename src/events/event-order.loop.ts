/** Gives committed events their position in the feed, and announces it. */
import type { Pool } from 'pg';
import { type Changes, type Loop, repeating, type Wakeup } from '../runtime/loop.ts';
import { orderEvents } from './event-order.ts';

export interface EventOrderDeps {
  /** Woken when events may need a position. */
  order: Wakeup;
  /** Woken when events may have been given a position. */
  feed: Pick<Wakeup, 'wake'>;
  /** For events that other nodes commit. */
  changes?: Changes;
}

export function eventOrderLoop(pool: Pool, { order, feed, changes }: EventOrderDeps): Loop {
  return repeating({
    name: 'event-order',
    restMs: 250,
    wakeup: order,
    changes,
    async step() {
      const more = await orderEvents(pool);
      feed.wake();
      return more;
    },
  });
}
