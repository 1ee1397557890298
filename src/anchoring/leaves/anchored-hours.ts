/**
 * What was anchored of a workspace over time, and how long that took. Hours that are over are counted once and kept; a
 * confirmation that is taken back has its hour, and those after it, counted again.
 */
import { sql } from 'kysely';
import { locks, tryWithLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { type Loop, repeating } from '../../runtime/loop.ts';
import { leafIdAt } from './leaf-places.ts';

export interface AnchoredRange {
  workspaceId: string;
  /** The first bucket begins here. */
  from: Date;
  to: Date;
  bucketSeconds: number;
}

export interface AnchoredCounts {
  at: Date;
  anchored: number;
  /** From acceptance to confirmation, in milliseconds. */
  p50: number | null;
  p95: number | null;
}

const hourMs = 60 * 60 * 1000;
/** Of a subtree in `anchored_hours`. */
const subtreeBytes = 12;

/**
 * Sample size per bucket: this many subtrees, and this many leaves of each. At most some ten thousand leaves, found by
 * index.
 */
const sampled = { parts: 100, leaves: 8 };

/**
 * Counts by subtrees, which know how many leaves they have. The times of acceptance come from a sample: some leaves of some
 * subtrees, evenly spread, each weighted by the number of leaves it represents.
 */
export async function readAnchored(db: Db, range: AnchoredRange): Promise<AnchoredCounts[]> {
  const { workspaceId, from, to, bucketSeconds } = range;
  const until = isOfHours(range) ? await countedUntil(db) : null;
  const counted = until === null ? from : new Date(Math.min(until.getTime(), floorToHour(to)));
  const live = counted > from ? counted : from;
  const bin = (time: string) =>
    sql`date_bin(make_interval(secs => ${bucketSeconds}), ${sql.ref(time)}, ${from}::timestamptz)`;
  const leavesOf = (size: string) => sql`least(${sql.ref(size)}, ${sampled.leaves}::integer)`;
  const { rows } = await sql<AnchoredCounts>`
    with hours as materialized (
      select h.*, sum(parts) over (partition by at order by hour) - parts as before
      from (
        select hour, leaves, subtrees, length(subtrees) / ${subtreeBytes}::integer as parts, ${bin('hour')} as at
        from anchored_hours where workspace_id = ${workspaceId} and hour >= ${from} and hour < ${counted}
      ) as h
    ), fresh as materialized (
      select b.id, s.first_place, length(s.leaves) / 32 as size, ${bin('b.confirmed_at')} as at,
             row_number() over (
               partition by ${bin('b.confirmed_at')} order by date_trunc('hour', b.confirmed_at, 'UTC'), b.id, s.first_place
             ) as number
      from anchor_batches b
      join anchor_subtrees s on s.workspace_id = ${workspaceId} and s.batch_id = b.id
      where b.confirmed_at >= ${live} and b.confirmed_at < ${to}
    ), counts as (
      select at, sum(leaves)::float8 as anchored, sum(kept)::bigint as kept,
             ceil(sum(parts)::float8 / ${sampled.parts}::integer)::bigint as step
      from (
        select at, leaves, parts as kept, parts from hours
        union all
        select at, size, 0, 1 from fresh
      ) as parts group by at
    ), chosen as (
      select h.at, substring(h.subtrees from (${subtreeBytes} * (place - h.before - 1) + 1)::integer for ${subtreeBytes}) as named
      from hours h join counts c on c.at = h.at
      cross join lateral generate_series(
        (h.before::bigint / c.step + 1) * c.step, h.before::bigint + h.parts, c.step) as place
    ), parts as (
      select at, ('x' || encode(substring(named for 8), 'hex'))::bit(64)::bigint as id,
             ('x' || encode(substring(named from 9), 'hex'))::bit(32)::integer as first_place
      from chosen
      union all
      select f.at, f.id, f.first_place from fresh f join counts c on c.at = f.at where (c.kept + f.number) % c.step = 0
    ), sample as (
      -- By the clocks of two machines: a record has the time of the node that took it.
      select p.at, greatest(extract(epoch from b.confirmed_at - l.created_at) * 1000, 0)::float8 as ms,
             s.size::float8 / ${leavesOf('s.size')} as weight
      from parts p
      cross join lateral (select confirmed_at from anchor_batches where id = p.id limit 1) as b
      cross join lateral (
        select length(o.leaves) / 32 as size, o.ids from anchor_subtrees o
        where o.workspace_id = ${workspaceId} and o.batch_id = p.id and o.first_place = p.first_place limit 1
      ) as s
      cross join lateral generate_series(0, ${leavesOf('s.size')} - 1) as nth
      -- One by one: PostgreSQL expects so many that it would read all leaves instead.
      cross join lateral (
        select created_at from anchor_leaves where id = ${leafIdAt(sql`nth * s.size / ${leavesOf('s.size')}`)}
          -- Otherwise it was anchored a second time, long after it was accepted.
          and first_anchored_time is null limit 1
      ) as l
    ), weighed as (
      select at, ms, sum(weight) over (partition by at order by ms) / sum(weight) over (partition by at) as share
      from sample
    ), times as (
      select at, min(ms) filter (where share >= 0.5) as p50, min(ms) filter (where share >= 0.95) as p95
      from weighed group by at
    )
    select counts.at, counts.anchored, times.p50, times.p95 from counts left join times on times.at = counts.at`.execute(
    db,
  );
  return rows;
}

/** After the end of an hour, for commits that take long. */
const lateMs = 10 * 60 * 1000;
/** Hours in one transaction: who takes a confirmation back waits for it. */
const hoursAtOnce = 6;
const countEveryMs = 5 * 60 * 1000;

export function anchoredHoursLoop(db: Db): Loop {
  return repeating({
    name: 'anchored-hours',
    restMs: countEveryMs,
    step: async () => (await countAnchoredHours(db)) === true,
  });
}

/** Counts what is due, by the clock of the database; true when there is more. */
export function countAnchoredHours(db: Db, at?: Date): Promise<boolean | 'again'> {
  return tryWithLock(db, locks.anchoredHours, async (db) => {
    // Held until the end: what is taken back meanwhile is counted again afterwards.
    const { rows } = await sql<{ now: Date; until: Date }>`
      select coalesce(${at ?? null}::timestamptz, now()) as now, until from anchored_hours_counted for update`.execute(
      db,
    );
    const [row] = rows;
    if (!row) return begin(db);
    const end = floorToHour(new Date(row.now.getTime() - lateMs));
    const first = row.until.getTime();
    const until = Math.min(end, first + hoursAtOnce * hourMs);
    for (let hour = first; hour < until; hour += hourMs) await countHour(db, new Date(hour));
    if (until > first) await sql`update anchored_hours_counted set until = ${new Date(until)}`.execute(db);
    return until < end;
  });
}

/** Counts from the first confirmation on; with none there is nothing to do yet. The next round counts, with the row locked. */
async function begin(db: Db): Promise<boolean> {
  const { rows } = await sql`
    insert into anchored_hours_counted (until)
    select date_trunc('hour', confirmed_at, 'UTC') from anchor_batches
    where confirmed_at is not null order by confirmed_at limit 1
    on conflict do nothing returning 1`.execute(db);
  return rows.length > 0;
}

/** Call it in the commit that takes the confirmation of this transaction back, and before that. */
export async function countAnchoredAgain(db: Db, outgoingId: number): Promise<void> {
  await sql`
    update anchored_hours_counted c set until = date_trunc('hour', b.confirmed_at, 'UTC')
    from (select min(confirmed_at) as confirmed_at from anchor_batches where outgoing_id = ${outgoingId}) as b
    where b.confirmed_at < c.until`.execute(db);
}

async function countHour(db: Db, hour: Date): Promise<void> {
  await sql`delete from anchored_hours where hour = ${hour}`.execute(db);
  await sql`
    insert into anchored_hours (workspace_id, hour, leaves, subtrees)
    select s.workspace_id, ${hour}, sum(length(s.leaves) / 32),
           string_agg(int8send(b.id) || int4send(s.first_place), '' order by b.id, s.first_place)
    from anchor_batches b join anchor_subtrees s on s.batch_id = b.id
    where b.confirmed_at >= ${hour} and b.confirmed_at < ${new Date(hour.getTime() + hourMs)}
    group by s.workspace_id`.execute(db);
}

async function countedUntil(db: Db): Promise<Date | null> {
  const row = await db.selectFrom('anchored_hours_counted').select('until').executeTakeFirst();
  return row?.until ?? null;
}

function isOfHours({ from, bucketSeconds }: AnchoredRange): boolean {
  return bucketSeconds % 3_600 === 0 && from.getTime() % hourMs === 0;
}

function floorToHour(time: Date): number {
  return Math.floor(time.getTime() / hourMs) * hourMs;
}
