/** Checks whether a chain has the registry, and builds the transaction that deploys it. */
import { type Address, type Hex, keccak256, type PublicClient } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import {
  deployerAddress,
  deployerRuntimeCode,
  registryCodeHash,
  registryDeploymentData,
} from './registry.ts';

/** `other`: the address has code, but not that of the registry. */
export type RegistryState = 'present' | 'missing' | 'other';

export async function readRegistryState(client: PublicClient, registry: Address): Promise<RegistryState> {
  const code = await client.getCode({ address: registry });
  if (code === undefined || code === '0x') return 'missing';
  return keccak256(code) === registryCodeHash ? 'present' : 'other';
}

export async function hasDeployer(client: PublicClient): Promise<boolean> {
  return (await client.getCode({ address: deployerAddress })) === deployerRuntimeCode;
}

/** Only signs; the caller sends. */
export async function signDeployment(
  account: PrivateKeyAccount,
  { fees, ...rest }: { chainId: number; nonce: number; gas: bigint; fees: OfferedFees },
): Promise<Hex> {
  const transaction = { ...rest, to: deployerAddress, data: registryDeploymentData() };
  return account.signTransaction({ ...transaction, ...fees });
}

export type OfferedFees =
  | { type: 'legacy'; gasPrice: bigint }
  | { type: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** For an operator's single transactions: twice the current base fee. The sender has its own fees, which it can raise. */
export async function offeredFees(client: PublicClient): Promise<OfferedFees> {
  const [{ baseFeePerGas }, gasPrice] = await Promise.all([client.getBlock(), client.getGasPrice()]);
  if (typeof baseFeePerGas !== 'bigint') return { type: 'legacy', gasPrice };
  const priority = gasPrice > baseFeePerGas ? gasPrice - baseFeePerGas : 1n;
  return { type: 'eip1559', maxFeePerGas: 2n * baseFeePerGas + priority, maxPriorityFeePerGas: priority };
}

/** The most that a unit of gas can cost with these fees. */
export function mostPerGasWei(fees: OfferedFees): bigint {
  return fees.type === 'legacy' ? fees.gasPrice : fees.maxFeePerGas;
}
