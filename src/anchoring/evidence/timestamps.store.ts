/** Stores what timestamp authorities and OpenTimestamps calendars gave for batches, and what follows from it. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** A batch that has nothing of an authority yet. */
export interface BatchToStamp {
  id: number;
  root: Buffer;
  /** Whether its head covers all older batches that nobody vouches for yet. */
  coversAll: boolean;
}

export interface NewToken {
  batchId: number;
  /** The URL of the authority. */
  authority: string;
  token: Buffer;
  /** What the token lacks. */
  certificates: Buffer[];
  crls: Buffer[];
  /** The latest time that it vouches for. */
  vouchedAt: Date;
  /** When the certificate of its signer ends. */
  validUntil: Date;
}

/**
 * The newest batch, if this authority has not stamped it: what it vouches for, it vouches for all that the head covers. Once
 * there has been no batch for `idleMs`, and so no head, the newest one that nobody vouches for.
 */
export async function batchToStamp(
  db: Db,
  { authority, idleMs }: { authority: string; idleMs: number },
): Promise<BatchToStamp | null> {
  const { rows } = await sql<{ id: number; root: Buffer; idle: boolean; has: boolean; leaves_out: boolean }>`
    select b.id, b.root, b.created_at < now() - make_interval(secs => ${idleMs / 1000}) as idle,
      exists (
        select from timestamps t
        where t.batch_id = b.id and t.kind = 'rfc3161' and t.authority = ${authority}) as has,
      exists (
        select from anchor_batches o where not o.stamped and o.id < b.id and not exists (
          select from evidence e where e.root_batch_id = o.id and e.head_batch_id = b.id)) as leaves_out
    from anchor_batches b order by b.id desc limit 1`.execute(db);
  const [newest] = rows;
  if (!newest) return null;
  const { id, root, idle, has, leaves_out: leavesOut } = newest;
  if (!has) return { id, root, coversAll: !leavesOut };
  if (!idle || !leavesOut) return null;
  const { rows: left } = await sql<{ id: number; root: Buffer }>`
    select id, root from anchor_batches where not stamped order by id desc limit 1`.execute(db);
  return left[0] ? { ...left[0], coversAll: true } : null;
}

/** How long ago the newest token of an authority was stored, by the clock of the database; null when there is none. */
export async function newestTokenAgeMs(db: Db, authority: string): Promise<number | null> {
  const { rows } = await sql<{ age: number }>`
    select (extract(epoch from now() - created_at) * 1000)::float8 as age from timestamps
    where authority = ${authority} order by created_at desc limit 1`.execute(db);
  return rows[0]?.age ?? null;
}

/** Runs in the leader's commit. False for the second token of an authority for one batch, after a kill: it is not stored. */
export async function storeToken(db: Db, given: NewToken): Promise<boolean> {
  const { batchId, authority, token, certificates, crls, vouchedAt, validUntil } = given;
  const stored = await db
    .insertInto('timestamps')
    .values({
      batch_id: batchId,
      kind: 'rfc3161',
      authority,
      proof: token,
      certificates,
      crls,
      complete: true,
      vouched_at: vouchedAt,
      valid_until: validUntil,
    })
    .onConflict((conflict) => conflict.columns(['batch_id', 'kind', 'authority']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!stored) return false;
  await sql`
    update anchor_batches set stamped = true
    where not stamped and (id = ${batchId} or id in (
      select root_batch_id from evidence where head_batch_id = ${batchId} and root_batch_id is not null))`.execute(
    db,
  );
  await sql`
    update timestamps set renewed = true
    where not renewed and valid_until < ${validUntil}
      and id in (select timestamp_id from evidence where head_batch_id = ${batchId} and timestamp_id is not null)`.execute(
    db,
  );
  return true;
}

/** The newest batch, if calendars have not been asked for it. */
export async function batchForCalendars(db: Db): Promise<{ id: number; root: Buffer } | null> {
  const { rows } = await sql<{ id: number; root: Buffer; has: boolean }>`
    select b.id, b.root, exists (
      select from timestamps t where t.batch_id = b.id and t.kind = 'opentimestamps') as has
    from anchor_batches b order by b.id desc limit 1`.execute(db);
  const [newest] = rows;
  return newest && !newest.has ? { id: newest.id, root: newest.root } : null;
}

/** A proof that calendars have only promised so far. */
export async function storePendingOts(
  db: Db,
  { batchId, ots }: { batchId: number; ots: Buffer },
): Promise<void> {
  await db
    .insertInto('timestamps')
    .values({ batch_id: batchId, kind: 'opentimestamps', authority: '', proof: ots, complete: false })
    .onConflict((conflict) => conflict.columns(['batch_id', 'kind', 'authority']).doNothing())
    .execute();
}

export interface PendingOts {
  id: number;
  batchId: number;
  ots: Buffer;
  createdAt: Date;
}

/** Those that a Bitcoin block may have by now, oldest first. */
export async function pendingOts(
  db: Db,
  { after, limit }: { after: number; limit: number },
): Promise<PendingOts[]> {
  const rows = await db
    .selectFrom('timestamps')
    .select(['id', 'batch_id', 'proof', 'created_at'])
    .where('complete', '=', false)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, batch_id, proof, created_at }) => ({
    ...{ id, batchId: batch_id, ots: proof, createdAt: created_at },
  }));
}

/**
 * With the headers of the blocks that it names, as far as they are known; without any, nobody has checked it. `vouchedAt`: the
 * earliest time of them; or, if there are none, of their discovery.
 */
export async function completeOts(
  db: Db,
  given: { id: number; ots: Buffer; headers: { height: number; header: Buffer }[]; vouchedAt: Date },
): Promise<void> {
  await db
    .updateTable('timestamps')
    .set({
      proof: given.ots,
      complete: true,
      heights: given.headers.map(({ height }) => height),
      headers: given.headers.map(({ header }) => header),
      vouched_at: given.vouchedAt,
    })
    .where('id', '=', given.id)
    .where('complete', '=', false)
    .execute();
}
