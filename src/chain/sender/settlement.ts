/**
 * Applies the indexer's blocks to outgoing transactions: mined, deep enough, final, or removed by a reorg. Runs inside
 * the indexer's commits, so that a transaction never refers to a block that is not stored with it.
 */
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { fromBytea, toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { ApplyOutcomes, MinedAt, TransactionOutcome } from './transaction-outcomes.ts';

/** A transaction of ours in a block. */
export interface Found {
  hash: Hex;
  blockNumber: number;
  blockHash: Hex;
  /** Seconds since 1970. */
  blockTime: number;
  /** Its position in the block. */
  index: number;
  /** False if it reverted. */
  succeeded: boolean;
  /** The earlier transaction that it merely repeated, and that counts in its place. */
  earlier?: { hash: Hex; blockNumber: number; blockHash: Hex; blockTime: number } | null;
}

export interface Depth {
  headNumber: number;
  /** -1 while nothing is final. */
  finalizedNumber: number;
  /** Number of blocks, including its own, after which a transaction counts as confirmed. */
  confirmations: number;
}

export interface Settlement {
  /** Which of these transaction hashes are ours, for any attempt. */
  attemptsAmong(db: Db, hashes: readonly Hex[]): Promise<{ hash: Hex; outgoingId: number }[]>;
  markMined(db: Db, found: readonly Found[]): Promise<void>;
  /** The blocks above this one are gone. Transactions mined in them are sent again at once. */
  markUndone(db: Db, fork: { afterNumber: number }): Promise<void>;
  /** Confirms and finalizes what is deep enough; one cheap statement if nothing is. */
  settle(db: Db, depth: Depth): Promise<void>;
}

export const reverted = 'the transaction reverted';

interface SettledRow {
  id: number;
  purpose: string;
  /** The hash of the transaction that counts. */
  hash: Buffer;
  block_number: number;
  block_hash: Buffer;
  block_time: number;
}

/** Where the payload took effect: in the mined transaction, or in the earlier one that it repeated. */
const placeColumns = sql`coalesce(t.earlier_hash, t.mined_hash) as hash,
  coalesce(t.earlier_block_number, t.block_number) as block_number,
  coalesce(t.earlier_block_hash, t.block_hash) as block_hash,
  coalesce(t.earlier_block_time, t.block_time) as block_time`;

export function createSettlement(applyOutcomes: ApplyOutcomes): Settlement {
  const tell = async (db: Db, outcomes: TransactionOutcome[]) => {
    if (outcomes.length > 0) await applyOutcomes(db, outcomes);
  };

  return {
    async attemptsAmong(db, hashes) {
      if (hashes.length === 0) return [];
      const { rows } = await sql<{ hash: Buffer; transaction_id: number }>`
        select hash, transaction_id from outgoing_attempts
        where hash = any (${hashes.map(toBytea)}::bytea[])`.execute(db);
      return rows.map((row) => ({ hash: fromBytea(row.hash), outgoingId: row.transaction_id }));
    },

    async markMined(db, found) {
      const outcomes: TransactionOutcome[] = [];
      for (const { hash, blockNumber, blockHash, blockTime, index, succeeded, earlier } of found) {
        const { rows } = await sql<{ id: number; purpose: string; was: string }>`
          update outgoing_transactions t set status = 'mined', mined_hash = ${toBytea(hash)},
            block_number = ${blockNumber}, block_hash = ${toBytea(blockHash)}, block_time = ${blockTime},
            transaction_index = ${index}, succeeded = ${succeeded},
            earlier_hash = ${earlier ? toBytea(earlier.hash) : null},
            earlier_block_number = ${earlier?.blockNumber ?? null},
            earlier_block_hash = ${earlier ? toBytea(earlier.blockHash) : null},
            earlier_block_time = ${earlier?.blockTime ?? null}
          from (
            select id, status from outgoing_transactions
            where id = (select transaction_id from outgoing_attempts where hash = ${toBytea(hash)})
              and block_number is null
            for update
          ) before
          where t.id = before.id
          returning t.id, t.purpose, before.status as was`.execute(db);
        // Mined before the node's acceptance was stored.
        for (const row of rows.filter(({ was }) => was === 'signed')) {
          outcomes.push({ outgoingId: row.id, purpose: row.purpose, to: 'submitted' });
        }
      }
      await tell(db, outcomes);
    },

    async markUndone(db, { afterNumber }) {
      const { rows } = await sql<SettledRow & { was: string }>`
        with before as (
          select t.id, t.status, t.mined_hash, ${placeColumns} from outgoing_transactions t
          where t.block_number > ${afterNumber} order by t.id for update
        ), undone as (
          update outgoing_transactions t set status = 'submitted', mined_hash = null, block_number = null,
            block_hash = null, block_time = null, transaction_index = null, succeeded = null,
            earlier_hash = null, earlier_block_number = null, earlier_block_hash = null, earlier_block_time = null,
            -- Why a payload can never pass still holds; that it reverted does not.
            reason = nullif(t.reason, ${reverted})
          from before where t.id = before.id returning t.id, t.purpose
        ), unsent as (
          update outgoing_attempts set first_broadcast_at = null, broadcast_at = null
          where hash in (select mined_hash from before)
        )
        select undone.id, undone.purpose, before.status as was, before.hash, before.block_number,
          before.block_hash, before.block_time
        from undone join before using (id) order by undone.id`.execute(db);
      const outcomes = rows.flatMap((row): TransactionOutcome[] => {
        const outcome = { outgoingId: row.id, purpose: row.purpose };
        if (row.was === 'failed') return [{ ...outcome, to: 'submitted' }];
        return row.was === 'mined' ? [] : [{ ...outcome, to: 'reorged', was: minedAt(row) }];
      });
      await tell(db, outcomes);
    },

    async settle(db, { headNumber, finalizedNumber, confirmations }) {
      const deepNumber = headNumber - confirmations + 1;
      const { rows: due } = await sql`
        (select 1 from outgoing_transactions where status = 'mined' and block_number <= ${deepNumber} limit 1)
        union all
        (select 1 from outgoing_transactions where status = 'confirmed' and block_number <= ${finalizedNumber} limit 1)`.execute(
        db,
      );
      if (due.length === 0) return;
      await tell(db, [...(await confirm(db, deepNumber)), ...(await finalize(db, finalizedNumber))]);
    },
  };
}

/** The mined attempt decides: a no-op or a reverted payload is a failure. */
async function confirm(db: Db, deepNumber: number): Promise<TransactionOutcome[]> {
  const { rows } = await sql<SettledRow & { status: string; reason: string | null }>`
    update outgoing_transactions t set
      status = case when t.succeeded and not a.no_op then 'confirmed' else 'failed' end,
      reason = case when a.no_op then t.reason when t.succeeded then null else ${reverted} end
    from outgoing_attempts a
    where t.status = 'mined' and t.block_number <= ${deepNumber} and a.hash = t.mined_hash
    returning t.id, t.purpose, t.status, t.reason, ${placeColumns}`.execute(db);
  return rows.sort(byId).map(
    (row): TransactionOutcome =>
      row.status === 'confirmed'
        ? { outgoingId: row.id, purpose: row.purpose, to: 'confirmed', mined: minedAt(row) }
        : {
            outgoingId: row.id,
            purpose: row.purpose,
            to: 'failed',
            reason: row.reason ?? 'a no-op took its place',
          },
  );
}

async function finalize(db: Db, finalizedNumber: number): Promise<TransactionOutcome[]> {
  const { rows } = await sql<SettledRow>`
    update outgoing_transactions t set status = 'finalized'
    where t.status = 'confirmed' and t.block_number <= ${finalizedNumber}
    returning t.id, t.purpose, ${placeColumns}`.execute(db);
  return rows
    .sort(byId)
    .map((row) => ({ outgoingId: row.id, purpose: row.purpose, to: 'finalized', mined: minedAt(row) }));
}

function minedAt(row: SettledRow): MinedAt {
  return {
    transactionHash: fromBytea(row.hash),
    blockNumber: row.block_number,
    blockHash: fromBytea(row.block_hash),
    blockTime: row.block_time,
  };
}

function byId(one: { id: number }, other: { id: number }): number {
  return one.id - other.id;
}
