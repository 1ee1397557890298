/**
 * Reads from a chain what the verifier needs, over any function that makes JSON-RPC calls: from Node.js, from a page
 * in a browser, or through a relay. Uses no Node.js API, and rejects malformed answers.
 */
import type { Hex } from 'viem';
import type { Finality } from '../../proof/evm/known-chains.ts';
// Not the functions for ABIs: a web page carries this file.
import { fromHex, toHex } from '../../proof/hex.ts';
import { plainKeccak } from '../../proof/keccak.ts';
import { finalByDepth } from '../rules/finality.ts';
import type { RpcCall } from '../rules/rpc-call.ts';

/** A verification usually takes less. Nodes keep the state at a block hash for 128 blocks: seconds on some rollups. */
const headHoldsMs = 2_000;

/** Implements the ChainReader of `proof/`, whose comments explain each answer. */
export function createAnchorReader(call: RpcCall) {
  const chainId = async () => quantity(await call('eth_chainId', []), 'chain id');

  async function header(tag: string): Promise<Header | null> {
    const found = await call('eth_getBlockByNumber', [tag, false]);
    return found === null ? null : toHeader(found);
  }

  /** The highest head reported so far, and the time of the last report. */
  let highest: { number: number; hash: Hex } | null = null;
  let toldAt = Number.NEGATIVE_INFINITY;

  async function head(): Promise<{ number: number; hash: Hex }> {
    const latest = await header('latest');
    if (latest === null) throw new Error('the node has no block at all');
    if (highest === null || latest.number >= highest.number) highest = latest;
    toldAt = performance.now();
    return highest;
  }

  /**
   * Reads state as of the head's hash. One address may serve several nodes: a lagging node knows neither the head's hash
   * nor the anchor, and so must return an error; asked for its `latest`, it would answer that there is no such anchor. A
   * slightly older head is good enough to show that something exists, but not that it is missing.
   */
  async function atHead<Answer>(ask: (at: { blockHash: Hex }) => Promise<Answer | null>) {
    const held = highest !== null && performance.now() - toldAt < headHoldsMs ? highest : null;
    // A reorg may have removed that block meanwhile.
    const found = held && (await ask({ blockHash: held.hash }).catch(() => null));
    if (found) return found;
    try {
      return await ask({ blockHash: (await head()).hash });
    } catch (error) {
      // The node lags, or the chain became shorter: the next call starts from the head that the node then reports.
      highest = null;
      throw error;
    }
  }

  /** Throws when the node lacks a block below its own head: the node has pruned it, but the chain has it. */
  async function blockOrDropped(number: number): Promise<Header | null> {
    const found = await header(hexNumber(number));
    if (found !== null || number > (await head()).number) return found;
    throw new Error(`the node no longer has block ${number}`);
  }

  return {
    chainId,

    async isDevelopmentNode(): Promise<boolean> {
      const name = await call('web3_clientVersion', []);
      if (typeof name !== 'string' || name === '')
        throw new Error('the node does not say which program it is');
      return /anvil|hardhat|ganache|testrpc/i.test(name);
    },

    async genesisHash(): Promise<Hex> {
      const first = await header('0x0');
      if (first === null) throw new Error('the node does not have block 0');
      return first.hash;
    },

    codeHash: (address: Hex): Promise<Hex | null> =>
      atHead(async (at) => {
        const code = hex(await call('eth_getCode', [address, at]), 'code');
        return code === '0x' ? null : toHex(plainKeccak(fromHex(code)));
      }),

    async transaction(hash: Hex) {
      const receipt = await call('eth_getTransactionReceipt', [hash]);
      return receipt === null ? null : toTransaction(receipt, hash);
    },

    async block(number: number) {
      const found = await blockOrDropped(number);
      return (
        found && { ...found, transactions: found.transactions.map((one) => hash32(one, 'transaction hash')) }
      );
    },

    async finalBlock(rule: Finality): Promise<number> {
      if (rule !== 'finalized') return finalByDepth((await head()).number, rule);
      const final = await header('finalized');
      if (final === null) throw new Error('the node does not say which block is final');
      return final.number;
    },
  };
}

interface AnchoredLog {
  registry: Hex;
  submitter: Hex;
  root: Hex;
  size: number;
}

interface Header {
  number: number;
  hash: Hex;
  time: number;
  transactions: unknown[];
}

const anchoredTopic = toHex(plainKeccak(new TextEncoder().encode('Anchored(address,bytes32,uint64)')));
/** Before an address in a topic. */
const padding = `0x${'00'.repeat(12)}`;

function toHeader(answer: unknown): Header {
  const { number, hash, timestamp, transactions } = object(answer, 'block');
  return {
    number: quantity(number, 'block number'),
    hash: hash32(hash, 'block hash'),
    time: quantity(timestamp, 'block time'),
    transactions: list(transactions, 'transactions of a block'),
  };
}

function toTransaction(answer: unknown, wanted: Hex) {
  const { transactionHash, status, blockNumber, blockHash, logs } = object(answer, 'receipt');
  if (hash32(transactionHash, 'transaction hash') !== wanted) throw badForm('receipt');
  return {
    succeeded: quantity(status, 'status of a transaction') === 1,
    blockNumber: quantity(blockNumber, 'block number'),
    blockHash: hash32(blockHash, 'block hash'),
    anchored: list(logs, 'logs').flatMap(toAnchored),
  };
}

/** Accepts events of any contract; skips those that are not `Anchored`, or that have other fields under that name. */
function toAnchored(answer: unknown): AnchoredLog[] {
  const { address, topics, data } = object(answer, 'log');
  const [topic, submitter, root, ...more] = list(topics, 'topics').map((one) => hash32(one, 'topic'));
  const size = hex(data, 'data of a log');
  const registry = hex(address, 'address');
  if (topic !== anchoredTopic || !submitter?.startsWith(padding) || root === undefined) return [];
  if (more.length > 0 || size.length !== 66) return [];
  const sender: Hex = `0x${submitter.slice(padding.length)}`;
  return [{ registry, submitter: sender, root, size: Number(size) }];
}

function hexNumber(value: number): Hex {
  return `0x${value.toString(16)}`;
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw badForm(what);
  return value as Record<string, unknown>;
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw badForm(what);
  return value;
}

function hex(value: unknown, what: string): Hex {
  if (typeof value !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(value)) throw badForm(what);
  return value.toLowerCase() as Hex;
}

function hash32(value: unknown, what: string): Hex {
  const text = hex(value, what);
  if (text.length !== 66) throw badForm(what);
  return text;
}

function quantity(value: unknown, what: string): number {
  const number =
    typeof value === 'string' && /^0x[0-9a-fA-F]{1,14}$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw badForm(what);
  return number;
}

function badForm(what: string): Error {
  return new Error(`the node gave a ${what} that is none`);
}
