/**
 * Builds the part of an anchor that makes it independent of nodes, while a node still has the block: its header, and the
 * path in its receipt trie to the receipt of the anchor's transaction. Everything is computed from the node's answers and
 * must lead to the block's hash, so that a node can make it impossible, but not wrong.
 */
import { type Hex, keccak256, numberToHex, toRlp } from 'viem';
import { type Inclusion, readInclusion } from '../../proof/evm/inclusion.ts';
import { isNotNow } from '../rules/not-now.ts';
import type { RpcCall } from '../rules/rpc-call.ts';

/** Without an inclusion: why the blocks of this chain, or this one, do not allow it. Another try would not help. */
export type BuiltInclusion = { inclusion: Inclusion } | { inclusion: null; reason: string };

/** Each takes about 0.2 ms of hashing, during which nothing else runs. */
const mostTransactions = 3_000;
/** For nodes that do not give all receipts of a block at once. */
const mostSingleCalls = 1_000;
const callsAtOnce = 8;

/** Throws when the node does not answer, does not have the block, or contradicts itself: then try again later. */
export async function buildInclusion(
  call: RpcCall,
  { blockHash, transactionHash }: { blockHash: Hex; transactionHash: Hex },
): Promise<BuiltInclusion> {
  const block = await call('eth_getBlockByHash', [blockHash, false]);
  if (!isObject(block)) throw new Error(`the node does not have the block ${blockHash}`);
  const hashes = Array.isArray(block.transactions) ? block.transactions.map(lower) : [];
  const index = hashes.indexOf(lower(transactionHash));
  if (index === -1)
    throw new Error(`the block ${blockHash} does not have the transaction ${transactionHash}`);
  try {
    const header = toRlp(headerItems(block));
    if (keccak256(header) !== lower(blockHash)) throw new Unsuitable('the header has another hash');
    const receipts = await allReceipts(call, blockHash, hashes);
    const nodes = pathIn(receipts.map(encodeReceipt), index, lower(block.receiptsRoot));
    const reading = readInclusion({ header, index, nodes });
    if ('fault' in reading) throw new Unsuitable(reading.fault);
    return { inclusion: { header, index, nodes } };
  } catch (error) {
    if (!(error instanceof Unsuitable)) throw error;
    return { inclusion: null, reason: error.message };
  }
}

/** The chain does not do what Ethereum does. */
class Unsuitable extends Error {
  override name = 'Unsuitable';
}

type Fields = Record<string, unknown>;
type Read = (value: unknown, name: string) => Hex;

const firstHeaderFields: [string, Read][] = [
  ['parentHash', data],
  ['sha3Uncles', data],
  ['miner', data],
  ['stateRoot', data],
  ['transactionsRoot', data],
  ['receiptsRoot', data],
  ['logsBloom', data],
  ['difficulty', quantity],
  ['number', quantity],
  ['gasLimit', quantity],
  ['gasUsed', quantity],
  ['timestamp', quantity],
  ['extraData', data],
  ['mixHash', data],
  ['nonce', data],
];

/** Appended by the upgrades London, Shanghai, Cancun and Prague, in this order. */
const laterHeaderFields: [string, Read][] = [
  ['baseFeePerGas', quantity],
  ['withdrawalsRoot', data],
  ['blobGasUsed', quantity],
  ['excessBlobGas', quantity],
  ['parentBeaconBlockRoot', data],
  ['requestsHash', data],
];

function headerItems(block: Fields): Hex[] {
  const later = laterHeaderFields.filter(([name]) => isPresent(block[name]));
  return [...firstHeaderFields, ...later].map(([name, read]) => read(block[name], name));
}

async function allReceipts(call: RpcCall, blockHash: Hex, hashes: string[]): Promise<Fields[]> {
  if (hashes.length > mostTransactions) {
    throw new Unsuitable(`the block has ${hashes.length} transactions, more than ${mostTransactions}`);
  }
  const receipts = (await atOnce(call, blockHash)) ?? (await oneByOne(call, hashes));
  if (receipts.length !== hashes.length) {
    throw new Unsuitable(`the block has ${hashes.length} transactions, but ${receipts.length} receipts`);
  }
  return receipts.map((receipt, place) => {
    if (!isObject(receipt)) throw new Error(`the node does not have the receipt of ${hashes[place]}`);
    if (lower(receipt.transactionHash) !== hashes[place] || lower(receipt.blockHash) !== lower(blockHash)) {
      throw new Error(`the node gave a receipt of another transaction or block for ${hashes[place]}`);
    }
    return receipt;
  });
}

/** Null if the node cannot do it; one that fails altogether will also fail to give single receipts. */
async function atOnce(call: RpcCall, blockHash: Hex): Promise<unknown[] | null> {
  try {
    const answer = await call('eth_getBlockReceipts', [blockHash]);
    return Array.isArray(answer) ? answer : null;
  } catch (error) {
    if (isNotNow(error)) throw error;
    return null;
  }
}

async function oneByOne(call: RpcCall, hashes: string[]): Promise<unknown[]> {
  if (hashes.length > mostSingleCalls) {
    throw new Unsuitable(`the node gives receipts one by one, and the block has ${hashes.length}`);
  }
  const receipts: unknown[] = [];
  while (receipts.length < hashes.length) {
    const next = hashes.slice(receipts.length, receipts.length + callsAtOnce);
    receipts.push(...(await Promise.all(next.map((hash) => call('eth_getTransactionReceipt', [hash])))));
  }
  return receipts;
}

