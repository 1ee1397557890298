/** Anchoring stats for metrics, from pending leaves to indexed blocks. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { pendingLeaves } from './leaves/pending-leaves.ts';

export interface AnchoringStats {
  pendingLeaves: number;
  /** Null when nothing is pending. */
  oldestPendingSeconds: number | null;
  /** Batches that are not final yet, by status. */
  openBatches: Record<'batched' | 'submitted' | 'confirmed' | 'set_aside', number>;
  /** Leaves of confirmed batches that have not been announced by an event yet. */
  unannouncedLeaves: number;
}

export interface ChainStats {
  /** Transactions that are not confirmed yet, by status. */
  openTransactions: Record<'signed' | 'submitted' | 'mined', number>;
  /** Null when no transaction is open. */
  oldestOpenSeconds: number | null;
  /** Of the oldest transaction that is mined but not confirmed; null when there is none. */
  confirmationsSoFar: number | null;
  /** Null before the first block. */
  indexedBlock: number | null;
  reorgs: number;
}

/** Counts at most `mostCounted` pending leaves. */
export async function readAnchoringStats(db: Db, mostCounted = 100_000): Promise<AnchoringStats> {
  const { select } = await pendingLeaves(db, mostCounted);
  const { rows } = await sql<{ pending: number; oldest: number | null; unannounced: number }>`
    select count(*) as pending, extract(epoch from now() - min(created_at))::float8 as oldest,
      (select coalesce(sum(size - announced), 0)::float8 from anchor_batches
       where status in ('confirmed', 'finalized') and announced < size) as unannounced
    from (select created_at from (${select}) as pending limit ${mostCounted}) as oldest`.execute(db);
  const batches = await db
    .selectFrom('anchor_batches')
    .select(['status', sql<number>`count(*)`.as('count')])
    .where('status', '<>', 'finalized')
    .groupBy('status')
    .execute();
  const openBatches = { batched: 0, submitted: 0, confirmed: 0, set_aside: 0 };
  for (const { status, count } of batches) if (status !== 'finalized') openBatches[status] = count;
  return {
    pendingLeaves: rows[0]?.pending ?? 0,
    oldestPendingSeconds: rows[0]?.oldest ?? null,
    openBatches,
    unannouncedLeaves: rows[0]?.unannounced ?? 0,
  };
}

/** Two selects, each with its own index, so that finished transactions are never read. */
export async function readChainStats(db: Db): Promise<ChainStats> {
  const { rows } = await sql<{
    status: keyof ChainStats['openTransactions'];
    count: number;
    oldest: number;
    lowest: number | null;
  }>`
    select status, count(*), extract(epoch from now() - min(created_at))::float8 as oldest,
      min(block_number) as lowest
    from (
      select status, created_at, block_number from outgoing_transactions where status in ('signed', 'submitted')
      union all
      select status, created_at, block_number from outgoing_transactions where status = 'mined'
    ) as open
    group by status`.execute(db);
  const { rows: seen } = await sql<{ indexed: number | null; reorgs: number }>`
    select (select max(number) from chain_blocks) as indexed, (select count(*) from chain_reorgs) as reorgs`.execute(
    db,
  );
  const openTransactions = { signed: 0, submitted: 0, mined: 0 };
  for (const { status, count } of rows) openTransactions[status] = count;
  const indexedBlock = seen[0]?.indexed ?? null;
  const lowest = rows.find(({ status }) => status === 'mined')?.lowest ?? null;
  return {
    openTransactions,
    oldestOpenSeconds: rows.length === 0 ? null : Math.max(...rows.map(({ oldest }) => oldest)),
    confirmationsSoFar: lowest === null || indexedBlock === null ? null : indexedBlock - lowest + 1,
    indexedBlock,
    reorgs: seen[0]?.reorgs ?? 0,
  };
}
