/** Stores batches with their subtrees, leaves and transaction, in the leader's commit. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { EvidenceItem } from '../evidence/head-evidence.ts';
import { packIds, storePlaces } from '../leaves/leaf-places.ts';
import { anchorPurpose } from './batches.ts';

export interface NewBatch {
  root: Buffer;
  /** The transaction that anchors the batch. */
  outgoingId: number;
  /** Ids of the leaves, by place. */
  ids: number[];
  subtrees: NewSubtree[];
  /** What the head covers, in the order of its tree. */
  evidence: EvidenceItem[];
  evidenceRoot: Buffer;
  headPath: Buffer;
}

export interface NewSubtree {
  workspaceId: string;
  vaultId: string;
  root: Buffer;
  /** 32 bytes each, ordered by place. */
  leaves: Buffer;
  sequence: bigint;
  previousSeal: Buffer;
  signature: Buffer;
  sealId: Buffer;
  upperPath: Buffer;
}

/** Rows per statement: each has twelve values, and preparing them takes a few milliseconds. */
const subtreesAtOnce = 50;
/** Items per statement. */
const itemsAtOnce = 10_000;

/** Runs inside the leader's transaction. */
export async function storeBatch(db: Db, batch: NewBatch): Promise<number> {
  const { root, outgoingId, ids, subtrees, evidenceRoot, headPath } = batch;
  const { id } = await db
    .insertInto('anchor_batches')
    .values({
      ...{ root, size: ids.length, outgoing_id: outgoingId },
      ...{ evidence_root: evidenceRoot, head_path: headPath },
      awaits_token: batch.evidence.some(({ awaitsToken }) => awaitsToken),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  let firstPlace = 0;
  const rows = subtrees.map((subtree) => {
    const first_place = firstPlace;
    firstPlace += subtree.leaves.length / 32;
    const mine = packIds(ids.slice(first_place, firstPlace));
    return {
      batch_id: id,
      workspace_id: subtree.workspaceId,
      vault_id: subtree.vaultId,
      root: subtree.root,
      leaves: subtree.leaves,
      first_place,
      sequence: String(subtree.sequence),
      previous_seal: subtree.previousSeal,
      signature: subtree.signature,
      seal_id: subtree.sealId,
      upper_path: subtree.upperPath,
      ids: mine,
    };
  });
  for (let at = 0; at < rows.length; at += subtreesAtOnce) {
    await db
      .insertInto('anchor_subtrees')
      .values(rows.slice(at, at + subtreesAtOnce))
      .execute();
  }
  if (firstPlace !== ids.length) throw new Error('a batch does not have the leaves of its subtrees');
  await storePlaces(db, id, ids);
  await storeEvidence(db, id, batch.evidence);
  return id;
}

async function storeEvidence(db: Db, batchId: number, evidence: EvidenceItem[]): Promise<void> {
  for (let at = 0; at < evidence.length; at += itemsAtOnce) {
    const page = evidence.slice(at, at + itemsAtOnce);
    await sql`
      insert into evidence (head_batch_id, position, sha256, timestamp_id, root_batch_id)
      select ${batchId}, ${at} - 1 + place, sha256, timestamp_id, root_batch_id
      from unnest(${page.map(({ sha256 }) => sha256)}::bytea[],
                  ${page.map(({ timestampId }) => timestampId)}::bigint[],
                  ${page.map(({ rootBatchId }) => rootBatchId)}::bigint[])
        with ordinality as item (sha256, timestamp_id, root_batch_id, place)`.execute(db);
  }
  const timestamps = evidence.flatMap(({ timestampId }) => timestampId ?? []);
  if (timestamps.length === 0) return;
  await sql`
    update timestamps set covered = true where id = any(${timestamps}::bigint[]) and not covered`.execute(db);
}

/** Whether the transaction of any batch is signed but, as far as we know, not in a block. */
export async function hasOpenAnchor(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from outgoing_transactions where status in ('signed', 'submitted') and purpose = ${anchorPurpose}
    limit 1`.execute(db);
  return rows.length > 0;
}

export interface BatchToResend {
  id: number;
  root: Buffer;
  size: number;
  sends: number;
}

/** Batches that need a new transaction because theirs reverted, oldest first, with the block of the revert. */
export function batchesToResend(db: Db): Promise<(BatchToResend & { revertedIn: number | null })[]> {
  return db
    .selectFrom('anchor_batches')
    .innerJoin('outgoing_transactions', 'outgoing_transactions.id', 'anchor_batches.outgoing_id')
    .select([
      'anchor_batches.id',
      'root',
      'size',
      'sends',
      'outgoing_transactions.block_number as revertedIn',
    ])
    .where('to_resend', '=', true)
    .orderBy('anchor_batches.id')
    .limit(20)
    .execute();
}

/** Runs inside the leader's transaction. False when the batch is already on its way again and needs no new transaction. */
export async function lockForResend(db: Db, id: number): Promise<boolean> {
  const row = await db
    .selectFrom('anchor_batches')
    .select('id')
    .where('id', '=', id)
    .where('to_resend', '=', true)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

export async function markResent(db: Db, id: number, outgoingId: number): Promise<void> {
  await db
    .updateTable('anchor_batches')
    .set({ outgoing_id: outgoingId, to_resend: false, reason: null, sends: sql`sends + 1` })
    .where('id', '=', id)
    .execute();
}
