/** How anchoring fares, in figures for metrics. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

export interface AnchoringFigures {
  pendingLeaves: number;
  /** Null when nothing is pending. */
  oldestPendingSeconds: number | null;
  /** Those that are not final yet, by status. */
  openBatches: Record<'batched' | 'submitted' | 'confirmed' | 'set_aside', number>;
}

/** For metrics; counts at most so many pending leaves. */
export async function readFigures(db: Db, mostCounted = 100_000): Promise<AnchoringFigures> {
  const { rows } = await sql<{ pending: number; oldest: number | null }>`
    select count(*) as pending, extract(epoch from now() - min(created_at))::float8 as oldest
    from (select created_at from anchor_leaves where batch_id is null order by id limit ${mostCounted}) as oldest`.execute(
    db,
  );
  const batches = await db
    .selectFrom('anchor_batches')
    .select(['status', sql<number>`count(*)`.as('count')])
    .where('status', '<>', 'finalized')
    .groupBy('status')
    .execute();
  const openBatches = { batched: 0, submitted: 0, confirmed: 0, set_aside: 0 };
  for (const { status, count } of batches) if (status !== 'finalized') openBatches[status] = count;
  return { pendingLeaves: rows[0]?.pending ?? 0, oldestPendingSeconds: rows[0]?.oldest ?? null, openBatches };
}
