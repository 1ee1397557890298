/**
 * How many deliveries of a workspace ended how, over time. Hours that are over are counted once and kept; those in which
 * some deliveries were still pending are counted again later.
 */
import { sql } from 'kysely';
import { locks, tryWithLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';

export interface DeliveryCounts {
  at: Date;
  succeeded: number;
  failed: number;
  skipped: number;
}

export interface CountedRange {
  workspaceId: string;
  /** The first bucket begins here. */
  from: Date;
  to: Date;
  bucketSeconds: number;
}

const hourMs = 60 * 60 * 1000;

/** The buckets of a range that have deliveries. */
export async function readDeliveryCounts(db: Db, range: CountedRange): Promise<DeliveryCounts[]> {
  const { workspaceId, from, to, bucketSeconds } = range;
  const until = isOfHours(range) ? await countedUntil(db) : null;
  const counted = until === null ? from : new Date(Math.min(until.getTime(), floorToHour(to)));
  const live = counted > from ? counted : from;
  const bin = (time: string) =>
    sql`date_bin(make_interval(secs => ${bucketSeconds}), ${sql.ref(time)}, ${from}::timestamptz)`;
  const { rows } = await sql<DeliveryCounts>`
    select at, sum(succeeded)::float8 as succeeded, sum(failed)::float8 as failed, sum(skipped)::float8 as skipped from (
      select ${bin('hour')} as at, succeeded, failed, skipped from delivery_hours
      where workspace_id = ${workspaceId} and hour >= ${from} and hour < ${counted}
      union all
      select ${bin('created_at')}, ${counts('succeeded')}, ${counts('failed')}, ${counts('skipped')}
      from webhook_deliveries
      where workspace_id = ${workspaceId} and created_at >= ${live} and created_at < ${to}
      group by 1
    ) as parts group by at`.execute(db);
  return rows;
}

/** After the end of an hour, for commits that take long and clocks that are slow. */
const lateMs = 10 * 60 * 1000;
/** New hours in one transaction. */
const hoursAtOnce = 24;
/** Hours that are counted again at a time, those that were not for the longest time first. */
const againAtOnce = 100;
const againAfter = sql`interval '15 minutes'`;

/** Counts what is due, by the clock of the database; true when there is more. */
export function countHours(db: Db, at?: Date): Promise<boolean | 'again'> {
  return tryWithLock(db, locks.deliveryHours, async (db) => {
    // The rest of the service always has an index at hand; here it may be a whole day that is counted.
    await sql`set local enable_seqscan = on`.execute(db);
    const { rows } = await sql<{ now: Date; since: Date | null }>`
      select coalesce(${at ?? null}::timestamptz, now()) as now, coalesce(
        (select until from delivery_hours_counted),
        date_trunc('hour', (select min(created_at) from webhook_deliveries), 'UTC')) as since`.execute(db);
    const [{ now, since } = { now: new Date(), since: null }] = rows;
    const end = floorToHour(new Date(now.getTime() - lateMs));
    // Nothing was ever sent, so nothing is behind us.
    const begin = since?.getTime() ?? end;
    const until = Math.min(end, begin + hoursAtOnce * hourMs);
    for (const hour of await openHours(db, new Date(begin))) await countHour(db, hour);
    for (let hour = begin; hour < until; hour += hourMs) await countHour(db, new Date(hour));
    if (until > begin || since === null) {
      await sql`
        insert into delivery_hours_counted (until) values (${new Date(until)})
        on conflict (is_only) do update set until = excluded.until`.execute(db);
    }
    return until < end;
  });
}

/** Call it when a delivery of this time is pending again. */
export async function countAgain(db: Db, workspaceId: string, createdAt: Date): Promise<void> {
  await sql`
    update delivery_hours set pending = pending + 1
    where workspace_id = ${workspaceId} and hour = ${new Date(floorToHour(createdAt))}`.execute(db);
}

/** Counted hours with deliveries that were pending then, or are although none was: their commit came late. */
async function openHours(db: Db, until: Date): Promise<Date[]> {
  const { rows } = await sql<{ hour: Date }>`
    select distinct hour from (
      (select hour from delivery_hours where pending > 0 and counted_at < now() - ${againAfter}
       order by counted_at limit ${againAtOnce})
      union all
      (select q.hour from (
         select workspace_id, date_trunc('hour', created_at, 'UTC') as hour from webhook_queue
         where created_at < ${until} group by 1, 2
       ) as q
       where not exists (
         select from delivery_hours h where h.workspace_id = q.workspace_id and h.hour = q.hour and h.pending > 0)
       limit ${againAtOnce})
    ) as open`.execute(db);
  return rows.map(({ hour }) => hour);
}

async function countHour(db: Db, hour: Date): Promise<void> {
  // What is no longer in the log stays as it was counted, and is not counted again.
  await sql`update delivery_hours set pending = 0, counted_at = now() where hour = ${hour} and pending > 0`.execute(
    db,
  );
  await sql`
    insert into delivery_hours (workspace_id, hour, succeeded, failed, skipped, pending)
    select workspace_id, ${hour}, ${counts('succeeded')}, ${counts('failed')}, ${counts('skipped')}, ${counts('pending')}
    from webhook_deliveries where created_at >= ${hour} and created_at < ${new Date(hour.getTime() + hourMs)}
    group by workspace_id
    on conflict (workspace_id, hour) do update set succeeded = excluded.succeeded, failed = excluded.failed,
      skipped = excluded.skipped, pending = excluded.pending, counted_at = now()`.execute(db);
}

function counts(status: 'succeeded' | 'failed' | 'skipped' | 'pending') {
  return sql`count(*) filter (where status = ${sql.lit(status)})`;
}

async function countedUntil(db: Db): Promise<Date | null> {
  const row = await db.selectFrom('delivery_hours_counted').select('until').executeTakeFirst();
  return row?.until ?? null;
}

function isOfHours({ from, bucketSeconds }: CountedRange): boolean {
  return bucketSeconds % 3_600 === 0 && from.getTime() % hourMs === 0;
}

function floorToHour(time: Date): number {
  return Math.floor(time.getTime() / hourMs) * hourMs;
}
