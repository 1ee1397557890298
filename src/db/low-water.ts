/** Where the rows of a queue begin that are found by the transaction that wrote them: nothing before it waits any more. */
import { type RawBuilder, sql } from 'kysely';

export interface LowWater {
  /** The transaction to begin at. */
  find(): number;
  /** To be told what there was from there on. */
  looked(look: Look): void;
}

export interface Look {
  /** Of the transactions that write, the oldest that had not ended: `oldestOpen` in the statement that looks. */
  oldestOpen: number;
  /** The first transaction of which a row waits. */
  lowest: number | null;
}

export const oldestOpen: RawBuilder<number> = sql`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

/**
 * While an old snapshot is open, a backup's say, PostgreSQL keeps every index entry of a row that was done since, and each
 * look from the start would meet all of them. Behind a transaction that has ended, as all before it have, nothing comes in.
 * A snapshot that only reads does not count among them. The look from the start now and then is for a database that was
 * exchanged below us, by a standby that took over, say, and counts its transactions otherwise.
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
