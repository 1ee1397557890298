/**
 * Shows without a node that a block has a transaction which anchored a root: the block's header, and the path in its
 * receipt trie to the transaction's receipt. All of it follows from the block's hash; who knows that hash needs no more.
 */
import type { Hex } from 'viem';
import { fromHex, toHex } from '../hex.ts';
import { plainKeccak } from '../keccak.ts';
import { type Log, readReceipt } from './receipt.ts';
import { bytesOf, decodeRlp, EvmFault, integerOf, listOf } from './rlp.ts';
import { receiptAt } from './trie.ts';

/** The member `inclusion` of an anchor. */
export interface Inclusion {
  /** RLP of the block's header. */
  header: Hex;
  /** The transaction's index in its block. */
  index: number;
  /** The nodes of the receipt trie from the root to the receipt. */
  nodes: Hex[];
}

export type InclusionReading = ReadInclusion | { fault: string };

/** What the block says, if it is the block that one trusts: compare `blockHash`. */
export interface ReadInclusion {
  blockHash: Hex;
  blockNumber: number;
  /** Seconds since 1970. */
  blockTime: number;
  succeeded: boolean;
  logs: Log[];
}

/** A key of at most five bytes has ten nibbles, so that no path has more than eleven nodes. */
export const maxIndex = 2 ** 32 - 1;
export const maxNodes = 16;
/** Header and nodes together. An anchor takes 1 to 2 KB; some chains put lists of validators into their headers. */
export const maxInclusionBytes = 65_536;

/** Of the registry's event; a test compares it with the registry's ABI. */
const anchoredTopic = toHex(plainKeccak(new TextEncoder().encode('Anchored(address,bytes32,uint64)')));

/** Never throws: what cannot be read is a fault, in words that can follow "The inclusion is wrong: ". */
export function readInclusion({ header, index, nodes }: Inclusion): InclusionReading {
  try {
    if (!Number.isInteger(index) || index < 0 || index > maxIndex) {
      throw new EvmFault(`the index is not an integer from 0 to ${maxIndex}`);
    }
    if (!Array.isArray(nodes) || nodes.length === 0 || nodes.length > maxNodes) {
      throw new EvmFault(`the nodes are not a list of 1 to ${maxNodes}`);
    }
    const parts = [header, ...nodes];
    if (!parts.every(isHex)) throw new EvmFault('header and nodes are not all 0x and lower-case hex digits');
    const size = parts.reduce((sum, part) => sum + part.length / 2 - 1, 0);
    if (size > maxInclusionBytes) throw new EvmFault(`it has ${size} bytes, more than ${maxInclusionBytes}`);
    return readBlock(
      fromHex(header),
      index,
      nodes.map((node) => fromHex(node)),
    );
  } catch (error) {
    if (!(error instanceof EvmFault)) throw error;
    return { fault: error.message };
  }
}

/** Whether the transaction succeeded and `Anchored(submitter, root, size)` is among its logs, from this registry. */
export function anchoredIn(
  { succeeded, logs }: ReadInclusion,
  { registry, submitter, root, size }: { registry: string; submitter: string; root: string; size: number },
): boolean {
  const topics = [anchoredTopic, word(submitter.slice(2)), root].join().toLowerCase();
  const data = word(size.toString(16));
  return (
    succeeded &&
    logs.some(
      (log) => log.address === registry.toLowerCase() && log.topics.join() === topics && log.data === data,
    )
  );
}

/** A header has at least 15 fields; upgrades of Ethereum append others, and only these three count here. */
function readBlock(header: Uint8Array, index: number, nodes: Uint8Array[]): ReadInclusion {
  const fields = listOf(decodeRlp(header, 'the header'), 'the header');
  if (fields.length < 15) throw new EvmFault(`the header has ${fields.length} fields, fewer than 15`);
  const receiptsRoot = toHex(bytesOf(fields[5], 'the receipts root of the header', 32));
  return {
    blockHash: toHex(plainKeccak(header)),
    blockNumber: integerOf(fields[8], 'the block number of the header'),
    blockTime: integerOf(fields[11], 'the time of the header'),
    ...readReceipt(receiptAt(index, receiptsRoot, nodes)),
  };
}

function isHex(text: unknown): text is Hex {
  return typeof text === 'string' && text.length % 2 === 0 && /^0x[0-9a-f]*$/.test(text);
}

function word(digits: string): string {
  return `0x${digits.padStart(64, '0')}`;
}
