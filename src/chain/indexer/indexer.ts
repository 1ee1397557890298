/**
 * Follows the chain: stores its blocks linked by hash, their vault transactions, and the results of ours, all in one
 * commit, which also serves as the checkpoint. Compares the head's number and hash, so that it notices every reorg.
 */
import type { Hex } from 'viem';
import type { Db } from '../../db/database.ts';
import { OperatorError } from '../../runtime/errors.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import type { Chain, Lead } from '../chain.ts';
import { areLinked, type Block, readBlocks, readHash } from './blocks.ts';
import { lookInto, type MinedTransaction, type VaultsOfAnchors } from './findings.ts';
import { findFork } from './fork.ts';
import {
  type BlockRef,
  dropBlocks,
  insertBlocks,
  insertEarlier,
  insertTransactions,
  newestBlock,
  storedHash,
  storeFinal,
  undoBlocks,
} from './indexer.store.ts';
import { createStandstill } from './standstill.ts';
import { startNumber } from './start.ts';

export interface Indexer {
  /** Advances towards the head; true if there is more to do at once. */
  step(lead: Lead): Promise<boolean>;
}

/** What the indexer reports to the sender, in the commit that stores the blocks. */
export interface MinedListener {
  attemptsAmong(db: Db, hashes: Hex[]): Promise<{ hash: Hex; outgoingId: number }[]>;
  markMined(db: Db, found: MinedTransaction[]): Promise<unknown>;
  /** Blocks after this number were undone. */
  markUndone(db: Db, undone: { afterNumber: number }): Promise<unknown>;
  settle(
    db: Db,
    depth: { headNumber: number; finalizedNumber: number; confirmations: number },
  ): Promise<unknown>;
}

export interface IndexerDeps {
  db: Db;
  sender: MinedListener;
  vaultsOfAnchors: VaultsOfAnchors;
  log: LoopLog;
  /** Called after each commit. */
  onIndexed?(): void;
  /** Number of blocks behind the head that are all kept: far more than a reorg can undo. */
  heldBlocks?: number;
}

/** Blocks per commit. */
export const windowBlocks = 32;
/** Limits a step, so that the loop still beats while it catches up over many blocks. */
const windowsPerStep = 16;
/** Most blocks of the new branch stored in the commit that undoes the old one; the rest of a deeper branch follows. */
const mostSwitched = 1_024;
const dropEvery = 64;
const dropAtOnce = 1_000;

/** The chain's head and the stored tip at the start of a step. */
interface Position {
  head: BlockRef;
  tip: BlockRef | null;
  finalizedNumber: number;
}