const depositType = '7e';

/** Also the types of Arbitrum (0x64 to 0x6a, 0x78), whose receipts have the same four fields. */
function encodeReceipt(receipt: Fields): Hex {
  /** Empty for the oldest form, which has none. */
  const type = quantity(receipt.type ?? '0x0', 'type of a receipt').slice(2);
  if (!/^([0-7].)?$/.test(type)) throw new Unsuitable(`a receipt has the type 0x${type}`);
  const encoded = toRlp([
    quantity(receipt.status, 'status of a receipt'),
    quantity(receipt.cumulativeGasUsed, 'cumulativeGasUsed of a receipt'),
    data(receipt.logsBloom, 'logsBloom of a receipt'),
    list(receipt.logs, 'logs of a receipt').map(logItems),
    ...(type === depositType ? depositItems(receipt) : []),
  ]);
  return `0x${type}${encoded.slice(2)}`;
}

/** Deposits of the OP Stack. Before its Canyon upgrade, the nonce was in the answer but not in the trie. */
function depositItems({ depositNonce, depositReceiptVersion }: Fields): Hex[] {
  if (!isPresent(depositReceiptVersion)) return [];
  return [
    quantity(depositNonce, 'depositNonce of a receipt'),
    quantity(depositReceiptVersion, 'depositReceiptVersion of a receipt'),
  ];
}

function logItems(log: unknown): [Hex, Hex[], Hex] {
  if (!isObject(log)) throw new Unsuitable('a log of a receipt is not usable');
  const topics = list(log.topics, 'topics of a log').map((topic) => data(topic, 'topic of a log'));
  return [data(log.address, 'address of a log'), topics, data(log.data, 'data of a log')];
}

/**
 * The nodes from the root of the receipt trie to one receipt. If all receipts do not give the block's root, all but the
 * last may: some blocks of Polygon end with a receipt for messages from Ethereum, which is not in the trie.
 */
function pathIn(receipts: Hex[], index: number, root: string): Hex[] {
  for (const counted of [receipts, receipts.slice(0, -1)]) {
    if (index >= counted.length) break;
    const nodes = trieNodes(counted, index);
    if (nodes[0] !== undefined && keccak256(nodes[0]) === root) return nodes;
  }
  throw new Unsuitable('the receipts do not lead to the receipts root of the header');
}

interface Entry {
  /** The key's nibbles as hex digits. */
  key: string;
  value: Hex;
}

/** Builds the trie of values by the RLP of their index. No node is shorter than 32 bytes, see `proof/evm/trie.ts`. */
function trieNodes(values: Hex[], wanted: number): Hex[] {
  const keyOf = (index: number) => toRlp(quantity(numberToHex(index), 'index')).slice(2);
  const entries = values.map((value, index): Entry => ({ key: keyOf(index), value }));
  const wantedKey = keyOf(wanted);
  const nodes: Hex[] = [];

  /** The hash of the node above all of `group`, whose keys have the first `depth` nibbles in common. */
  function hashOf(group: [Entry, ...Entry[]], depth: number): Hex {
    const [first] = group;
    const node = toRlp(nodeItems(group, depth));
    if (wantedKey.startsWith(first.key.slice(0, depth))) nodes.unshift(node);
    return keccak256(node);
  }

  function nodeItems(group: [Entry, ...Entry[]], depth: number): Hex[] {
    const [first, ...others] = group;
    if (others.length === 0) return [hexPrefix(first.key.slice(depth), { isLeaf: true }), first.value];
    let end = depth;
    while (others.every(({ key }) => key[end] === first.key[end])) end += 1;
    if (end > depth) return [hexPrefix(first.key.slice(depth, end), { isLeaf: false }), hashOf(group, end)];
    const children = Map.groupBy(group, ({ key }) => key[depth]);
    const hashes = [...'0123456789abcdef'].map((nibble): Hex => {
      const child = children.get(nibble) as [Entry, ...Entry[]] | undefined;
      return child ? hashOf(child, depth + 1) : '0x';
    });
    return [...hashes, '0x'];
  }

  hashOf(entries as [Entry, ...Entry[]], 0);
  return nodes;
}

/** The Yellow Paper, appendix C. */
function hexPrefix(path: string, { isLeaf }: { isLeaf: boolean }): Hex {
  const flags = (isLeaf ? 2 : 0) + (path.length % 2);
  return `0x${flags}${path.length % 2 === 1 ? '' : '0'}${path}`;
}

/** A number as the bytes of RLP: without leading zeros, and nothing for zero. */
function quantity(value: unknown, name: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw missing(name);
  const digits = value.slice(2).replace(/^0+/, '').toLowerCase();
  return `0x${digits.length % 2 === 1 ? '0' : ''}${digits}`;
}

function data(value: unknown, name: string): Hex {
  if (typeof value !== 'string' || value.length % 2 === 1 || !/^0x[0-9a-f]*$/i.test(value)) {
    throw missing(name);
  }
  return value as Hex;
}

function list(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw missing(name);
  return value;
}

function missing(name: string): Unsuitable {
  return new Unsuitable(`the node gives no usable ${name}`);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function lower(value: unknown): string {
  return String(value).toLowerCase();
}
