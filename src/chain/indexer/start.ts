/** The block that the index begins with: nothing that concerns a vault lies before it. */

import type { Db } from '../../db/database.ts';
import type { Chain } from '../chain.ts';
import { readHeader } from './blocks.ts';
import { type BlockRef, oldestVault } from './indexer.store.ts';

/** With no vault yet, the present is enough, and a little more for a node that lags. */
const startBehindHead = 64;
/** By so much the clock of this machine and that of the chain may differ. */
const clockDifferenceSeconds = 3_600;

/**
 * Nobody knows a vault's address before the vault exists, and nothing of a vault is anchored before either. There may be
 * vaults long before there is a chain to look at, though: when none could be reached at the first start. So the index
 * begins with the last block that is older than every vault. Blocks that the node has dropped count as older.
 */
export async function startNumber(db: Db, { embedded, client }: Chain, head: BlockRef): Promise<number> {
  if (embedded) return 0;
  const nearHead = Math.max(0, head.number - startBehindHead);
  const oldest = await oldestVault(db);
  if (oldest === null) return nearHead;
  const seconds = oldest.getTime() / 1000 - clockDifferenceSeconds;
  let from = 0;
  let to = nearHead;
  // The first block of that time or later is at `from` or after it, and at `to` or before it.
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const block = await readHeader(client, middle);
    if (block === null || block.timeSeconds < seconds) from = middle + 1;
    else to = middle;
  }
  return Math.max(0, from - 1);
}
