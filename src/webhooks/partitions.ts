/** The days of the delivery log: a partition each, made ahead of time and dropped when its time is over. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { locks, tryInTurn } from '../db/turn.ts';

const daysAhead = 3;

/**
 * Makes the partitions of the next days and drops those older than the retention; returns what it dropped. Leaves it for
 * the next time while another node is at it, or a backup reads the log: there are days ahead.
 */
export async function keepPartitions(db: Db, retentionDays: number, now = new Date()): Promise<string[]> {
  const dropped: string[] = [];
  await tryInTurn(db, locks.deliveryPartitions, async (db) => {
    const present = await listPartitions(db);
    for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
      const day = dayOf(now, ahead);
      if (!present.includes(nameOf(day))) await makePartition(db, day, dayOf(now, ahead + 1));
    }
    const oldest = nameOf(dayOf(now, -retentionDays));
    dropped.push(...present.filter((name) => name < oldest));
    for (const name of dropped) await sql`drop table ${sql.table(name)}`.execute(db);
    const before = sql`${`${dayOf(now, -retentionDays)}Z`}::timestamptz`;
    await sql`delete from webhook_queue where created_at < ${before}`.execute(db);
    // What the catch-all partition holds goes row by row; on most days that is nothing.
    await sql`delete from webhook_deliveries_other where created_at < ${before}`.execute(db);
    return true;
  });
  return dropped;
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

/** A day whose rows already went to the catch-all partition stays there. */
async function makePartition(db: Db, from: string, to: string): Promise<void> {
  const { rows } = await sql`
    select 1 from webhook_deliveries_other
    where created_at >= ${`${from}Z`}::timestamptz and created_at < ${`${to}Z`}::timestamptz limit 1`.execute(
    db,
  );
  if (rows.length > 0) return;
  // A row grows to about twice its size with its first attempt: in its own page, and so without a change to an index.
  await sql`
    create table ${sql.table(nameOf(from))} partition of webhook_deliveries
    for values from (${sql.lit(`${from}T00:00:00Z`)}) to (${sql.lit(`${to}T00:00:00Z`)}) with (fillfactor = 40)`.execute(
    db,
  );
}
