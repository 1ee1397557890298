/** Sends a signed transaction to a node and returns the node's verdict. */
import type { Hex, PublicClient } from 'viem';
import { type Refusal, readRefusal } from './refusals.ts';

export type BroadcastOutcome = { verdict: 'taken'; reason: null } | Refusal;

/** Throws the RPC fault when no node gave a verdict: the transaction may have been accepted all the same. */
export async function broadcast(client: PublicClient, raw: Hex): Promise<BroadcastOutcome> {
  try {
    await client.sendRawTransaction({ serializedTransaction: raw });
    return { verdict: 'taken', reason: null };
  } catch (error) {
    const refusal = readRefusal(error);
    if (refusal) return refusal;
    throw error;
  }
}

/** The first of these transactions that is in a block, according to the node. */
export async function findReceipt(
  client: PublicClient,
  hashes: readonly Hex[],
): Promise<{ hash: Hex; blockNumber: number } | null> {
  for (const hash of hashes) {
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] });
    if (receipt) return { hash, blockNumber: Number(receipt.blockNumber) };
  }
  return null;
}
