/** The fields of a block's header that follow from its place in the chain, for engine and service alike. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hex } from 'viem';
import type { ParentBlock } from './protocol.ts';

export const blockGasLimit = 30_000_000;
/**
 * The most gas of a call, and of a transaction that the pool takes. The costliest contracts take some seconds for it.
 * Blocks that exist already may have transactions with more.
 */
export const mostGas = 4_000_000;
export const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
/** SHA-256 of nothing: the block has no requests (EIP-7685). */
export const noRequests = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
export const zeroHash: Hex = `0x${'00'.repeat(32)}`;

/** Not random at all: anybody can compute it. */
export function randaoOf({ number, parentHash }: { number: number; parentHash: Hex }): Hex {
  if (number === 0) return zeroHash;
  const bytes = Buffer.alloc(40);
  bytes.write(parentHash.slice(2), 'hex');
  bytes.writeBigUInt64LE(BigInt(number), 32);
  return `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;
}

/** EIP-1559, with the constants of Ethereum; but block 1 has the fee of block 0. */
export function nextBaseFee({
  number,
  gasUsed,
  baseFeeWei,
}: Pick<ParentBlock, 'number' | 'gasUsed' | 'baseFeeWei'>): bigint {
  if (number === 0) return baseFeeWei;
  const target = BigInt(blockGasLimit / 2);
  const used = BigInt(gasUsed);
  if (used === target) return baseFeeWei;
  const distance = used > target ? used - target : target - used;
  const change = (baseFeeWei * distance) / target / 8n;
  if (used < target) return baseFeeWei - change;
  return baseFeeWei + (change > 0n ? change : 1n);
}
