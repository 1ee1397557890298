/**
 * The id up to which no leaf is pending or ever will be: a scan that begins after it skips the leaves that were batched long
 * ago.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

export interface LowWater {
  /** The scan begins after this id. */
  find(db: Db): Promise<number>;
}

/** From the previous look: all ids up to `id` are visible once every transaction before `transaction` has ended. */
interface Horizon {
  id: number;
  transaction: bigint;
}

interface Look {
  lowest: number | null;
  highest: number | null;
  /** Among writing transactions: the oldest that has not ended, and the next one to start. */
  oldest_open: string;
  next: string;
}

/**
 * While an old snapshot is open, for example by a backup, PostgreSQL keeps the index entry of every leaf batched since, and
 * a scan from the first id would read all of them at every interval. A leaf may be committed after one with a higher id, so
 * the mark advances only to ids that were assigned before any open transaction began to write. In the short time between
 * taking an id and beginning to write, a transaction is not visible; an occasional scan from the start covers that case.
 */
export function createLowWater(wholeLookMs = 60_000): LowWater {
  let mark = 0;
  let horizon: Horizon | null = null;
  let wholeLookAt = Number.NEGATIVE_INFINITY;

  return {
    async find(db) {
      const now = performance.now();
      if (now - wholeLookAt >= wholeLookMs) {
        wholeLookAt = now;
        mark = 0;
      }
      const { rows } = await sql<Look>`
        select (select min(id) from anchor_leaves where batch_id is null and id > ${mark}) as lowest,
               (select max(id) from anchor_leaves) as highest,
               pg_snapshot_xmin(pg_current_snapshot())::text as oldest_open,
               pg_snapshot_xmax(pg_current_snapshot())::text as next`.execute(db);
      const [look] = rows;
      if (!look) return mark;
      if (horizon && BigInt(look.oldest_open) >= horizon.transaction) {
        mark = Math.max(mark, Math.min(horizon.id, (look.lowest ?? Number.MAX_SAFE_INTEGER) - 1));
        horizon = null;
      }
      horizon ??= { id: look.highest ?? 0, transaction: BigInt(look.next) };
      return mark;
    },
  };
}
