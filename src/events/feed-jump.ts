/** Moves the feed ahead after commits were lost: their positions are not given to other events. */
import { sql } from 'kysely';
import { locks } from '../db/advisory-lock.ts';
import type { Db } from '../db/database.ts';
import { tailText } from './feed.ts';

/** More events than a database can have had since it was copied; two million jumps fit into an exact number. */
const jump = 2 ** 32;

/** Inside a transaction: whoever gives positions waits until it ends. */
export async function jumpFeed(db: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${locks.eventOrder})`.execute(db);
  await sql`
    insert into feed_jumps (after_position, to_position)
    select coalesce((select max(last_position) from event_segments), 0), tail + ${jump}::bigint
    from (${sql.raw(tailText)}) as feed`.execute(db);
}
