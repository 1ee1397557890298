/** Gives committed events their place in the feed, and says so. */
import type { Db } from '../db/database.ts';
import type { LowWater } from '../db/low-water.ts';
import { type Bell, type Loop, repeating } from '../runtime/loop.ts';
import { orderEvents } from './events.ts';

export interface EventOrderDeps {
  /** Of the events that wait, also for whoever else looks at them. */
  lowWater: LowWater;
  /** Rung when events may need a place. */
  order: Bell;
  /** To be rung when events may have got theirs. */
  feed: Pick<Bell, 'ring'>;
}

export function eventOrderLoop(db: Db, { lowWater, order, feed }: EventOrderDeps): Loop {
  return repeating({
    name: 'event-order',
    restMs: 250,
    bell: order,
    async step() {
      const more = await orderEvents(db, { lowWater });
      feed.ring();
      return more;
    },
  });
}
