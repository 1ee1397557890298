/** When the next block is due: at once if the pool has transactions, then two more blocks to make it final, then none. */
import { blocksToFinality } from '../rules/finality.ts';
import type { BlockRef, JournalBlock } from './journal.ts';

export interface Pace {
  isDue(head: BlockRef, poolSize: number): boolean;
  mined(block: JournalBlock): void;
}

const emptyBlockAfterMs = 1_000;
const longestRestMs = 60_000;

/** `recent`: the last blocks of the journal, as many as finality needs. */
export function createPace(recent: readonly JournalBlock[]): Pace {
  let lastFull =
    recent.findLast(({ transactions }) => transactions.length > 0)?.number ?? Number.NEGATIVE_INFINITY;
  let lastMinedAt = performance.now();
  /** Counts empty blocks despite a pool that no block takes, e.g. because a fee is too low. Blocks then slow down. */
  let fruitless = 0;
  let fruitlessPool = 0;
  let lastPool = 0;

  return {
    isDue(head, poolSize) {
      lastPool = poolSize;
      const restedMs = performance.now() - lastMinedAt;
      if (poolSize > 0) {
        const waitMs = Math.min(longestRestMs, emptyBlockAfterMs * 2 ** fruitless);
        return fruitless === 0 || poolSize !== fruitlessPool || restedMs > waitMs;
      }
      return head.number < lastFull + blocksToFinality && restedMs > emptyBlockAfterMs;
    },
    mined(block) {
      const full = block.transactions.length > 0;
      lastMinedAt = performance.now();
      if (full) lastFull = block.number;
      fruitless = full || lastPool === 0 ? 0 : fruitless + 1;
      fruitlessPool = lastPool;
    },
  };
}
