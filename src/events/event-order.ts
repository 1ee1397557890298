/** The order of the feed: gives each event its position. */
import type { Pool } from 'pg';
import { locks, tryLock, tryWithLockOnClient } from '../db/advisory-lock.ts';
import type { Db } from '../db/database.ts';
import { runOnDb } from '../db/statement.ts';
import type { Write } from '../db/writes.ts';
import { findUnplaced, mayHaveUnplaced, readSearchPosition, storeLook } from './event-search.ts';
import { segmentsOf } from './event-segments.ts';

/**
 * Gives each event without a position the next one; only one node does so at a time. A late commit gets a later position,
 * whatever its id, so a reader who has seen position n has seen everything up to n. True when there may be more, `again`
 * when another node does so right now.
 */
export function orderEvents(pool: Pool, { limit = 1000 } = {}): Promise<boolean | 'again'> {
  return tryWithLockOnClient(pool, locks.eventOrder, async (run) => {
    const position = await readSearchPosition(run);
    const look = await findUnplaced(run, position, limit);
    if (look === null) return false;
    await storeLook(run, position, look);
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
  const run = runOnDb(db);
  const position = await readSearchPosition(run);
  if (await mayHaveUnplaced(run, position)) return;
  for (const row of events) row.written_in = 0;
  for (const row of segmentsOf(events, position.tail)) writes.push({ table: 'event_segments', row });
}
