/** The length of a block in RLP, without encoding it. Like anvil, it leaves out the empty list of withdrawals. */
import type { Hex } from 'viem';
import { blockGasLimit } from '../../engine/header-fields.ts';
import type { StoredBlock } from '../../results/results.store.ts';

const hash = encoded(32);
/** Three roots and the hashes of parent, uncles, withdrawals, beacon block and requests, and mixHash. */
const hashes = 9 * hash;
/** Difficulty, extra data, and two fields about blobs: each is one byte, because it is empty. */
const emptyFields = 4;
const fixed = hashes + emptyFields + encoded(20) + encoded(256) + encoded(8);
const noUncles = 1;

export function blockSize({
  number,
  gasUsed,
  timestampSeconds,
  baseFeeWei,
  transactions,
}: Pick<StoredBlock, 'number' | 'gasUsed' | 'timestampSeconds' | 'baseFeeWei' | 'transactions'>): number {
  const quantities = [number, blockGasLimit, gasUsed, timestampSeconds, baseFeeWei];
  const header = encoded(fixed + total(quantities.map(quantityLength)));
  const all = encoded(total(transactions.map(transactionLength)));
  return encoded(header + all + noUncles);
}

function total(lengths: number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** The oldest type is a list by itself; the others are bytes within the block. */
function transactionLength(raw: Hex): number {
  const bytes = (raw.length - 2) / 2;
  return Number(raw.slice(0, 4)) >= 0xc0 ? bytes : encoded(bytes);
}

function quantityLength(quantity: number | bigint): number {
  const bytes = Math.ceil(quantity.toString(16).length / 2);
  return quantity < 128 ? 1 : encoded(bytes);
}

/** With the prefix. A single byte below 128 has none, which is up to the caller. */
function encoded(payload: number): number {
  if (payload <= 55) return payload + 1;
  return payload + 1 + Math.ceil(payload.toString(16).length / 2);
}
