/** What waits to be anchored, as an operator is shown it; batches whose transactions failed are sent again on their word. */
import type { Db } from '../../db/database.ts';

export interface SetAsideBatch {
  id: number;
  /** Leaves in it. */
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
 * Has the node that leads make new transactions for them, as often as for new batches, and gives them as they were. One
 * that is not set aside by now is left as it is. Needs no lead: it only says what is wanted, and the batcher looks.
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

/** What waits, and why, in figures; names at most so many batches. */
export async function readBacklog(db: Db, mostNamed: number) {
  const count = db.fn.countAll<number>().as('count');
  const [indexed, pending, open, aside, setAside] = await Promise.all([
    db.selectFrom('chain_blocks').select('number').orderBy('number', 'desc').limit(1).executeTakeFirst(),
    db.selectFrom('anchor_leaves').select(count).where('batch_id', 'is', null).executeTakeFirstOrThrow(),
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
    pendingLeaves: pending.count,
    openTransactions: open.count,
    setAsideBatches: aside.count,
    setAside,
  };
}