export function createIndexer(deps: IndexerDeps): Indexer {
  const { db, sender, vaultsOfAnchors, log, onIndexed, heldBlocks = 1_000 } = deps;
  const findings = { db, attemptsAmong: sender.attemptsAmong, vaultsOfAnchors };
  let vettedEpoch: number | null = null;
  const standstill = createStandstill({ log });
  /** The head that was last found to be stored and settled: the same head needs no look at the database. */
  let reached: { epoch: number; hash: Hex; finalizedNumber: number } | null = null;
  /** The last settlement in this term. */
  let settled = { epoch: -1, finalizedNumber: -1 };

  async function step(lead: Lead): Promise<boolean> {
    try {
      return await goOn(lead);
    } catch (error) {
      if (error instanceof OperatorError) lead.chain.doubt();
      throw error;
    }
  }

  async function goOn(lead: Lead): Promise<boolean> {
    const { chain, term } = lead;
    if (vettedEpoch !== term.epoch) {
      await requireGenesis(chain);
      vettedEpoch = term.epoch;
    }
    const head = await chain.head();
    if (await isReached(lead, head)) return false;
    const [tip, finalizedNumber] = await Promise.all([newestBlock(db), chain.finalizedNumber(head.number)]);
    if (tip === null || head.number > tip.number) return catchUp(lead, { head, tip, finalizedNumber });
    const ours = await storedHash(db, head.number);
    // A lower head is not a reorg but a lagging node; so is a head below all stored blocks.
    if (ours !== null && ours !== head.hash) return switchBranch(lead, { head, tip, finalizedNumber });
    if (ours === tip.hash) {
      await settleFinal(lead, { head, tip, finalizedNumber });
      reached = { epoch: term.epoch, hash: head.hash, finalizedNumber };
    }
    if (ours !== null) standstill.over();
    else standStill(chain, `the node is at block ${head.number}, below all stored blocks`);
    return false;
  }

  async function isReached({ chain, term }: Lead, head: BlockRef): Promise<boolean> {
    if (reached?.epoch !== term.epoch || reached.hash !== head.hash) return false;
    return reached.finalizedNumber === (await chain.finalizedNumber(head.number));
  }

  async function catchUp(lead: Lead, { head, tip, finalizedNumber }: Position): Promise<boolean> {
    const { client } = lead.chain;
    const windowFrom = (from: number) => {
      const read = readBlocks(client, { from, to: Math.min(from + windowBlocks - 1, head.number) });
      // The await below still throws; without this, an earlier rejection would be unhandled and end the process.
      read.catch(() => {});
      return read;
    };
    let last = tip;
    let reading = windowFrom(last === null ? await startNumber(db, lead.chain, head) : last.number + 1);
    for (let window = 0; window < windowsPerStep; window += 1) {
      const blocks = await reading;
      const newest = blocks?.at(-1);
      const fault = faultOf(blocks, head);
      if (!blocks || !newest || fault) return standStill(lead.chain, fault);
      if (!areLinked(blocks, last?.hash ?? null)) {
        return last !== null && switchBranch(lead, { head, tip: last, finalizedNumber });
      }
      const more = newest.number < head.number;
      if (more) reading = windowFrom(newest.number + 1);
      if (!(await store(lead, { blocks, finalizedNumber }))) return false;
      last = newest;
      if (!more) return false;
    }
    return true;
  }

  /** Undoes what is not on the node's branch, and stores that branch in the same commit, so that no reader sees a gap. */
  async function switchBranch(
    lead: Lead,
    { head, tip, finalizedNumber }: Position & { tip: BlockRef },
  ): Promise<boolean> {
    const { chain } = lead;
    await requireGenesis(chain);
    const fork = await findFork({ db, client: chain.client, tip, headNumber: head.number });
    // The node's answers are inconsistent: tries again later.
    if (fork === null) return standStill(chain, missing);
    if (fork.number >= Math.min(tip.number, head.number)) return standStill(chain, unlinked);
    const before = Math.min(tip.number, fork.number + mostSwitched);
    const to = Math.min(head.number, Math.max(before, fork.number + windowBlocks));
    const blocks = await readBlocks(chain.client, { from: fork.number + 1, to });
    const fault = faultOf(blocks, head);
    if (!blocks || fault) return standStill(chain, fault);
    if (!areLinked(blocks, fork.hash)) return standStill(chain, unlinked);
    const undo = { forkNumber: fork.number, oldHead: tip.number };
    if (!(await store(lead, { blocks, finalizedNumber, undo }))) return false;
    log.info({ ...undo, newHead: head.number }, 'the chain was reorganised');
    return true;
  }

  /** False if the node has left the branch of these blocks meanwhile; nothing is stored then. */
  async function store(
    { chain, term }: Lead,
    { blocks, finalizedNumber, undo }: StoreOrder,
  ): Promise<boolean> {
    const found = await lookInto(blocks, chain, findings);
    const newest = blocks.at(-1);
    if (found === null || newest === undefined)
      return standStill(chain, 'the node has no receipt for a transaction in its block');
    const depth = depthOf(chain, { headNumber: newest.number, finalizedNumber });
    await term.commit(async (db) => {
      if (undo) {
        await undoBlocks(db, undo);
        await sender.markUndone(db, { afterNumber: undo.forkNumber });
      }
      await insertBlocks(db, blocks, new Set(found.rows.map(({ blockNumber }) => blockNumber)));
      await insertTransactions(db, found.rows);
      await insertEarlier(db, found.earlier);
      if (found.mined.length > 0) await sender.markMined(db, found.mined);
      await sender.settle(db, depth);
      await storeFinal(db, depth.finalizedNumber);
      if (blocks.some(({ number }) => number % dropEvery === 0)) {
        await dropBlocks(db, { before: newest.number - heldBlocks, limit: dropAtOnce });
      }
    });
    settled = { epoch: term.epoch, finalizedNumber: depth.finalizedNumber };
    standstill.over();
    onIndexed?.();
    return true;
  }

  function standStill(chain: Chain, reason: string | null): false {
    if (reason === null) return false;
    chain.doubt();
    standstill.meet(reason);
    return false;
  }

  /** Finality can advance without new blocks, and a new leader does not know how far its predecessor came. */
  async function settleFinal(
    { chain, term }: Lead,
    { tip, finalizedNumber }: Position & { tip: BlockRef },
  ): Promise<void> {
    const depth = depthOf(chain, { headNumber: tip.number, finalizedNumber });
    if (settled.epoch === term.epoch && settled.finalizedNumber === depth.finalizedNumber) return;
    await term.commit(async (db) => {
      await sender.settle(db, depth);
      await storeFinal(db, depth.finalizedNumber);
    });
    settled = { epoch: term.epoch, finalizedNumber: depth.finalizedNumber };
    onIndexed?.();
  }

  return { step };
}

interface StoreOrder {
  blocks: Block[];
  finalizedNumber: number;
  undo?: { forkNumber: number; oldHead: number };
}

/** Measured from our newest stored block, even if the node has more. */
function depthOf(
  { confirmations }: Chain,
  { headNumber, finalizedNumber }: { headNumber: number; finalizedNumber: number },
) {
  return { headNumber, finalizedNumber: Math.min(finalizedNumber, headNumber), confirmations };
}

const missing = 'the node lacks blocks below its own head';
const unlinked = 'the node has blocks that do not follow each other';

/** Why these cannot be the blocks up to the head; null if they can. */
function faultOf(blocks: readonly Block[] | null, head: BlockRef): string | null {
  if (blocks === null) return missing;
  if (!areLinked(blocks, null)) return unlinked;
  return contradicts(blocks, head) ? 'the node has another block at the height of its head' : null;
}

/** Whether these contain a different block at the head's height, because the chain changed while it was read. */
function contradicts(blocks: readonly Block[], head: BlockRef): boolean {
  return blocks.some(({ number, hash }) => number === head.number && hash !== head.hash);
}

async function requireGenesis({ client, genesisHash }: Chain): Promise<void> {
  const found = await readHash(client, 0);
  if (found === null || found === genesisHash) return;
  throw new OperatorError(
    `The first block of the chain is ${found}, not ${genesisHash} as before: this is another chain, or it was reset. Nothing was changed.`,
  );
}
