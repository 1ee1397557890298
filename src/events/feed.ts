/** Reads the feed: segments say which events are next, and these are read by their keys. */
import type { Pool } from 'pg';
import { encodeArray } from '../db/arrays.ts';
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
async function readStretch(pool: Pool, stretch: Stretch): Promise<FeedItem[]> {
  const { workspaceId, type, limit, backwards = false } = stretch;
  let { first, last } = stretch;
  const items: FeedItem[] = [];
  // Enough if they are full. If they are not, each has at least one event of the type, but for the one at the edge.
  for (let count = Math.ceil(limit / mostInSegment) + 1; ; count = limit - items.length + 1) {
    const segments = await readSegments(pool, { workspaceId, type, first, last, count, backwards });
    let places = segments.flatMap((segment) => placesOf(segment, { first, last, backwards }));
    if (type === undefined) places = places.slice(0, limit - items.length);
    items.push(...(await readPlaces(pool, { workspaceId, type, places })));
    const end = segments.at(-1);
    if (items.length >= limit || segments.length < count || !end) return items.slice(0, limit);
    if (backwards) last = end.first_position - 1;
    else first = end.last_position + 1;
  }
}

interface Segment {
  first_position: number;
  last_position: number;
  id_start: string;
  id_ends: string;
}

/** No index has where segments begin, but that is less than their greatest length before they end. */
const segmentsText = (order: 'asc' | 'desc') => `
  select first_position, last_position, id_start, array_to_string(id_ends, ' ') as id_ends from event_segments
  where workspace_id = $1 and last_position >= $2 and last_position < $3::bigint + ${mostInSegment}
    and first_position <= $3 and ($4::text is null or $4 = any (types))
  order by last_position ${order} limit $5`;

const forwardsText = segmentsText('asc');
const backwardsText = segmentsText('desc');

async function readSegments(
  pool: Pool,
  { workspaceId, type, first, last, count, backwards }: Omit<Stretch, 'limit'> & { count: number },
): Promise<Segment[]> {
  const { rows } = await pool.query<Segment>({
    name: backwards ? 'event-segments-backwards' : 'event-segments',
    text: backwards ? backwardsText : forwardsText,
    values: [workspaceId, first, last, type ?? null, count],
  });
  return rows;
}

interface Place {
  position: number;
  id: string;
}

function placesOf(
  { first_position, id_start, id_ends }: Segment,
  { first, last, backwards }: { first: number; last: number; backwards: boolean },
): Place[] {
  const places = id_ends
    .split(' ')
    .map((end, number) => ({ position: first_position + number, id: id_start + end }))
    .filter(({ position }) => position >= first && position <= last);
  return backwards ? places.reverse() : places;
}

/** The events at these places, in the same order; with a type, only those that have it. */
async function readPlaces(
  pool: Pool,
  { workspaceId, type, places }: { workspaceId: string; type: string | undefined; places: Place[] },
): Promise<FeedItem[]> {
  if (places.length === 0) return [];
  const { rows } = await pool.query<{ id: string; type: string; envelope: string }>({
    name: 'events-by-id',
    text: `select id, type, envelope from events
           where workspace_id = $1 and id = any ($2::text[]) and ($3::text is null or type = $3)`,
    values: [
      workspaceId,
      encodeArray(
        'text',
        places.map(({ id }) => id),
      ),
      type ?? null,
    ],
  });
  const events = new Map(rows.map((row) => [row.id, row]));
  return places.flatMap(({ position, id }) => {
    const event = events.get(id);
    return event ? { position, type: event.type, envelope: event.envelope } : [];
  });
}

/** The last position of the feed: anything after it is new. */
export async function tailPosition(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ tail: number }>(tailText);
  return rows[0]?.tail ?? 0;
}

export const tailText = `
  select coalesce((select last_position from event_segments order by first_position desc limit 1), 0) as tail`;
