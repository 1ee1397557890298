/** Reads blocks from a node for the indexer: several at once, and keeps only what the indexer needs. */
import type { Hex, PublicClient } from 'viem';
import { getContractAddress, hexToBigInt, hexToNumber, numberToHex } from 'viem/utils';

export interface BlockHeader {
  number: number;
  hash: Hex;
  parentHash: Hex;
  timeSeconds: number;
}

export interface Block extends BlockHeader {
  transactions: BlockTransaction[];
}

export interface BlockTransaction {
  hash: Hex;
  index: number;
  /** Lower case, like `to`. */
  from: Hex;
  /** For a contract creation, the created contract. */
  to: Hex;
  value: Hex;
}

/** Concurrent requests, one per block; more would only queue up at the node. */
const inFlight = 8;

/** Blocks `from` to `to`, both inclusive; null if the node lacks one of them. */
export async function readBlocks(
  client: PublicClient,
  { from, to }: { from: number; to: number },
): Promise<Block[] | null> {
  const blocks = new Array<Block>(to - from + 1);
  let next = from;
  let missing = false;
  async function readOn(): Promise<void> {
    while (next <= to && !missing) {
      const number = next;
      next += 1;
      const block = await request(client, number, true);
      if (block === null) missing = true;
      else blocks[number - from] = toBlock(block);
    }
  }
  await Promise.all(Array.from({ length: Math.min(inFlight, blocks.length) }, readOn));
  return missing ? null : blocks;
}

/** The hash of a block; null if the node does not have it. */
export async function readHash(client: PublicClient, number: number): Promise<Hex | null> {
  return (await request(client, number, false))?.hash ?? null;
}

/** A block without its transactions; null if the node does not have it. */
export async function readHeader(client: PublicClient, number: number): Promise<BlockHeader | null> {
  const block = await request(client, number, false);
  return block && toHeader(block);
}

/** Whether each block's parent hash is the hash of the block before it, and the first one's is `parent`, if given. */
export function areLinked(blocks: readonly Block[], parent: Hex | null): boolean {
  return blocks.every(({ parentHash }, position) => {
    const before = position === 0 ? parent : blocks[position - 1]?.hash;
    return before === null || before === parentHash;
  });
}

interface RpcBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  transactions: RpcTransaction[];
}

interface RpcTransaction {
  hash: Hex;
  transactionIndex: Hex;
  from: Hex;
  to: Hex | null;
  nonce: Hex;
  value: Hex;
}

/** Bypasses viem's formatting, which converts a dozen fields of each transaction to big integers. */
async function request(client: PublicClient, number: number, whole: boolean): Promise<RpcBlock | null> {
  const block = await client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), whole],
  });
  return block as RpcBlock | null;
}

function toHeader({ number, hash, parentHash, timestamp }: RpcBlock): BlockHeader {
  return { number: hexToNumber(number), hash, parentHash, timeSeconds: hexToNumber(timestamp) };
}

function toBlock(block: RpcBlock): Block {
  return { ...toHeader(block), transactions: block.transactions.map(toTransaction) };
}

function toTransaction(transaction: RpcTransaction): BlockTransaction {
  const { hash, transactionIndex, from, to, nonce, value } = transaction;
  return {
    hash,
    index: hexToNumber(transactionIndex),
    from: lower(from),
    to: lower(to ?? getContractAddress({ from, nonce: hexToBigInt(nonce) })),
    value,
  };
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
