/** Mines one block on the node and reads back everything needed to replay it. */

import type { TransactionSerialized } from 'viem';
import { type Hex, keccak256, recoverTransactionAddress } from 'viem';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import type { AnvilRpc, NodeTransaction } from './anvil-rpc.ts';
import type { JournalBlock } from './journal.ts';
import { Mismatch } from './replay.ts';

export interface MinedBlock extends JournalBlock {
  transactionHashes: Hex[];
}

/** Puts raw transactions into the pool. A transaction that the node already has is no error; a refused one is. */
export async function submit(rpc: AnvilRpc, rawTransactions: readonly Hex[]): Promise<void> {
  for (const raw of rawTransactions) {
    try {
      await rpc.send(raw);
    } catch (error) {
      if (rpcFaultOf(error)?.kind !== 'refused' || !(await rpc.hasTransaction(keccak256(raw)))) throw error;
    }
  }
}

export interface Template {
  parent: JournalBlock;
  timestampSeconds: number;
  /** Transactions that we submitted, whose raw bytes need not be read from the node. */
  submitted: readonly Hex[];
}

/** Throws a Mismatch if the block does not follow the parent, or could not be replayed. */
export async function mineBlock(
  rpc: AnvilRpc,
  { parent, timestampSeconds, submitted }: Template,
): Promise<MinedBlock> {
  await rpc.setTime(timestampSeconds);
  const { transactions, ...header } = await rpc.mine(timestampSeconds);
  if (header.number !== parent.number + 1 || header.parentHash !== parent.hash) {
    throw new Mismatch(
      `block ${header.number} on ${header.parentHash} does not follow block ${parent.number}`,
    );
  }
  const known = new Map(submitted.map((raw) => [keccak256(raw), raw]));
  const raws: Hex[] = [];
  for (const transaction of transactions) {
    raws.push(known.get(transaction.hash) ?? (await replayable(rpc, transaction)));
  }
  return { ...header, transactions: raws, transactionHashes: transactions.map(({ hash }) => hash) };
}

const blobType = '0x3';

/**
 * The raw bytes, if they suffice to replay the transaction. Those of an impersonated account do not, because its
 * signature is made up; those of a blob transaction do not, because they do not contain the blobs.
 */
async function replayable(rpc: AnvilRpc, { hash, from, type }: NodeTransaction): Promise<Hex> {
  const raw = await rpc.rawTransaction(hash);
  if (raw === null || type === blobType || keccak256(raw) !== hash) {
    throw new Mismatch(`transaction ${hash} has no raw bytes that make it again`);
  }
  const signer = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
  if (signer.toLowerCase() !== from.toLowerCase()) {
    throw new Mismatch(`transaction ${hash} is not signed by its sender`);
  }
  return raw;
}
