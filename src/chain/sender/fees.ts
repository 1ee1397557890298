/** What a transaction offers per unit of gas: read from the chain, raised for a replacement, never above the cap. */
import type { PublicClient } from 'viem';
import { rpcFaultOf } from '../rpc/json-rpc.ts';

export interface Fees {
  /** A chain without a base fee (before EIP-1559): both fees are the one gas price. */
  legacy: boolean;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

/** For nodes that do not answer eth_maxPriorityFeePerGas. */
const usualPriorityFeeWei = 1_000_000_000n;

/** Offers twice the base fee: enough for six full blocks in a row, each of which raises the base fee by an eighth. */
export async function readFees(client: PublicClient, capWei: bigint): Promise<Fees> {
  const { baseFeePerGas } = await client.getBlock({ blockTag: 'latest' });
  if (baseFeePerGas === null || baseFeePerGas === undefined) {
    const gasPriceWei = lesser(await client.getGasPrice(), capWei);
    return { legacy: true, maxFeeWei: gasPriceWei, priorityFeeWei: gasPriceWei };
  }
  const wantedWei = await readPriorityFee(client);
  const maxFeeWei = lesser(2n * baseFeePerGas + wantedWei, capWei);
  return { legacy: false, maxFeeWei, priorityFeeWei: lesser(wantedWei, maxFeeWei) };
}

/**
 * The fees of a replacement on the same nonce: the current fees, but at least an eighth above the former ones, because
 * nodes require a tenth more (geth, reth, Nethermind, Besu) or an eighth (some providers) in both fees. Null if the cap
 * forbids it.
 */
export function raiseFees(former: Omit<Fees, 'legacy'>, present: Fees, capWei: bigint): Fees | null {
  const leastWei = aboveByAnEighth(former.maxFeeWei);
  const leastPriorityWei = aboveByAnEighth(former.priorityFeeWei);
  if (leastWei > capWei || leastPriorityWei > capWei) return null;
  const priorityFeeWei = lesser(greater(present.priorityFeeWei, leastPriorityWei), capWei);
  const maxFeeWei = greater(lesser(greater(present.maxFeeWei, leastWei), capWei), priorityFeeWei);
  return { legacy: present.legacy, maxFeeWei, priorityFeeWei };
}

async function readPriorityFee(client: PublicClient): Promise<bigint> {
  try {
    return BigInt(await client.request({ method: 'eth_maxPriorityFeePerGas' }));
  } catch (error) {
    if (rpcFaultOf(error)?.kind !== 'refused') throw error;
    return usualPriorityFeeWei;
  }
}

/** Rounds up, and always raises: a fee of 0 becomes 1. */
function aboveByAnEighth(feeWei: bigint): bigint {
  return feeWei + greater((feeWei + 7n) / 8n, 1n);
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
