/** What the chain does to batches: hooks that the sender and the indexer call inside their commits. */

import { sql } from 'kysely';
import type { MinedAt, TransactionOutcome } from '../../chain/sender/transaction-outcomes.ts';
import { toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import { countAnchoredAgain } from '../leaves/anchored-hours.ts';

/** Purpose of the transactions that anchor batches. */
export const anchorPurpose = 'anchor';

/** Transactions that a batch may have in all, when they revert. */
const maxSends = 3;

/** The sender's hook: updates a batch in the same commit as its transaction. */
export async function applyOutcomes(db: Db, outcomes: TransactionOutcome[]): Promise<void> {
  for (const outcome of outcomes) {
    if (outcome.purpose !== anchorPurpose) continue;
    const { outgoingId } = outcome;
    if (outcome.to === 'submitted') await submit(db, outgoingId);
    else if (outcome.to === 'failed') await fail(db, outgoingId, outcome.reason);
    else if (outcome.to === 'reorged') await withdraw(db, outgoingId, outcome.was);
    else await confirm(db, outgoingId, outcome);
  }
}

/** The indexer's hook: which vaults have leaves in the batches that these transactions anchor. */
export async function vaultsOfAnchors(
  db: Db,
  outgoingIds: number[],
): Promise<{ outgoingId: number; workspaceId: string; vaultId: string }[]> {
  if (outgoingIds.length === 0) return [];
  return db
    .selectFrom('anchor_batches')
    .innerJoin('anchor_subtrees', 'anchor_subtrees.batch_id', 'anchor_batches.id')
    .select([
      'anchor_batches.outgoing_id as outgoingId',
      'anchor_subtrees.workspace_id as workspaceId',
      'anchor_subtrees.vault_id as vaultId',
    ])
    .where('anchor_batches.outgoing_id', 'in', outgoingIds)
    .orderBy('anchor_batches.id')
    .orderBy('anchor_subtrees.first_place')
    .execute();
}

/** Also applies to a failed batch: a reorg undid the failure, and the batch is on its way again. */
async function submit(db: Db, outgoingId: number): Promise<void> {
  await db
    .updateTable('anchor_batches')
    .set({ status: 'submitted', to_resend: false, reason: null })
    .where('outgoing_id', '=', outgoingId)
    .where('status', 'in', ['batched', 'set_aside'])
    .execute();
}

async function confirm(
  db: Db,
  outgoingId: number,
  { to, mined }: { to: 'confirmed' | 'finalized'; mined: MinedAt },
): Promise<void> {
  await db
    .updateTable('anchor_batches')
    .set({
      status: to,
      to_resend: false,
      reason: null,
      transaction_hash: toBytea(mined.transactionHash),
      block_number: mined.blockNumber,
      block_hash: toBytea(mined.blockHash),
      block_time: mined.blockTime,
      confirmed_at: sql`coalesce(confirmed_at, now())`,
      ...keptInclusion(toBytea(mined.blockHash)),
    })
    .where('outgoing_id', '=', outgoingId)
    .execute();
}

/** What was read of a block counts only for that block. */
function keptInclusion(blockHash: Buffer) {
  const kept = <T>(column: string) => sql<T>`case when block_hash = ${blockHash} then ${sql.ref(column)} end`;
  return {
    inclusion_header: kept<Buffer | null>('inclusion_header'),
    inclusion_index: kept<number | null>('inclusion_index'),
    inclusion_nodes: kept<Buffer[] | null>('inclusion_nodes'),
    inclusion_refused: kept<string | null>('inclusion_refused'),
  };
}

/**
 * Announces to each workspace in the batch that its confirmation no longer holds; the next one is announced in full again.
 */
async function withdraw(db: Db, outgoingId: number, was: MinedAt): Promise<void> {
  await countAnchoredAgain(db, outgoingId);
  const batches = await db
    .updateTable('anchor_batches')
    .set({
      status: 'submitted',
      transaction_hash: null,
      block_number: null,
      block_hash: null,
      block_time: null,
      confirmed_at: null,
      announced: 0,
      inclusion_header: null,
      inclusion_index: null,
      inclusion_nodes: null,
      inclusion_refused: null,
    })
    .where('outgoing_id', '=', outgoingId)
    .where('status', 'in', ['confirmed', 'finalized'])
    .returning('id')
    .execute();
  if (batches.length === 0) return;
  const workspaces = await db
    .selectFrom('anchor_subtrees')
    .select('workspace_id')
    .distinct()
    .where(
      'batch_id',
      'in',
      batches.map(({ id }) => id),
    )
    .execute();
  const at = new Date();
  await insertAll(
    db,
    workspaces.map(({ workspace_id }) =>
      eventWrite({
        workspaceId: workspace_id,
        type: 'anchor.reorged',
        at,
        data: {
          tx_hash: was.transactionHash,
          block_number: was.blockNumber,
          reorged_at: at.toISOString(),
        },
      }),
    ),
  );
}

/**
 * A payload that reverted may succeed with more gas, so the batcher later makes another transaction for the batch. A batch
 * that can never succeed is set aside with the reason.
 */
async function fail(db: Db, outgoingId: number, reason: string): Promise<void> {
  const { rows } = await sql<{ reverted: boolean }>`
    select t.succeeded is false and not a.no_op as reverted
    from outgoing_transactions t join outgoing_attempts a on a.transaction_id = t.id and a.hash = t.mined_hash
    where t.id = ${outgoingId}`.execute(db);
  const reverted = rows[0]?.reverted === true;
  await sql`
    update anchor_batches set reason = ${reason},
      to_resend = ${reverted} and sends < ${maxSends},
      status = case when ${reverted} and sends < ${maxSends} then 'batched' else 'set_aside' end
    where outgoing_id = ${outgoingId} and status in ('batched', 'submitted')`.execute(db);
}
