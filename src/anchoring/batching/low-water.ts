/** Up to which id no leaf is pending, or ever will be: a scan that begins behind it meets none that are long batched. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

export interface LowWater {
  /** The id to begin behind. */
  find(db: Db): Promise<number>;
}

/** What was seen a look ago: all up to `id` is there as soon as every transaction before `transaction` has ended. */
interface Horizon {
  id: number;
  transaction: bigint;
}

interface Look {
  lowest: number | null;
  highest: number | null;
  /** Of the transactions that write, the oldest that has not ended, and the next one to come. */
  oldest_open: string;
  next: string;
}

/**
 * While an old snapshot is open, a backup's say, PostgreSQL keeps every index entry of a leaf that was batched since, and
 * a scan from the first id on would look at each of them, at every interval. A leaf may be committed after one with a
 * higher id, so the mark goes only as far as what had been given out when all who write now had not begun. The hair's
 * breadth between taking an id and beginning to write, in which a transaction is not known yet, is covered by a look
 * from the start now and then.
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
