/** Finds what concerns us in a run of blocks: transactions of vaults, and the results of transactions that we sent. */
import type { Hex } from 'viem';
import { hexToBigInt } from 'viem/utils';
import type { Db } from '../../db/database.ts';
import type { Chain } from '../chain.ts';
import type { Block, BlockHeader, BlockTransaction } from './blocks.ts';
import { type FirstAnchor, findFirstAnchor, hasAnchored, type Log } from './first-anchor.ts';
import { findVaults, senderAddresses, type VaultRef, type VaultTransactionRow } from './indexer.store.ts';

/** A transaction of ours in a block. */
export interface MinedTransaction {
  hash: Hex;
  blockNumber: number;
  blockHash: Hex;
  blockTime: number;
  index: number;
  succeeded: boolean;
  /** The earlier transaction of ours, unknown to the database, that already did the same; usually null. */
  earlier: EarlierTransaction | null;
}

export interface EarlierTransaction {
  hash: Hex;
  blockNumber: number;
  blockHash: Hex;
  blockTime: number;
}

export interface Findings {
  rows: VaultTransactionRow[];
  mined: MinedTransaction[];
  /** The original transactions, which count in place of their repeats; their blocks may be stored or not. */
  earlier: { rows: VaultTransactionRow[]; blocks: BlockHeader[] };
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
  block: BlockHeader;
}

/**
 * Queries which addresses are vaults, and which transactions are ours, after the blocks were read. A vault is committed
 * before anyone learns its address, and an attempt before it is sent, so none can be missed.
 * Null when the node has no receipt for the block: the node is on another branch by now.
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
  if (addresses.size === 0) return { rows: [], mined: [], earlier: { rows: [], blocks: [] } };
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

  const byHash = new Map(sent.map((transaction) => [transaction.hash, transaction]));
  const attempts = sent.length === 0 ? [] : await attemptsAmong(db, [...byHash.keys()]);
  const mined: MinedTransaction[] = [];
  const anchors = new Map<number, Placed>();
  const repeats = new Map<number, Placed>();
  for (const { hash, outgoingId } of attempts) {
    const transaction = byHash.get(hash);
    if (!transaction) continue;
    const receipt = await readReceipt(chain, transaction);
    if (receipt === null) return null;
    const { succeeded, logs } = receipt;
    // A reverted transaction, or the no-op that took its nonce, anchored nothing.
    const carried = succeeded && transaction.to === chain.registry.toLowerCase();
    const isRepeat = carried && !hasAnchored(logs, chain, transaction.from);
    const first = isRepeat ? await findFirstAnchor(chain, transaction) : 'none';
    if (first === null) return null;
    mined.push(toMined(transaction, { succeeded, first }));
    if (first !== 'none') repeats.set(outgoingId, placeOf(first, transaction));
    else if (carried) anchors.set(outgoingId, transaction);
  }
  const earlierRows = createRows();
  const concerned = [...anchors.keys(), ...repeats.keys()];
  for (const { outgoingId, ...vault } of concerned.length === 0 ? [] : await vaultsOfAnchors(db, concerned)) {
    const [anchor, repeat] = [anchors.get(outgoingId), repeats.get(outgoingId)];
    if (anchor) rows.add(vault, anchor);
    if (repeat) earlierRows.add(vault, repeat);
  }
  const earlier = { rows: earlierRows.all(), blocks: [...repeats.values()].map(({ block }) => block) };
  return { rows: rows.all(), mined, earlier };
}

function placeOf({ hash, index, block }: FirstAnchor, { from, to }: Placed): Placed {
  return { hash, index, block, from, to, value: '0x0' };
}

/** Collects one row per vault and transaction, without duplicates. */
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

function toMined(
  { hash, index, block }: Placed,
  { succeeded, first }: { succeeded: boolean; first: FirstAnchor | 'none' },
): MinedTransaction {
  return {
    hash,
    index,
    succeeded,
    blockNumber: block.number,
    blockHash: block.hash,
    blockTime: block.timeSeconds,
    earlier:
      first === 'none'
        ? null
        : {
            hash: first.hash,
            blockNumber: first.block.number,
            blockHash: first.block.hash,
            blockTime: first.block.timeSeconds,
          },
  };
}

async function readReceipt(
  { client }: Chain,
  { hash, block }: Placed,
): Promise<{ succeeded: boolean; logs: readonly Log[] } | null> {
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] });
  if (receipt?.blockHash !== block.hash) return null;
  return { succeeded: receipt.status === '0x1', logs: receipt.logs };
}
