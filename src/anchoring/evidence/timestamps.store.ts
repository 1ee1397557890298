/** Stores what timestamp authorities and OpenTimestamps calendars gave for batches, and what follows from it. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { mostStampedSingly } from './head-alone.ts';
import { isRenewedBy } from './renewal-rule.ts';
import { sha256, storeFiles } from './timestamp-files.ts';

export interface BatchToStamp {
  id: number;
  root: Buffer;
  /** Whether its head covers all older batches that nobody vouches for yet, as far as a head may. */
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

interface NewestBatch {
  id: number;
  root: Buffer;
  idle: boolean;
  /** This authority has stamped it. */
  has: boolean;
  /** Some older ones that nobody vouches for, the newest first. */
  others: number[];
  covering_id: number | null;
  covering_root: Buffer | null;
}

/**
 * The batch whose head waits for a token, or has one of another authority only: a renewal may be due to the later
 * certificate of this one. If there is none, the newest batch, unless this authority has stamped it; and once there has been
 * no batch for `idleMs`, the newest of some that nobody vouches for. For more of them a head is made.
 */
export async function batchToStamp(
  db: Db,
  { authority, idleMs }: { authority: string; idleMs: number },
): Promise<BatchToStamp | null> {
  const { rows } = await sql<NewestBatch>`
    select b.id, b.root, b.created_at < now() - make_interval(secs => ${idleMs / 1000}) as idle,
      exists (
        select from timestamps t
        where t.batch_id = b.id and t.kind = 'rfc3161' and t.authority = ${authority}) as has,
      array(
        select o.id from anchor_batches o where not o.stamped and o.id < b.id
        order by o.id desc limit ${mostStampedSingly + 1}) as others,
      coalesce(awaiting.id, covering.id) as covering_id, coalesce(awaiting.root, covering.root) as covering_root
    from (select id, root, created_at from anchor_batches order by id desc limit 1) as b
    left join lateral (
      select id, root from anchor_batches where awaits_token and not stamped and status <> 'set_aside'
      order by id desc limit 1
    ) as awaiting on true
    left join lateral (
      select id, root, created_at from anchor_batches where awaits_token and status <> 'set_aside'
      order by id desc limit 1
    ) as covering on covering.created_at > now() - interval '1 hour' and not exists (
      select from timestamps t
      where t.batch_id >= covering.id and t.kind = 'rfc3161' and t.authority = ${authority})`.execute(db);
  const [newest] = rows;
  if (!newest) return null;
  const { covering_id, covering_root } = newest;
  if (covering_id !== null && covering_root !== null) {
    return { id: covering_id, root: covering_root, coversAll: true };
  }
  const { id, root, idle, has, others } = newest;
  if (!has) return { id, root, coversAll: others.length === 0 };
  if (!idle || others.length === 0 || others.length > mostStampedSingly) return null;
  const single = await db
    .selectFrom('anchor_batches')
    .select(['id', 'root'])
    .where('id', '=', Number(others[0]))
    .executeTakeFirst();
  return single ? { ...single, coversAll: true } : null;
}

/** The newest one, whoever has stamped it; null when there is none. */
export async function newestBatch(db: Db): Promise<BatchToStamp | null> {
  const { rows } = await sql<{ id: number; root: Buffer }>`
    select id, root from anchor_batches order by id desc limit 1`.execute(db);
  return rows[0] ? { ...rows[0], coversAll: true } : null;
}

/** When the first certificate ends that a token relies on which still counts and is not renewed; null when there is none. */
export async function nextEnd(db: Db, now: Date): Promise<Date | null> {
  const { rows } = await sql<{ valid_until: Date }>`
    select valid_until from timestamps where valid_until > ${now} and not renewed
    order by valid_until limit 1`.execute(db);
  return rows[0]?.valid_until ?? null;
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
      certificate_hashes: certificates.map(sha256),
      crl_hashes: crls.map(sha256),
      complete: true,
      vouched_at: vouchedAt,
      valid_until: validUntil,
    })
    .onConflict((conflict) => conflict.columns(['batch_id', 'kind', 'authority']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!stored) return false;
  await storeFiles(db, [...certificates, ...crls]);
  await sql`
    update anchor_batches set stamped = true
    where not stamped and (id = ${batchId} or id in (
      select root_batch_id from evidence where head_batch_id = ${batchId} and root_batch_id is not null))`.execute(
    db,
  );
  await sql`
    update timestamps t set renewed = true from timestamps n
    where n.id = ${stored.id} and not t.renewed and ${isRenewedBy('t', 'n')}
      and t.id in (select timestamp_id from evidence where head_batch_id = ${batchId} and timestamp_id is not null)`.execute(
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
