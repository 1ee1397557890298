/** Finds where a node's chain diverges from the stored one. */
import type { PublicClient } from 'viem';
import type { Db } from '../../db/database.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { readHash } from './blocks.ts';
import { type BlockRef, finalNumber, storedBlocks } from './indexer.store.ts';

export interface Search {
  db: Db;
  client: PublicClient;
  /** The newest stored block. */
  tip: BlockRef;
  /** The newest block of the node. */
  headNumber: number;
}

/**
 * The newest stored block that the node has too; null if the node lacks blocks that it should have, because it lags.
 * Blocks are linked, so a few dozen requests find it at any depth. Throws if the fork is below a final block.
 */
export async function findFork({ db, client, tip, headNumber }: Search): Promise<BlockRef | null> {
  /** The newest stored block up to a number, and whether the node has it; null if none is stored. */
  async function look(downFrom: number): Promise<{ block: BlockRef; shared: boolean } | null | 'lags'> {
    const [block] = await storedBlocks(db, { downFrom, limit: 1 });
    if (!block) return null;
    const hash = await readHash(client, block.number);
    return hash === null ? 'lags' : { block, shared: hash === block.hash };
  }

  const from = Math.min(tip.number, headNumber);
  let shared: BlockRef | null = null;
  /** The lowest number at which the node is known to have a different block. */
  let other = from + 1;
  for (let step = 1; shared === null; step *= 2) {
    const seen = await look(step === 1 ? from : other - step);
    if (seen === 'lags') return null;
    if (seen === null) {
      // A shared block may still lie between here and the previous step.
      const [lowest] = await storedBlocks(db, { upFrom: 0, limit: 1 });
      const last = lowest && lowest.number < other ? await look(lowest.number) : null;
      if (last === 'lags') return null;
      if (!last?.shared) throw belowAll(tip);
      shared = last.block;
    } else if (seen.shared) shared = seen.block;
    else other = seen.block.number;
  }
  for (let low = shared.number; low + 1 < other; ) {
    const middle = Math.floor((low + other) / 2);
    const seen = await look(middle);
    if (seen === 'lags' || seen === null) return null;
    if (!seen.shared) other = seen.block.number;
    else {
      if (seen.block.number > shared.number) shared = seen.block;
      low = middle;
    }
  }
  const final = await finalNumber(db);
  if (shared.number < final) throw belowFinal(tip, { fork: shared.number, final });
  return shared;
}

function belowAll(tip: BlockRef): OperatorError {
  return new OperatorError(
    `The blocks of the chain differ from those stored here, from block ${tip.number} down to the first. Nothing was ` +
      'changed. Either the RPC addresses belong to another chain, or their nodes are broken or out of sync: use ' +
      'others. If the chain itself was reset, use a new database.',
  );
}

function belowFinal(tip: BlockRef, { fork, final }: { fork: number; final: number }): OperatorError {
  return new OperatorError(
    `The blocks of the chain differ from those stored here, from block ${fork + 1} to ${tip.number}, although those up to ${final} ` +
      'counted as final. Nothing was changed. Usually the nodes behind the RPC addresses are broken or out of sync: ' +
      'use others. If the chain itself has removed those blocks, accept that with ' +
      `"holdfast chain accept-reorg ${fork}": what was anchored after block ${fork} is then anchored again.`,
  );
}
