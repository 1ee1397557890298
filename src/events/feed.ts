/** Reads the feed: segments say which events are next, and these are read by their keys. */
import { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';
import type { Db } from '../db/database.ts';
import { mostInSegment } from './event-segments.ts';

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

/** Segments that one search for a type goes through: a rare type is not looked for through the whole feed at once. */
const searchedAtOnce = 10_000;

/** Events of a workspace after a position, oldest first. With a type there may be none although more follow. */
export async function readFeed(
  pool: Pool,
  { workspaceId, type, after, limit }: FeedQuery,
  searched = searchedAtOnce,
): Promise<FeedPart> {
  const found = { workspaceId, type, first: after + 1, limit };
  if (type === undefined) {
    const items = await readStretch(pool, { ...found, last: Number.MAX_SAFE_INTEGER });
    return { items, upTo: items.at(-1)?.position ?? after, ended: items.length < limit };
  }
  const { last, isTail } = await findStretch(pool, { workspaceId, after, searched });
  const items = await readStretch(pool, { ...found, last });
  const isFull = items.length === limit;
  return { items, upTo: isFull ? (items.at(-1)?.position ?? last) : last, ended: !isFull && isTail };
}

/** Where a search forwards from a position ends: there, or at the last event of the workspace. */
async function findStretch(
  pool: Pool,
  { workspaceId, after, searched }: { workspaceId: string; after: number; searched: number },
): Promise<{ last: number; isTail: boolean }> {
  const { rows } = await pool.query<{ stop: number | null; tail: number | null }>({
    name: 'event-feed-stretch',
    text: `select (select last_position from event_segments where workspace_id = $1 and last_position > $2
                   order by last_position offset $3 limit 1) as stop,
                  (select last_position from event_segments where workspace_id = $1
                   order by last_position desc limit 1) as tail`,
    values: [workspaceId, after, searched - 1],
  });
  const { stop = null, tail = null } = rows[0] ?? {};
  return { last: Math.max(after, stop ?? tail ?? 0), isTail: stop === null };
}

/** Events before a position, newest first: for people who look at the latest events. `end`: none before this position. */
export function readFeedBackwards(
  pool: Pool,
  query: Omit<FeedQuery, 'after'> & { before: number | undefined; end: number },
): Promise<FeedItem[]> {
  const { workspaceId, type, before, end, limit } = query;
  const last = before === undefined ? Number.MAX_SAFE_INTEGER : before - 1;
  return readStretch(pool, { workspaceId, type, first: end, last, limit, backwards: true });
}

/** Where a search backwards from a position ends; null: at the beginning of the feed. */
export async function endOfSearch(
  pool: Pool,
  { workspaceId, before }: { workspaceId: string; before: number | undefined },
  searched = searchedAtOnce,
): Promise<number | null> {
  const { rows } = await pool.query<{ position: number }>({
    name: 'event-feed-stretch-backwards',
    text: `select first_position as position from event_segments
           where workspace_id = $1 and last_position < $2::bigint + ${mostInSegment - 1} and first_position < $2
           order by last_position desc offset $3 limit 1`,
    values: [workspaceId, before ?? Number.MAX_SAFE_INTEGER, searched - 1],
  });
  return rows[0]?.position ?? null;
}

interface Stretch {
  workspaceId: string;
  type: string | undefined;
  first: number;
  last: number;
  limit: number;
  backwards?: boolean;
}

/** The first events of a stretch of the feed, or the last ones. */
async function readStretch(
  pool: Pool,
  { workspaceId, type, first, last, limit, backwards = false }: Stretch,
): Promise<FeedItem[]> {
  const { rows } = await pool.query<FeedItem>({
    name: backwards ? 'event-feed-backwards' : 'event-feed',
    text: backwards ? backwardsText : forwardsText,
    values: [workspaceId, first, last, type ?? null, limit],
  });
  return rows;
}

/**
 * Takes segments one by one, and the events of each in the order of their ids, until there are enough: so a page costs the
 * same wherever it is. No index has where segments begin, but that is less than their greatest length before they end. Each
 * has an event of the type, but for the one at the edge. Limits that are known when a plan is made would have it made again
 * for every page.
 */
const stretchText = (order: 'asc' | 'desc') => `
  select s.first_position + width_bucket(e.id, s.ids) - 1 as position, e.type, e.envelope
  from (
    select first_position, last_position, ids from event_segments
    where workspace_id = $1 and last_position >= $2 and last_position < $3::bigint + ${mostInSegment}
      and first_position <= $3 and ($4::text is null or $4 = any (types))
    order by last_position ${order} limit (select $5::integer + 1)
  ) as s
  cross join lateral (
    select id, type, envelope from events
    where workspace_id = $1 and ($4::text is null or type = $4) and id = any (s.ids[
      (greatest($2, s.first_position) - s.first_position + 1)::integer
      : (least($3, s.last_position) - s.first_position + 1)::integer
    ])
    order by id ${order}
  ) as e
  limit (select $5::integer)`;

const forwardsText = stretchText('asc');
const backwardsText = stretchText('desc');

/** The last position of the feed: anything after it is new. */
export async function tailPosition(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ tail: number }>(tailText);
  return rows[0]?.tail ?? 0;
}

/** The same, within a transaction. */
export async function readTail(db: Db): Promise<number> {
  const { rows } = await db.executeQuery<{ tail: number }>(CompiledQuery.raw(tailText));
  return rows[0]?.tail ?? 0;
}

/** Behind the last jump if no event came after it. */
export const tailText = `
  select greatest(
    (select last_position from event_segments order by first_position desc limit 1),
    (select to_position from feed_jumps order by to_position desc limit 1),
    0
  ) as tail`;
