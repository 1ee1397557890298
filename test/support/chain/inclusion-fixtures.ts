/**
 * Invented blocks for tests of inclusions: the answers of a node about them, and the paths of @ethereumjs/mpt, whose code
 * has nothing in common with ours. And a real block of a public chain.
 */
import { createMerkleProof, createMPT } from '@ethereumjs/mpt';
import { type NestedUint8Array, RLP } from '@ethereumjs/rlp';
import { bytesToHex, type Hex, hexToBytes, keccak256, numberToHex, padHex, toEventSelector } from 'viem';
import type { RpcCall } from '../../../src/chain/rules/rpc-call.ts';
import type { Inclusion } from '../../../src/proof/evm/inclusion.ts';

export interface InventedLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
}

export interface InventedReceipt {
  /** 0 for the oldest form. */
  type?: number;
  succeeded?: boolean;
  logs?: InventedLog[];
  /** Of the OP Stack: the version is there since its Canyon upgrade, and only then is the nonce in the trie. */
  deposit?: { nonce: number; version?: number };
}

export interface InventedBlock {
  hash: Hex;
  number: number;
  time: number;
  header: Hex;
  transactionHashes: Hex[];
  /** The answers to eth_getBlockByHash and eth_getBlockReceipts. */
  block: Record<string, unknown>;
  receipts: Record<string, unknown>[];
  inclusionOf(index: number): Promise<Inclusion>;
}

export const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
export const emptyBloom: Hex = `0x${'00'.repeat(256)}`;
export const noUncles = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

/** The fields that upgrades of Ethereum appended to headers: London one, Shanghai one, Cancun three, Prague one. */
const laterFields: Record<string, Hex> = {
  baseFeePerGas: '0x7',
  withdrawalsRoot: emptyRoot,
  blobGasUsed: '0x20000',
  excessBlobGas: '0x0',
  parentBeaconBlockRoot: hashOf('beacon'),
  requestsHash: hashOf('requests'),
};

/** `later`: how many of the fields that upgrades appended. */
export async function inventBlock(
  receipts: InventedReceipt[],
  { number = 21_000_000, time = 1_794_709_170, later = 6 } = {},
): Promise<InventedBlock> {
  const values = receipts.map((receipt, index) => encodeReceipt(receipt, 50_000 * (index + 1)));
  const trie = await createMPT();
  for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value);
  const receiptsRoot = receipts.length === 0 ? emptyRoot : bytesToHex(trie.root());
  const fields: Record<string, Hex> = {
    parentHash: hashOf('parent'),
    sha3Uncles: noUncles,
    miner: `0x${'11'.repeat(20)}`,
    stateRoot: hashOf('state'),
    transactionsRoot: hashOf('transactions'),
    receiptsRoot,
    logsBloom: emptyBloom,
    difficulty: '0x0',
    number: numberToHex(number),
    gasLimit: numberToHex(30_000_000),
    gasUsed: numberToHex(50_000 * receipts.length),
    timestamp: numberToHex(time),
    extraData: '0xbeef',
    mixHash: hashOf('randao'),
    nonce: '0x0000000000000000',
    ...Object.fromEntries(Object.entries(laterFields).slice(0, later)),
  };
  const header = RLP.encode(Object.entries(fields).map(([name, value]) => headerItem(name, value)));
  const hash = keccak256(header);
  const transactionHashes = receipts.map((_, index) => hashOf(`transaction ${index}`));
  return {
    ...{ hash, number, time, header: bytesToHex(header), transactionHashes },
    block: { ...fields, hash, size: '0x1', uncles: [], transactions: transactionHashes },
    receipts: receipts.map((receipt, index) => ({
      ...{ blockHash: hash, transactionHash: transactionHashes[index], transactionIndex: numberToHex(index) },
      ...receiptJson(receipt, 50_000 * (index + 1)),
    })),
    async inclusionOf(index) {
      const nodes = await createMerkleProof(trie, RLP.encode(index));
      return { header: bytesToHex(header), index, nodes: nodes.map((node) => bytesToHex(node)) };
    },
  };
}

/** A block with one transaction, which anchored this. */
export function inventAnchor(anchor: AnchoredValues, at?: { number: number; time: number }) {
  return inventBlock([{ type: 2, logs: [anchorLog(anchor)] }], at);
}

export interface AnchoredValues {
  registry: Hex;
  submitter: Hex;
  root: Hex;
  size: number;
}

/** What the registry logs. */
export function anchorLog({ registry, submitter, root, size }: AnchoredValues): InventedLog {
  const topic = toEventSelector('Anchored(address,bytes32,uint64)');
  return {
    address: registry,
    topics: [topic, padHex(submitter, { size: 32 }), root],
    data: numberToHex(size, { size: 32 }),
  };
}

/** Receipts of all forms, as many as wanted. */
export function mixedReceipts(count: number): InventedReceipt[] {
  return Array.from({ length: count }, (_, index) => ({
    type: index % 5,
    succeeded: index % 7 !== 3,
    logs: index % 7 === 3 ? [] : Array.from({ length: index % 4 }, (_, log) => someLog(100 * index + log)),
  }));
}

