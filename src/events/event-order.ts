/** The order of the feed: gives each event its position. */
import { locks, tryLock, tryWithLock } from '../db/advisory-lock.ts';
import type { Db } from '../db/database.ts';
import { insertAll, type Write } from '../db/writes.ts';
import { findUnplaced, mayHaveUnplaced, readSearchPosition, storeLook } from './event-search.ts';
import { segmentWrites } from './event-segments.ts';

/**
 * Gives each event without a position the next one; only one node does so at a time. A late commit gets a later position,
 * whatever its id, so a reader who has seen position n has seen everything up to n. True when there may be more, `again`
 * when another node does so right now.
 */
export function orderEvents(db: Db, { limit = 1000 } = {}): Promise<boolean | 'again'> {
  return tryWithLock(db, locks.eventOrder, async (db) => {
    const position = await readSearchPosition(db);
    const look = await findUnplaced(db, position, limit);
    if (look === null) return false;
    await insertAll(db, segmentWrites(look.events, position.tail));
    await storeLook(db, position, look);
    return look.isCut;
  });
}

/**
 * Adds the positions of the events among rows that are about to be inserted, so that `orderEvents` need not look at them.
 * No other transaction can assign any until this one ends. Leaves them to `orderEvents` if that is running or other events
 * wait: earlier commits, such as a withdrawn anchor, come first.
 */
export async function placeEvents(db: Db, writes: Write[]): Promise<void> {
  const events = writes.filter((write) => write.table === 'events').map(({ row }) => row);
  if (events.length === 0 || !(await tryLock(db, locks.eventOrder))) return;
  const position = await readSearchPosition(db);
  if (await mayHaveUnplaced(db, position)) return;
  for (const row of events) row.written_in = 0;
  writes.push(...segmentWrites(events, position.tail));
}
