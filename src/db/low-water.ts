/** The low-water mark of a queue whose rows are found by the transaction that wrote them: no older row is still waiting. */
import { type RawBuilder, sql } from 'kysely';

export interface LowWater {
  /** The transaction to start at. */
  find(): number;
  /** Reports what a look from there on found. */
  looked(look: Look): void;
}

export interface Look {
  /** The oldest writing transaction that had not ended: `oldestOpen` in the looking statement. */
  oldestOpen: number;
  /** The first transaction with a waiting row. */
  lowest: number | null;
}

export const oldestOpen: RawBuilder<number> = sql`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

/**
 * While an old snapshot is open, for example of a backup, PostgreSQL keeps every index entry of rows that were finished
 * since, and each look from the start would read all of them. Once a transaction and all before it have ended, no row
 * can appear below it. Snapshots that only read do not count. The occasional look from the start covers a database that
 * was replaced underneath, for example by a standby that took over and numbers its transactions differently.
 */
export function createLowWater(wholeLookMs = 60_000): LowWater {
  let mark = 0;
  let wholeLookAt = Number.NEGATIVE_INFINITY;
  return {
    find() {
      const now = performance.now();
      if (now - wholeLookAt < wholeLookMs) return mark;
      wholeLookAt = now;
      return 0;
    },
    looked({ oldestOpen, lowest }) {
      mark = Math.min(oldestOpen, lowest ?? oldestOpen);
    },
  };
}
