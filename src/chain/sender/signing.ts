/** Signs a transaction; callers store the bytes and their hash before sending them. */
import type { Address, Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { hexToBytes, keccak256 } from 'viem/utils';
import type { Fees } from './fees.ts';

export interface Payload {
  to: Address;
  data: Hex;
  gasLimit: number;
}

export interface Signed {
  hash: Hex;
  raw: Hex;
}

/** What a plain transfer costs. */
export const transferGas = 21_000;

export async function signTransaction(
  account: PrivateKeyAccount,
  { to, data, gasLimit }: Payload,
  { chainId, nonce, fees }: { chainId: number; nonce: number; fees: Fees },
): Promise<Signed> {
  const same = { chainId, nonce, to, data, gas: BigInt(gasLimit), value: 0n };
  const raw = fees.legacy
    ? await account.signTransaction({ ...same, type: 'legacy', gasPrice: fees.maxFeeWei })
    : await account.signTransaction({
        ...same,
        type: 'eip1559',
        maxFeePerGas: fees.maxFeeWei,
        maxPriorityFeePerGas: fees.priorityFeeWei,
      });
  return { hash: keccak256(raw), raw };
}

/**
 * The gas that a call costs before it does anything: 4 per zero byte and 16 per other byte (EIP-2028). With less it can
 * never be mined, and not every node says so: anvil accepts such a transaction and drops it when mining.
 */
export function leastGas(data: Hex): number {
  return hexToBytes(data).reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), transferGas);
}