/** A node that has only this block. Methods in `without` do not exist there. */
export function nodeWith(
  { block, receipts, hash }: Pick<InventedBlock, 'block' | 'receipts' | 'hash'>,
  { without = [] as string[], asked = [] as string[] } = {},
): RpcCall {
  return async (method, [first]) => {
    asked.push(method);
    if (without.includes(method)) {
      throw Object.assign(new Error(`the method ${method} does not exist`), { code: -32601 });
    }
    if (method === 'eth_getBlockByHash') return first === hash ? structuredClone(block) : null;
    if (method === 'eth_getBlockReceipts') return first === hash ? structuredClone(receipts) : null;
    if (method === 'eth_getTransactionReceipt') {
      return structuredClone(receipts.find(({ transactionHash }) => transactionHash === first)) ?? null;
    }
    throw new Error(`${method} was not expected`);
  };
}

/**
 * Block 274 of Blast, a chain of the OP Stack. Its one transaction is the deposit that begins each block there. The hash
 * of the header and the root of the receipts are those of the chain, so nothing here can be invented.
 */
export const blastBlock = {
  hash: '0xfc70e073ec6e1bb7f387698e4be418d7b1ff2216f625cdf41e1b80fb08029ef5' as Hex,
  transactionHash: '0x13a644af4f64ce801dcd57faa823e8952f2290b810fdd31995dda62977ed3df1' as Hex,
  block: {
    baseFeePerGas: '0x1418f329',
    difficulty: '0x0',
    extraData: '0x',
    gasLimit: '0x1c9c380',
    gasUsed: '0xb76d',
    hash: '0xfc70e073ec6e1bb7f387698e4be418d7b1ff2216f625cdf41e1b80fb08029ef5',
    logsBloom: emptyBloom,
    miner: '0x4200000000000000000000000000000000000011',
    mixHash: '0x8bc8a48326d9309959f2452206c1c842be9fcc9840c789845caab9d290a9700c',
    nonce: '0x0000000000000000',
    number: '0x112',
    parentHash: '0xcfbc479d5f63476538db9ff15295167a6e91ecc9d6cf54be471eded689c251c9',
    receiptsRoot: '0x8c303881b3e408cc739f55ef3e5133075d552cbec9ee987aff6b71f58cf291ee',
    sha3Uncles: noUncles,
    stateRoot: '0x86be45fb7a22b8c12cbce8d538372b800377cc589de590b6d88f5f65dde97df8',
    timestamp: '0x65da607b',
    transactionsRoot: '0xb01a2ad2c1ceb76f2edcdc02f2e0453c52e24c421fb04132cdfc0da5b70a593e',
    transactions: ['0x13a644af4f64ce801dcd57faa823e8952f2290b810fdd31995dda62977ed3df1'],
    withdrawalsRoot: emptyRoot,
  },
  receipts: [
    {
      blockHash: '0xfc70e073ec6e1bb7f387698e4be418d7b1ff2216f625cdf41e1b80fb08029ef5',
      transactionHash: '0x13a644af4f64ce801dcd57faa823e8952f2290b810fdd31995dda62977ed3df1',
      type: '0x7e',
      status: '0x1',
      cumulativeGasUsed: '0xb76d',
      logsBloom: emptyBloom,
      logs: [],
      depositNonce: '0x111',
      depositReceiptVersion: '0x1',
    },
  ],
};

/** The consensus form of a receipt. Its bloom filter is empty, which nobody who only follows the trie can tell. */
export function encodeReceipt(
  { type = 0, succeeded = true, logs = [], deposit }: InventedReceipt,
  cumulativeGas: number,
): Uint8Array {
  const list: NestedUint8Array = [
    Uint8Array.from(succeeded ? [1] : []),
    integer(cumulativeGas),
    hexToBytes(emptyBloom),
    logs.map(({ address, topics, data }) => [
      hexToBytes(address),
      topics.map((topic) => hexToBytes(topic)),
      hexToBytes(data),
    ]),
    ...(deposit?.version === undefined ? [] : [integer(deposit.nonce), integer(deposit.version)]),
  ];
  const encoded = RLP.encode(list);
  return type === 0 ? encoded : Uint8Array.from([type, ...encoded]);
}

function receiptJson({ type = 0, succeeded = true, logs = [], deposit }: InventedReceipt, gas: number) {
  return {
    type: numberToHex(type),
    status: succeeded ? '0x1' : '0x0',
    cumulativeGasUsed: numberToHex(gas),
    gasUsed: '0xc350',
    logsBloom: emptyBloom,
    logs: logs.map((log) => ({ ...log, removed: false })),
    ...(deposit && { depositNonce: numberToHex(deposit.nonce) }),
    ...(deposit?.version !== undefined && { depositReceiptVersion: numberToHex(deposit.version) }),
  };
}

/** Quantities lose their leading zeros; other fields have a fixed length, or are bytes. */
function headerItem(name: string, value: Hex): Uint8Array {
  const quantities =
    /^(difficulty|number|gasLimit|gasUsed|timestamp|baseFeePerGas|blobGasUsed|excessBlobGas)$/;
  return quantities.test(name) ? integer(Number(value)) : hexToBytes(value);
}

function integer(value: number): Uint8Array {
  return value === 0 ? new Uint8Array() : hexToBytes(numberToHex(value));
}

function someLog(seed: number): InventedLog {
  return {
    address: `0x${keccak256(numberToHex(seed)).slice(26)}`,
    topics: Array.from({ length: seed % 5 }, (_, topic) => hashOf(`topic ${seed} ${topic}`)),
    data: seed % 3 === 0 ? '0x' : keccak256(numberToHex(seed + 1)),
  };
}

function hashOf(text: string): Hex {
  return keccak256(new TextEncoder().encode(text));
}
