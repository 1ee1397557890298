/** Reads the feed: segments say which events are next, and these are read by their keys. */
import type { Pool } from 'pg';
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

/** The events of segments `s`, which come in the order of the feed or its reverse: none is looked at before it is needed. */
const places = `
  cross join lateral unnest(s.id_ends) with ordinality as place (id_end, number)
  cross join lateral (select s.first_position + place.number - 1 as position, s.id_start || place.id_end as id) as p`;

const eventOf = (place: string, condition = '') =>
  `(select type, envelope from events e where e.workspace_id = $1 and e.id = ${place}.id ${condition} limit 1)`;

/** Events of a workspace after a position, oldest first. With a type there may be none although more follow. */
export async function readFeed(
  pool: Pool,
  { workspaceId, type, after, limit }: FeedQuery,
  searched = searchedAtOnce,
): Promise<FeedPart> {
  if (type !== undefined) return searchFeed(pool, { workspaceId, type, after, limit }, searched);
  const { rows } = await pool.query<MaybeItem & { position: number }>({
    name: 'event-feed',
    text: `select page.position, e.type, e.envelope
           from (
             select p.position, p.id, s.last_position, place.number
             from (
               select * from event_segments
               where workspace_id = $1 and last_position > $2 order by last_position limit $3
             ) as s ${places}
             where p.position > $2 order by s.last_position, place.number limit $3
           ) as page
           left join lateral ${eventOf('page')} as e on true
           order by page.last_position, page.number`,
    values: [workspaceId, after, limit],
  });
  return {
    items: itemsOf(rows),
    upTo: rows.at(-1)?.position ?? after,
    ended: rows.length < limit,
  };
}

type MaybeItem = { [M in keyof FeedItem]: FeedItem[M] | null };

function itemsOf(rows: MaybeItem[]): FeedItem[] {
  return rows.filter((row): row is FeedItem => row.envelope !== null);
}

async function searchFeed(
  pool: Pool,
  { workspaceId, type, after, limit }: FeedQuery,
  searched: number,
): Promise<FeedPart> {
  // A segment with the type has at least one such event, but in the first one it may be before the position.
  const { rows } = await pool.query<{ last: number; isLast: boolean } & MaybeItem>({
    name: 'event-feed-of-type',
    text: `select greatest(coalesce(stretch.stop, stretch.tail), $2) as last, stretch.stop is null as "isLast",
                  found.position, found.type, found.envelope
           from (
             select (select last_position from event_segments where workspace_id = $1 and last_position > $2
                     order by last_position offset $5 - 1 limit 1) as stop,
                    (select last_position from event_segments where workspace_id = $1
                     order by last_position desc limit 1) as tail
           ) as stretch
           left join lateral (
             select p.position, e.type, e.envelope
             from (
               select * from event_segments
               where workspace_id = $1 and last_position > $2 and last_position <= coalesce(stretch.stop, stretch.tail)
                 and $3 = any (types)
               order by last_position limit $4 + 1
             ) as s ${places}
             cross join lateral ${eventOf('p', 'and e.type = $3')} as e
             where p.position > $2 order by s.last_position, place.number limit $4
           ) as found on true
           order by found.position`,
    values: [workspaceId, after, type, limit, searched],
  });
  const items = itemsOf(rows).map(({ position, type, envelope }) => ({ position, type, envelope }));
  const [{ last, isLast } = { last: after, isLast: true }] = rows;
  const isFull = items.length === limit;
  return { items, upTo: isFull ? (items.at(-1)?.position ?? last) : last, ended: !isFull && isLast };
}

/** Segments that begin before the position `$2`. No index has where they begin, but it is less than a segment before they end. */
const segmentsBackwards = `
  from event_segments
  where workspace_id = $1 and last_position < $2::bigint + ${mostInSegment - 1} and first_position < $2`;

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
    text: `select p.position, e.type, e.envelope
           from (
             select * ${segmentsBackwards} and last_position >= $5 and ($3::text is null or $3 = any (types))
             order by last_position desc limit $4 + 1
           ) as s ${places}
           cross join lateral ${eventOf('p', 'and ($3::text is null or e.type = $3)')} as e
           where p.position < $2 and p.position >= $5
           order by s.last_position desc, place.number desc limit $4`,
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
    text: `select first_position as position ${segmentsBackwards} order by last_position desc offset $3 limit 1`,
    values: [workspaceId, before ?? Number.MAX_SAFE_INTEGER, searched - 1],
  });
  return rows[0]?.position ?? null;
}

/** The last position of the feed: anything after it is new. */
export async function tailPosition(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ tail: number }>(tailText);
  return rows[0]?.tail ?? 0;
}

export const tailText = 'select coalesce(max(last_position), 0) as tail from event_segments';
