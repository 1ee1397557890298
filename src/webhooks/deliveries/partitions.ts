/** The partitions of the delivery log: one per day, created ahead of time and dropped after the retention time. */
import { sql } from 'kysely';
import { locks, tryWithLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { isLockTimeout } from '../../db/faults.ts';

export interface KeptPartitions {
  dropped: string[];
  /** The log was in use: try again soon. */
  unfinished: boolean;
}

const daysAhead = 3;
/** While this waits for a lock on the log, every commit with an event waits behind it. */
const lockTimeoutMs = 100;
const givenUpAtOnce = 1000;

/**
 * Creates the partitions of the next days and drops those older than the retention, by the clock of the database, each in
 * its own transaction. It leaves for the next run what another node is working on, a backup reads or anybody else uses:
 * there are partitions for days ahead.
 */
export async function keepPartitions(db: Db, retentionDays: number, at?: Date): Promise<KeptPartitions> {
  const now = at ?? (await databaseTime(db));
  const present = await listPartitions(db);
  let unfinished = false;
  const attempt = async (change: (db: Db) => Promise<void>): Promise<boolean> => {
    const done = await withoutHoldingUp(db, change);
    unfinished ||= !done;
    return done;
  };
  for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
    const day = dayOf(now, ahead);
    if (!present.includes(nameOf(day))) await attempt((db) => makePartition(db, day, dayOf(now, ahead + 1)));
  }

  const before = dayOf(now, -retentionDays);
  const inUse = await giveUpOpen(db, before);
  const dropped: string[] = [];
  const oldest = nameOf(before);
  for (const name of present.filter((name) => name < oldest)) {
    if (inUse.has(name)) continue;
    if (await attempt((db) => dropPartition(db, name))) dropped.push(name);
  }
  // The catch-all partition is cleaned row by row; on most days it is empty.
  if (inUse.size === 0) {
    await sql`delete from webhook_deliveries_other where created_at < ${`${before}Z`}::timestamptz`.execute(
      db,
    );
  }
  return { dropped, unfinished };
}

/** False when the lock was not free. */
async function withoutHoldingUp(db: Db, change: (db: Db) => Promise<void>): Promise<boolean> {
  try {
    const done = await tryWithLock(db, locks.deliveryPartitions, async (db) => {
      await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(db);
      await change(db);
      return true;
    });
    return done === true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

/**
 * Marks pending deliveries of expired days as failed before the day is dropped. Returns the partitions that must stay for
 * now: until the next run, so that the failure can be seen, or because some of their deliveries are being sent.
 */
async function giveUpOpen(db: Db, before: string): Promise<Set<string>> {
  const old = sql`created_at < ${`${before}Z`}::timestamptz`;
  const inUse = new Set<string>();
  for (let more = true; more; ) {
    const { rows } = await sql<{ created_at: Date; logged: boolean }>`
      with taken as (
        delete from webhook_queue where ctid = any (array(
          select ctid from webhook_queue
          where ${old} and (claim_id is null or lease_until < now()) limit ${givenUpAtOnce} for update skip locked
        ))
        returning workspace_id, delivery_id, created_at
      ), failed as (
        update webhook_deliveries d set status = 'failed' from taken t
        where d.workspace_id = t.workspace_id and d.id = t.delivery_id and d.created_at = t.created_at
        returning d.workspace_id, d.id
      )
      select t.created_at, f.id is not null as logged
      from taken t left join failed f on f.workspace_id = t.workspace_id and f.id = t.delivery_id`.execute(
      db,
    );
    for (const { created_at, logged } of rows) if (logged) inUse.add(nameOf(dayOf(created_at, 0)));
    more = rows.length === givenUpAtOnce;
  }
  const { rows } = await sql<{ created_at: Date }>`
    select distinct date_trunc('day', created_at, 'UTC') as created_at from webhook_queue where ${old}`.execute(
    db,
  );
  for (const { created_at } of rows) inUse.add(nameOf(dayOf(created_at, 0)));
  return inUse;
}

async function databaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now()`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('the database told no time');
  return row.now;
}

async function dropPartition(db: Db, name: string): Promise<void> {
  await sql`drop table if exists ${sql.table(name)}`.execute(db);
}

const prefix = 'webhook_deliveries_';

function nameOf(day: string): string {
  return prefix + day.replaceAll('-', '');
}

function dayOf(now: Date, offset: number): string {
  return new Date(now.getTime() + offset * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}

async function listPartitions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'webhook_deliveries'::regclass and c.relname ~ ${`^${prefix}\\d{8}$`}`.execute(db);
  return rows.map(({ name }) => name);
}

/** A day that already has rows in the catch-all partition stays there. */
async function makePartition(db: Db, from: string, to: string): Promise<void> {
  const { rows } = await sql`
    select 1 from webhook_deliveries_other
    where created_at >= ${`${from}Z`}::timestamptz and created_at < ${`${to}Z`}::timestamptz limit 1`.execute(
    db,
  );
  if (rows.length > 0) return;
  // The first attempt makes a row larger by three quarters. The free space keeps it in its page, so that no index changes.
  await sql`
    create table if not exists ${sql.table(nameOf(from))} partition of webhook_deliveries
    for values from (${sql.lit(`${from}T00:00:00Z`)}) to (${sql.lit(`${to}T00:00:00Z`)}) with (fillfactor = 35)`.execute(
    db,
  );
}
