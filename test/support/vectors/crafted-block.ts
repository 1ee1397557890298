/** Blocks made by hand, down to the single byte, that anchor a root and break one rule about header, trie or receipt. */
import { type NestedUint8Array, RLP } from '@ethereumjs/rlp';
import { bytesToHex, concatBytes, type Hex, hexToBytes, keccak256, numberToBytes } from 'viem';
import { usualRegistry } from '../../../src/proof/evm/usual-registry.ts';
import type { EvmAnchor } from '../../../src/proof/verify/proof.ts';
import { anchorLog, emptyBloom, emptyRoot, noUncles } from '../chain/inclusion-fixtures.ts';
import { fixed, submitter } from '../fixtures/proof-fixture.ts';
import { firstBlock } from './base-batches.ts';
import type { Outcome } from './vector.ts';

export interface CraftedBlock {
  /** Encoded items of the log that anchors, and of all logs. */
  log?: (parts: Uint8Array[]) => Uint8Array[];
  logs?: (log: Uint8Array) => Uint8Array[];
  /** Encoded items of the receipt; and its bytes as a whole. */
  receipt?: (fields: Uint8Array[]) => Uint8Array[];
  receiptBytes?: (bytes: Uint8Array) => Uint8Array;
  type?: number;
  /** From the receipt's bytes to the nodes, the root first. */
  nodes?: (receipt: Uint8Array) => Uint8Array[];
  /** The nodes that the document shows instead. */
  shown?: (nodes: Uint8Array[]) => Uint8Array[];
  /** Encoded items of the header; and its bytes as a whole. */
  header?: (fields: Uint8Array[]) => Uint8Array[];
  headerBytes?: (bytes: Uint8Array) => Uint8Array;
  index?: number;
}

export type CraftedRow = [name: string, about: string, outcome: Outcome, block: CraftedBlock];

/** An anchor in a block of this form. */
export function craftAnchor({ root, size }: { root: Hex; size: number }, block: CraftedBlock): EvmAnchor {
  const { address, topics, data } = anchorLog({ registry: usualRegistry, submitter, root, size });
  const logParts = ([address, topics, data] as (Hex | Hex[])[]).map((part) => encode(part));
  const log = list(block.log?.(logParts) ?? logParts);
  const fields = [
    ...[encode('0x01'), encode('0xc350'), encode(emptyBloom)],
    list(block.logs?.(log) ?? [log]),
  ];
  const inside = list(block.receipt?.(fields) ?? fields);
  const { type = 2 } = block;
  const typed = type === 0 ? inside : concatBytes([Uint8Array.of(type), inside]);
  const receipt = block.receiptBytes?.(typed) ?? typed;
  const nodes = block.nodes?.(receipt) ?? [leafNode('80', receipt)];
  const headerFields = headerOf(keccak256(nodes[0] ?? new Uint8Array()));
  const plain = list(block.header?.(headerFields) ?? headerFields);
  const header = block.headerBytes?.(plain) ?? plain;
  return {
    type: 'evm',
    ...firstBlock,
    contract: usualRegistry,
    submitter,
    transactionHash: fixed(0x74),
    blockHash: keccak256(header),
    inclusion: {
      header: bytesToHex(header),
      index: block.index ?? 0,
      nodes: (block.shown?.(nodes) ?? nodes).map((node) => bytesToHex(node)),
    },
  };
}

/** Fifteen fields, and the first of those that were appended later. */
function headerOf(receiptsRoot: Hex): Uint8Array[] {
  const { blockNumber, blockTime } = firstBlock;
  return [
    ...[fixed(0x10), noUncles, `0x${'11'.repeat(20)}` as Hex, fixed(0x11), fixed(0x12), receiptsRoot],
    ...[emptyBloom, '0x' as Hex, number(blockNumber), number(30_000_000), number(50_000), number(blockTime)],
    ...['0xbeef' as Hex, fixed(0x13), '0x0000000000000000' as Hex, '0x07' as Hex, emptyRoot as Hex],
  ].map((field) => encode(field as Hex));
}

export function number(value: number): Hex {
  return bytesToHex(numberToBytes(value));
}

export function encode(value: Hex | Hex[]): Uint8Array {
  return RLP.encode(typeof value === 'string' ? hexToBytes(value) : value.map((one) => hexToBytes(one)));
}

/** A list of items that are encoded already, rightly or wrongly. */
export function list(items: Uint8Array[]): Uint8Array {
  const inside = concatBytes(items);
  if (inside.length < 56) return concatBytes([Uint8Array.of(0xc0 + inside.length), inside]);
  const length = numberToBytes(inside.length);
  return concatBytes([Uint8Array.of(0xf7 + length.length), length, inside]);
}

/** The hex prefix form of nibbles: of a leaf, or of an extension. */
export function prefixed(nibbles: string, { leaf }: { leaf: boolean }): Hex {
  const flag = (leaf ? 2 : 0) + (nibbles.length % 2);
  return `0x${flag}${nibbles.length % 2 === 0 ? '0' : ''}${nibbles}`;
}

export function leafNode(nibbles: string, receipt: Uint8Array): Uint8Array {
  return RLP.encode([hexToBytes(prefixed(nibbles, { leaf: true })), receipt]);
}

export function extensionNode(nibbles: string, child: Uint8Array): Uint8Array {
  return RLP.encode([hexToBytes(prefixed(nibbles, { leaf: false })), keccak256(child, 'bytes')]);
}

/** A branch whose only child is at this nibble. */
export function branchNode(nibble: number, child: Uint8Array | NestedUint8Array, value = new Uint8Array()) {
  const items: NestedUint8Array = Array.from({ length: 16 }, () => new Uint8Array());
  items[nibble] = child instanceof Uint8Array ? keccak256(child, 'bytes') : child;
  return RLP.encode([...items, value]);
}
