/** Computes the hash and the roots of a block as its header has them, without the EVM library. */
import { concat, type Hex, hexToBytes, keccak256, numberToHex, toRlp, zeroAddress } from 'viem';
import { logsBloom } from '../answers/formats/logs-bloom.ts';
import { blockGasLimit, emptyRoot, noRequests, randaoOf, zeroHash } from '../engine/header-fields.ts';
import type { StoredReceipt } from '../engine/protocol.ts';

export interface HeaderFields {
  number: number;
  parentHash: Hex;
  timestampSeconds: number;
  gasUsed: number;
  baseFeeWei: bigint;
  /** After the block; the header of block 0 has the root of an empty state instead. */
  stateRoot: Hex;
  transactionsRoot: Hex;
  receiptsRoot: Hex;
}

const noUncles = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
const nothing = '0x';

export function headerHash(fields: HeaderFields, receipts: readonly StoredReceipt[]): Hex {
  const { number } = fields;
  return keccak256(
    toRlp([
      fields.parentHash,
      noUncles,
      zeroAddress,
      number === 0 ? emptyRoot : fields.stateRoot,
      fields.transactionsRoot,
      fields.receiptsRoot,
      logsBloom(receipts.flatMap(({ logs }) => logs)),
      // Difficulty.
      nothing,
      quantity(number),
      quantity(blockGasLimit),
      quantity(fields.gasUsed),
      quantity(fields.timestampSeconds),
      // Extra data.
      nothing,
      randaoOf(fields),
      `0x${'00'.repeat(8)}`,
      quantity(fields.baseFeeWei),
      // Withdrawals.
      emptyRoot,
      // Gas of blobs: used, and in excess.
      nothing,
      nothing,
      // The beacon block.
      zeroHash,
      noRequests,
    ]),
  );
}

export function transactionsRootOf(transactions: readonly Hex[]): Promise<Hex> {
  return rootOf(transactions);
}

/** `receipts` are those of `transactions`, in the same order. */
export function receiptsRootOf(
  receipts: readonly StoredReceipt[],
  transactions: readonly Hex[],
): Promise<Hex> {
  let gasSoFar = 0;
  return rootOf(
    receipts.map(({ succeeded, gasUsed, logs }, index) => {
      gasSoFar += gasUsed;
      const encoded = toRlp([
        succeeded ? '0x01' : nothing,
        quantity(gasSoFar),
        logsBloom(logs),
        logs.map(({ address, topics, data }) => [address, topics, data]),
      ]);
      const type = typeOf(transactions[index] ?? nothing);
      return type === null ? encoded : concat([type, encoded]);
    }),
  );
}

/** The type as one byte; null for the oldest form, which is a list by itself. */
export function typeOf(raw: Hex): Hex | null {
  return Number(raw.slice(0, 4)) >= 0xc0 ? null : (raw.slice(0, 4) as Hex);
}

export function quantity(value: number | bigint): Hex {
  return BigInt(value) === 0n ? nothing : numberToHex(value);
}

/** Of the trie of these values by their index. */
async function rootOf(values: readonly Hex[]): Promise<Hex> {
  if (values.length === 0) return emptyRoot;
  const { createMPT } = await import('@ethereumjs/mpt');
  const trie = await createMPT();
  for (const [index, value] of values.entries()) {
    await trie.put(toRlp(quantity(index), 'bytes'), hexToBytes(value));
  }
  return `0x${Buffer.from(trie.root()).toString('hex')}`;
}
