/**
 * The numbers of seals: an epoch in the high 32 bits, a count in the low. Whenever seals may have been lost, because an older
 * backup was restored, a replica was promoted, or the chain has anchors of ours that the database lacks, a new epoch begins
 * for all vaults at once, so that no number is used for two seals. Two copies of one database cannot know of each other: both
 * may begin an epoch within one second, or by clocks that were set back. So each begins to count at a place of its own.
 */
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** Leaves as many numbers for counting, before those of the next epoch. */
const mostStart = 2 ** 31;

export interface SealEpoch {
  epoch: number;
  /** The count after which it begins. */
  start: number;
}

/** The number of a vault's next seal. */
export function nextSequence({ epoch, start }: SealEpoch, last: string | null): bigint {
  const first = (BigInt(epoch) << 32n) + BigInt(start) + 1n;
  const following = last === null ? 1n : BigInt(last) + 1n;
  return following > first ? following : first;
}

/**
 * The time in seconds, so that it differs from the epochs of other copies of this database, but never the same again. Returns
 * the new epoch. Whatever is sealed from now on has it, also by services that run.
 */
export async function beginSealEpoch(db: Db): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`
    update seal_epoch set start = ${randomInt(mostStart)},
      epoch = greatest(epoch + 1, floor(extract(epoch from clock_timestamp()))::bigint)
    returning epoch`.execute(db);
  const [begun] = rows;
  if (!begun) throw new Error('the epoch of seals is gone from the database');
  return begun.epoch;
}
