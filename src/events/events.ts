/** Events: written to the outbox in the same commit as their change, and then given their position in the feed. */
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { locks, tryLock, tryWithLock } from '../db/advisory-lock.ts';
import type { Db } from '../db/database.ts';
import { createLowWater, type LowWater, oldestOpen } from '../db/low-water.ts';
import type { Write } from '../db/writes.ts';
import { newId } from '../runtime/ids.ts';
import type { EventData, EventType } from './catalogue.ts';

export interface NewEvent<T extends EventType> {
  workspaceId: string;
  type: T;
  at: Date;
  data: EventData[T];
}

/** The row of an event. Its envelope is the exact text that is sent and served from now on. */
export function eventWrite<T extends EventType>({ workspaceId, type, at, data }: NewEvent<T>): Write {
  const id = newId('evt');
  const envelope = JSON.stringify({ id, type, timestamp: at.toISOString(), workspace_id: workspaceId, data });
  return { table: 'events', row: { workspace_id: workspaceId, id, type, envelope, created_at: at } };
}

/**
 * Gives each event without a position the next one; only one node does so at a time. A late commit gets a later position,
 * whatever its id, so a reader who has seen position n has seen everything up to n. True when there may be more, `again`
 * when another node does so right now.
 */
export async function orderEvents(
  db: Db,
  { lowWater = createLowWater(), limit = 1000 }: { lowWater?: LowWater; limit?: number } = {},
): Promise<boolean | 'again'> {
  return tryWithLock(db, locks.eventOrder, async (db) => {
    const { rows } = await sql<{ placed: number; oldestOpen: number; lowest: number | null }>`
      with waiting as (
        select workspace_id, id, written_in from events
        where position is null and written_in >= ${lowWater.find()} order by written_in, id limit ${limit}
      ), unplaced as (
        select workspace_id, id, row_number() over (order by id) as place from waiting
      ), placed as (
        update events e
        set position = (select coalesce(max(position), 0) from events) + unplaced.place
        from unplaced
        where e.workspace_id = unplaced.workspace_id and e.id = unplaced.id
        returning 1
      )
      select (select count(*) from placed) as placed, ${oldestOpen} as "oldestOpen",
             (select min(written_in) from waiting) as lowest`.execute(db);
    const [look] = rows;
    if (look) lowWater.looked(look);
    return look?.placed === limit;
  });
}

/**
 * Assigns positions to the events among rows that are about to be inserted, at half the cost of `orderEvents`. No other
 * transaction can assign any until this one ends. Leaves them to `orderEvents` if that is running or other events wait:
 * earlier commits, such as a withdrawn anchor, come first.
 */
export async function placeEvents(db: Db, writes: Write[], lowWater = createLowWater()): Promise<void> {
  const events = writes.filter((write) => write.table === 'events');
  if (events.length === 0 || !(await tryLock(db, locks.eventOrder))) return;
  const { rows } = await sql<{ tail: number; oldestOpen: number; lowest: number | null }>`
    select (${sql.raw(tailText)}) as tail, ${oldestOpen} as "oldestOpen",
           (select min(written_in) from events where position is null and written_in >= ${lowWater.find()}) as lowest`.execute(
    db,
  );
  const [found] = rows;
  if (!found) return;
  lowWater.looked(found);
  if (found.lowest !== null) return;
  for (const [place, { row }] of events.entries()) row.position = found.tail + place + 1;
}

export interface FeedQuery {
  workspaceId: string;
  type: string | undefined;
  after: number;
  limit: number;
}

export interface FeedItem {
  position: number;
  type: string;
  envelope: string;
}

export interface FeedPart {
  items: FeedItem[];
  /** Events up to this position were read, also those of other types. */
  upTo: number;
  /** There was nothing after it. */
  ended: boolean;
}

/** Events that one search for a type goes through: a rare type is not looked for through the whole feed at once. */
const searchedAtOnce = 10_000;

/** Events of a workspace after a position, oldest first. With a type there may be none although more follow. */
export async function readFeed(
  pool: Pool,
  { workspaceId, type, after, limit }: FeedQuery,
  searched = searchedAtOnce,
): Promise<FeedPart> {
  if (type !== undefined) return searchFeed(pool, { workspaceId, type, after, limit }, searched);
  const { rows: items } = await pool.query<FeedItem>({
    name: 'event-feed',
    text: `select position, type, envelope from events
           where workspace_id = $1 and position > $2 order by position limit $3`,
    values: [workspaceId, after, limit],
  });
  return { items, upTo: items.at(-1)?.position ?? after, ended: items.length < limit };
}

async function searchFeed(
  pool: Pool,
  { workspaceId, type, after, limit }: FeedQuery,
  searched: number,
): Promise<FeedPart> {
  const { rows } = await pool.query<
    { last: number; count: number } & { [M in keyof FeedItem]: FeedItem[M] | null }
  >({
    name: 'event-feed-of-type',
    text: `with stretch as materialized (
             select position, type from events
             where workspace_id = $1 and position > $2 order by position limit $5
           ), looked as (select coalesce(max(position), $2) as last, count(*) as count from stretch)
           select looked.last, looked.count, found.* from looked left join lateral (
             select e.position, e.type, e.envelope from stretch s
             join events e on e.workspace_id = $1 and e.position = s.position
             where s.type = $3 order by s.position limit $4
           ) as found on true order by found.position`,
    values: [workspaceId, after, type, limit, searched],
  });
  const items = rows.filter((row): row is typeof row & FeedItem => row.position !== null);
  const [{ last, count } = { last: after, count: 0 }] = rows;
  const isFull = items.length === limit;
  return {
    items: items.map(({ position, type, envelope }) => ({ position, type, envelope })),
    upTo: isFull ? (items.at(-1)?.position ?? last) : last,
    ended: !isFull && count < searched,
  };
}

/** Events before a position, newest first: for people who look at the latest events. `end`: none before this position. */
export async function readFeedBackwards(
  pool: Pool,
  {
    workspaceId,
    type,
    before,
    end,
    limit,
  }: Omit<FeedQuery, 'after'> & { before: number | undefined; end: number },
): Promise<FeedItem[]> {
  const { rows } = await pool.query<FeedItem>({
    name: 'event-feed-backwards',
    text: `select position, type, envelope from events
           where workspace_id = $1 and position < $2 and position >= $5 and ($3::text is null or type = $3)
           order by position desc limit $4`,
    values: [workspaceId, before ?? Number.MAX_SAFE_INTEGER, type ?? null, limit, end],
  });
  return rows;
}

/** Where a search backwards from a position ends; null: at the beginning of the feed. */
export async function endOfSearch(
  pool: Pool,
  { workspaceId, before }: { workspaceId: string; before: number | undefined },
  searched = searchedAtOnce,
): Promise<number | null> {
  const { rows } = await pool.query<{ position: number }>({
    name: 'event-feed-stretch',
    text: `select position from events where workspace_id = $1 and position < $2
           order by position desc offset $3 limit 1`,
    values: [workspaceId, before ?? Number.MAX_SAFE_INTEGER, searched - 1],
  });
  return rows[0]?.position ?? null;
}

/** The last position of the feed: anything after it is new. */
export async function tailPosition(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ tail: number }>(tailText);
  return rows[0]?.tail ?? 0;
}

const tailText = 'select coalesce(max(position), 0) as tail from events where position is not null';
