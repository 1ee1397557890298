/** Where the chain of a node leaves the one that is stored. */
import type { PublicClient } from 'viem';
import type { Db } from '../db/database.ts';
import { OperatorError } from '../errors.ts';
import { readHash } from './blocks.ts';
import { type BlockRef, storedBlocks } from './indexer.store.ts';

/** No chain takes back so much; a node that says so is broken, still syncing, or stands for another chain. */
export const deepestReorg = 256;

const blocksAtOnce = 32;

export interface Search {
  db: Db;
  client: PublicClient;
  /** The newest stored block. */
  tip: BlockRef;
  /** The newest block of the node. */
  headNumber: number;
}

/** The newest stored block that the node has too; null when the node misses blocks that it should have: it lags. */
export async function findFork({ db, client, tip, headNumber }: Search): Promise<BlockRef | null> {
  let downFrom = Math.min(tip.number, headNumber);
  for (;;) {
    const blocks = await storedBlocks(db, { downFrom, limit: blocksAtOnce });
    for (const block of blocks) {
      const hash = await readHash(client, block.number);
      if (hash === null) return null;
      if (tip.number - block.number > deepestReorg) throw tooDeep(tip, block.number);
      if (hash === block.hash) return block;
      downFrom = block.number - 1;
    }
    if (blocks.length < blocksAtOnce) throw tooDeep(tip, downFrom);
  }
}

function tooDeep(tip: BlockRef, reached: number): OperatorError {
  return new OperatorError(
    `The chain has other blocks than those stored here, from block ${tip.number} down to ${reached} and further. ` +
      'Nothing was changed. Either the RPC addresses stand for another chain, or their nodes are broken or not in ' +
      'sync: give others. If the chain itself was reset, use a new database.',
  );
}
