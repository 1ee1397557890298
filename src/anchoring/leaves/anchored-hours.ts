/**
 * What was anchored of a workspace over time, and how long that took. Hours that are over are counted once and kept; a
 * confirmation that is taken back has its hour, and those after it, counted again.
 */
import { type RawBuilder, sql } from 'kysely';
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

/**
 * Of an hour or of a shorter bucket: at most about so many subtrees, evenly spread, and so many leaves of each. Each leaf stands
 * for as many as the sample left out.
 */
const sampled = { subtrees: 50, leaves: 4 };
/** Kept delays are rounded to steps of 4 %, so that an hour has few of them. */
const stepsPerDoubling = 16;
const weightOfLeaf = 8;

/** Counts by subtrees, which know how many leaves they have; the times of acceptance come from a sample. */
export async function readAnchored(db: Db, range: AnchoredRange): Promise<AnchoredCounts[]> {
  const { workspaceId, from, to, bucketSeconds } = range;
  const ofHours = isOfHours(range);
  const until = ofHours ? await countedUntil(db) : null;
  const counted = until === null ? from : new Date(Math.min(until.getTime(), floorToHour(to)));
  const live = counted > from ? counted : from;
  const bin = (time: RawBuilder<unknown>, seconds: number) =>
    sql`date_bin(make_interval(secs => ${seconds}), ${time}, ${from}::timestamptz)`;
  const unitSeconds = ofHours ? hourMs / 1000 : bucketSeconds;
  const bucket = bin(sql`part`, bucketSeconds);
  const { rows } = await sql<AnchoredCounts>`
    with hours as materialized (
      select hour as part, leaves, delays_ms, weights from anchored_hours
      where workspace_id = ${workspaceId} and hour >= ${from} and hour < ${counted}
    ), fresh as materialized (
      ${subtreesOf(
        bin(sql`b.confirmed_at`, unitSeconds),
        sql`s.workspace_id = ${workspaceId} and b.confirmed_at >= ${live} and b.confirmed_at < ${to}`,
      )}
    ), counts as (
      select ${bucket} as at, sum(leaves)::float8 as anchored
      from (select part, leaves from hours union all select part, size from fresh) as parts group by at
    ), delays as (
      select ${bucket} as at, ms, sum(weight)::float8 as weight
      from (
        select part, ms, weight from hours, unnest(delays_ms, weights) as delay (ms, weight)
        union all
        ${delaysOf('fresh', ofHours ? steppedMs : exactMs)}
      ) as parts group by at, ms
    ), weighed as (
      select at, ms, sum(weight) over (partition by at order by ms) / sum(weight) over (partition by at) as share
      from delays
    ), times as (
      select at, min(ms) filter (where share >= 0.5)::float8 as p50, min(ms) filter (where share >= 0.95)::float8 as p95
      from weighed group by at
    )
    select counts.at, counts.anchored, times.p50, times.p95 from counts left join times on times.at = counts.at`.execute(
    db,
  );
  return rows;
}

/** The subtrees of a part, numbered: `part` is what they are counted for. */
function subtreesOf(part: RawBuilder<unknown>, where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select part, id, confirmed_at, first_place, workspace_id, size,
           row_number() over (partition by part order by id, first_place) as number,
           ceil(count(*) over (partition by part)::float8 / ${sampled.subtrees}::integer)::bigint as stride
    from (
      select ${part} as part, b.id, b.confirmed_at, s.workspace_id, s.first_place, length(s.leaves) / 32 as size
      from anchor_batches b join anchor_subtrees s on s.batch_id = b.id where ${where}
    ) as subtrees`;
}

/** From acceptance to confirmation, by the clocks of two machines: a record has the time of the node that took it. */
const passedMs = sql`greatest(extract(epoch from f.confirmed_at - l.created_at)::float8 * 1000, 1)`;
const exactMs = sql`round(${passedMs})::bigint`;
const steppedMs = sql`
  round(power(2, (floor(ln(${passedMs}) / ln(2) * ${stepsPerDoubling}::integer) + 0.5) / ${stepsPerDoubling}::integer))::bigint`;

function delaysOf(subtrees: string, ms: RawBuilder<unknown>): RawBuilder<unknown> {
  const leaves = sql`least(f.size, ${sampled.leaves}::integer)`;
  return sql`
    select part, ${ms} as ms,
           sum(round(${weightOfLeaf}::float8 * f.stride * f.size / ${leaves})::bigint)::bigint as weight
    from ${sql.table(subtrees)} f
    cross join lateral (
      select ids from anchor_subtrees o
      where o.workspace_id = f.workspace_id and o.batch_id = f.id and o.first_place = f.first_place limit 1
    ) as s
    cross join lateral generate_series(0, ${leaves} - 1) as nth
    -- One by one: PostgreSQL expects so many that it would read all leaves instead.
    cross join lateral (
      select created_at from anchor_leaves where id = ${leafIdAt(sql`(2 * nth + 1) * f.size / (2 * ${leaves})`)}
        -- Otherwise it was anchored a second time, long after it was accepted.
        and first_anchored_time is null limit 1
    ) as l
    where f.number % f.stride = 0
    group by part, ms`;
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
    with subtrees as materialized (
      ${subtreesOf(
        sql`s.workspace_id`,
        sql`b.confirmed_at >= ${hour} and b.confirmed_at < ${new Date(hour.getTime() + hourMs)}`,
      )}
    ), delays as (${delaysOf('subtrees', steppedMs)})
    insert into anchored_hours (workspace_id, hour, leaves, delays_ms, weights)
    select part, ${hour}, sum(size),
           array(select ms from delays d where d.part = subtrees.part order by ms),
           array(select weight from delays d where d.part = subtrees.part order by ms)
    from subtrees group by part`.execute(db);
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
