/** What a run of blocks means for us: transactions of vaults, and what became of those that we sent. */
import type { Hex } from 'viem';
import { hexToBigInt } from 'viem/utils';
import type { Chain } from '../chain/chain.ts';
import type { Db } from '../db/database.ts';
import type { Block, BlockTransaction } from './blocks.ts';
import { findVaults, senderAddresses, type VaultRef, type VaultTransactionRow } from './indexer.store.ts';

/** A transaction of ours in a block. */
export interface MinedTransaction {
  hash: Hex;
  blockNumber: number;
  blockHash: Hex;
  blockTime: number;
  index: number;
  succeeded: boolean;
}

export interface Findings {
  rows: VaultTransactionRow[];
  mined: MinedTransaction[];
}

export interface FindingsDeps {
  db: Db;
  /** Which of these transaction hashes are ours. */
  attemptsAmong(db: Db, hashes: Hex[]): Promise<{ hash: Hex; outgoingId: number }[]>;
  vaultsOfAnchors: VaultsOfAnchors;
}

/** Vaults whose content these outgoing transactions carried. */
export type VaultsOfAnchors = (
  db: Db,
  outgoingIds: number[],
) => Promise<({ outgoingId: number } & VaultRef)[]>;

interface Placed extends BlockTransaction {
  block: Block;
}

/**
 * Asks the database which addresses are vaults, and which transactions are ours, after the blocks were read. A vault is
 * committed before its address is given to anybody, and an attempt before it is sent: none can be missed.
 * Null when the node has no receipt that belongs to the block: it is on another branch by now.
 */
export async function lookInto(
  blocks: readonly Block[],
  chain: Chain,
  { db, attemptsAmong, vaultsOfAnchors }: FindingsDeps,
): Promise<Findings | null> {
  const addresses = new Set<Hex>();
  for (const { transactions } of blocks) {
    for (const { from, to } of transactions) addresses.add(from).add(to);
  }
  if (addresses.size === 0) return { rows: [], mined: [] };
  const [vaults, senders] = await Promise.all([findVaults(db, addresses), senderAddresses(db)]);
  const rows = createRows();
  const sent: Placed[] = [];
  for (const block of blocks) {
    for (const transaction of block.transactions) {
      const { from, to } = transaction;
      for (const vault of vaults.get(from) ?? []) rows.add(vault, { ...transaction, block });
      for (const vault of vaults.get(to) ?? []) rows.add(vault, { ...transaction, block });
      if (senders.has(from)) sent.push({ ...transaction, block });
    }
  }

  if (sent.length === 0) return { rows: rows.all(), mined: [] };
  const byHash = new Map(sent.map((transaction) => [transaction.hash, transaction]));
  const attempts = await attemptsAmong(db, [...byHash.keys()]);
  const mined: MinedTransaction[] = [];
  const anchors = new Map<number, Placed>();
  for (const { hash, outgoingId } of attempts) {
    const transaction = byHash.get(hash);
    if (!transaction) continue;
    const succeeded = await hasSucceeded(chain, transaction);
    if (succeeded === null) return null;
    mined.push(toMined(transaction, succeeded));
    // One that reverted, or the no-op that took its nonce, carried nothing.
    if (succeeded && transaction.to === chain.registry.toLowerCase()) anchors.set(outgoingId, transaction);
  }
  if (anchors.size > 0) {
    for (const { outgoingId, ...vault } of await vaultsOfAnchors(db, [...anchors.keys()])) {
      const transaction = anchors.get(outgoingId);
      if (transaction) rows.add(vault, transaction);
    }
  }
  return { rows: rows.all(), mined };
}

/** One row for a vault and a transaction, however often they meet. */
function createRows() {
  const rows = new Map<string, VaultTransactionRow>();
  return {
    add({ workspaceId, vaultId }: VaultRef, { block, hash, index, from, to, value }: Placed): void {
      rows.set(`${vaultId} ${hash}`, {
        workspaceId,
        vaultId,
        blockNumber: block.number,
        index,
        hash,
        from,
        to,
        valueWei: String(hexToBigInt(value)),
        timeSeconds: block.timeSeconds,
      });
    },
    all: () => [...rows.values()],
  };
}

function toMined({ hash, index, block }: Placed, succeeded: boolean): MinedTransaction {
  return {
    hash,
    index,
    succeeded,
    blockNumber: block.number,
    blockHash: block.hash,
    blockTime: block.timeSeconds,
  };
}

async function hasSucceeded({ client }: Chain, { hash, block }: Placed): Promise<boolean | null> {
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] });
  return receipt?.blockHash === block.hash ? receipt.status === '0x1' : null;
}
