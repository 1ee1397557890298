/** The calls to anvil that the supervisor makes. */
import { type Hex, hexToNumber } from 'viem';
import type { JsonRpc } from '../rpc/json-rpc.ts';
import type { BlockRef } from './journal.ts';

export interface NodeBlock extends BlockRef {
  parentHash: Hex;
  timestampSeconds: number;
  transactions: NodeTransaction[];
}

export interface NodeTransaction {
  hash: Hex;
  from: Hex;
  type: Hex;
}

export interface AnvilRpc {
  chainId(): Promise<number>;
  version(): Promise<string>;
  /** Without its transactions. */
  block(number: number | 'latest'): Promise<NodeBlock | null>;
  /** Transactions in the pool that could be mined now. */
  poolSize(): Promise<number>;
  send(raw: Hex): Promise<void>;
  /** Whether the pool or a block has it. */
  hasTransaction(hash: Hex): Promise<boolean>;
  rawTransaction(hash: Hex): Promise<Hex | null>;
  /** Mines the pool into one block with exactly this time, and returns the block. */
  mine(timestampSeconds: number): Promise<NodeBlock>;
  /** Sets the node's clock, forward or back: the node does not mine blocks with a time before its clock. */
  setTime(timestampSeconds: number): Promise<void>;
  /** Gzipped JSON. */
  dumpState(): Promise<Buffer>;
}

export function createAnvilRpc(rpc: JsonRpc, url: string): AnvilRpc {
  const call = <T>(method: string, ...params: unknown[]): Promise<T> => rpc.call<T>(url, method, params);
  return {
    chainId: async () => hexToNumber(await call<Hex>('eth_chainId')),
    version: () => call('web3_clientVersion'),
    async block(number) {
      const which = number === 'latest' ? number : (`0x${number.toString(16)}` as const);
      const block = await call<RawBlock | null>('eth_getBlockByNumber', which, false);
      return block && { ...readHeader(block), transactions: [] };
    },
    poolSize: async () => hexToNumber((await call<{ pending: Hex }>('txpool_status')).pending),
    send: async (raw) => void (await call('eth_sendRawTransaction', raw)),
    hasTransaction: async (hash) => (await call('eth_getTransactionByHash', hash)) !== null,
    rawTransaction: (hash) => call('eth_getRawTransactionByHash', hash),
    async mine(timestampSeconds) {
      // The same as evm_setNextBlockTimestamp, evm_mine and eth_getBlockByNumber, with nothing in between.
      const [block] = await call<RawBlock[]>('evm_mine_detailed', { timestamp: timestampSeconds });
      if (!block) throw new Error('anvil mined no block');
      return { ...readHeader(block), transactions: block.transactions };
    },
    setTime: async (timestampSeconds) => void (await call('evm_setTime', timestampSeconds)),
    dumpState: async () => Buffer.from((await call<Hex>('anvil_dumpState')).slice(2), 'hex'),
  };
}

interface RawBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  transactions: NodeTransaction[];
}

function readHeader({ number, hash, parentHash, timestamp }: RawBlock): Omit<NodeBlock, 'transactions'> {
  return { number: hexToNumber(number), hash, parentHash, timestampSeconds: hexToNumber(timestamp) };
}
