/** What an operator sees of the backlog, and the retry of batches that were set aside because their transaction failed. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { pendingLeaves } from '../leaves/pending-leaves.ts';

export interface SetAsideBatch {
  id: number;
  /** Number of leaves. */
  size: number;
  /** Why it was set aside. */
  reason: string | null;
}

/** The oldest first, at most `limit`. */
export function listSetAside(db: Db, limit: number): Promise<SetAsideBatch[]> {
  return db
    .selectFrom('anchor_batches')
    .select(['id', 'size', 'reason'])
    .where('status', '=', 'set_aside')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Has the leading node make new transactions for them, up to as many as for new batches, and returns the batches as they
 * were. A batch that is no longer set aside is not changed. Needs no lead: it only sets a flag, which the batcher reads.
 */
export function sendAgain(db: Db, which: number | 'all'): Promise<SetAsideBatch[]> {
  return db.transaction().execute(async (db) => {
    const aside = db.selectFrom('anchor_batches').select(['id', 'size', 'reason']);
    const batches = await aside
      .where('status', '=', 'set_aside')
      .$if(which !== 'all', (query) => query.where('id', '=', which as number))
      .orderBy('id')
      .forUpdate()
      .execute();
    if (batches.length > 0) {
      const ids = batches.map(({ id }) => id);
      await db
        .updateTable('anchor_batches')
        .set({ status: 'batched', to_resend: true, sends: 0, reason: null })
        .where('id', 'in', ids)
        .execute();
    }
    return batches;
  });
}

/** Null when there is no such batch. */
export async function findBatchStatus(db: Db, id: number): Promise<string | null> {
  const batch = await db
    .selectFrom('anchor_batches')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();
  return batch?.status ?? null;
}

/** Counts what waits and names the reasons; lists at most `mostNamed` batches. */
export async function readBacklog(db: Db, mostNamed: number) {
  const count = db.fn.countAll<number>().as('count');
  const [indexed, pending, open, aside, setAside] = await Promise.all([
    db.selectFrom('chain_blocks').select('number').orderBy('number', 'desc').limit(1).executeTakeFirst(),
    countPending(db),
    db
      .selectFrom('outgoing_transactions')
      .select(count)
      .where('status', 'in', ['signed', 'submitted', 'mined'])
      .executeTakeFirstOrThrow(),
    db.selectFrom('anchor_batches').select(count).where('status', '=', 'set_aside').executeTakeFirstOrThrow(),
    listSetAside(db, mostNamed),
  ]);
  return {
    indexedBlock: indexed?.number ?? null,
    pendingLeaves: pending,
    openTransactions: open.count,
    setAsideBatches: aside.count,
    setAside,
  };
}

async function countPending(db: Db): Promise<number> {
  const { select } = await pendingLeaves(db, 10_000_000);
  const { rows } = await sql<{ count: number }>`select count(*) as count from (${select}) as pending`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}
