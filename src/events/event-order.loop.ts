/** Gives committed events their position in the feed, and announces it. */
import type { Db } from '../db/database.ts';
import type { LowWater } from '../db/low-water.ts';
import { type Changes, type Loop, repeating, type Wakeup } from '../runtime/loop.ts';
import { orderEvents } from './events.ts';

export interface EventOrderDeps {
  /** Of the events without a position; shared with `placeEvents`. */
  lowWater: LowWater;
  /** Woken when events may need a position. */
  order: Wakeup;
  /** Woken when events may have been given a position. */
  feed: Pick<Wakeup, 'wake'>;
  /** For events that other nodes commit. */
  changes?: Changes;
}

export function eventOrderLoop(db: Db, { lowWater, order, feed, changes }: EventOrderDeps): Loop {
  return repeating({
    name: 'event-order',
    restMs: 250,
    wakeup: order,
    changes,
    async step() {
      const more = await orderEvents(db, { lowWater });
      feed.wake();
      return more;
    },
  });
}
