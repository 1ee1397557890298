/** Finds the block at which the index begins: nothing before it concerns a vault. */

import type { Db } from '../../db/database.ts';
import type { Chain } from '../chain.ts';
import { readHeader } from './blocks.ts';
import { type BlockRef, oldestVault } from './indexer.store.ts';

/** Without vaults, the index begins near the head, with a margin for a lagging node. */
const startBehindHead = 64;
/** How much the clocks of this machine and the chain may differ. */
const clockDifferenceSeconds = 3_600;

/**
 * Nobody knows a vault's address before the vault exists, and nothing of a vault is anchored before then. But vaults may
 * exist long before the chain is first reached, if it was unreachable at the first start. So the index begins with the
 * last block that is older than every vault. Blocks that the node has pruned count as older.
 */
export async function startNumber(db: Db, { embedded, client }: Chain, head: BlockRef): Promise<number> {
  if (embedded) return 0;
  const nearHead = Math.max(0, head.number - startBehindHead);
  const oldest = await oldestVault(db);
  if (oldest === null) return nearHead;
  const seconds = oldest.getTime() / 1000 - clockDifferenceSeconds;
  let from = 0;
  let to = nearHead;
  // Invariant: the first block at or after that time is between `from` and `to`, both inclusive.
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const block = await readHeader(client, middle);
    if (block === null || block.timeSeconds < seconds) from = middle + 1;
    else to = middle;
  }
  return Math.max(0, from - 1);
}
