/**
 * Finds where a root was first anchored. The registry logs each root of a submitter once; a transaction that repeats it
 * succeeds but logs nothing, and a proof that names the repeat fails. This happens after a restore, and after a failover
 * that lost a signature: only the chain knows what was sent then.
 */
import type { Address, Hex } from 'viem';
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  hexToNumber,
  numberToHex,
} from 'viem/utils';
import type { Chain } from '../chain.ts';
import { registryAbi } from '../registry/registry.ts';
import { type BlockHeader, readHash, readHeader } from './blocks.ts';

/** A successful transaction of ours to the registry, in a block of the branch that is being stored. */
export interface AnchorTransaction {
  hash: Hex;
  from: Hex;
  block: { number: number; hash: Hex };
}

export interface FirstAnchor {
  hash: Hex;
  index: number;
  block: BlockHeader;
}

/** A log of a receipt. */
export interface Log {
  address: Hex;
  topics: readonly Hex[];
}

/** Whether these logs of a transaction contain an anchor by this sender, logged by the registry. */
export function hasAnchored(logs: readonly Log[], { registry }: Chain, from: Hex): boolean {
  const [event, submitter] = encodeEventTopics({
    abi: registryAbi,
    eventName: 'Anchored',
    args: { submitter: from },
  });
  return logs.some(
    ({ address, topics }) =>
      address.toLowerCase() === registry.toLowerCase() && topics[0] === event && topics[1] === submitter,
  );
}

/**
 * The first log of the root that this transaction repeated; `none` if the transaction does not call `anchor`. Null if the
 * node cannot tell, or has left the branch meanwhile, so that its answers are inconsistent.
 */
export async function findFirstAnchor(
  chain: Chain,
  transaction: AnchorTransaction,
): Promise<FirstAnchor | 'none' | null> {
  const { client } = chain;
  const sent = await client.request({ method: 'eth_getTransactionByHash', params: [transaction.hash] });
  if (sent === null) return null;
  const root = rootOf(sent.input);
  if (root === null) return 'none';
  const anchoredAt = await readTime(chain, transaction.from, root);
  if (anchoredAt === null) return null;
  const range = await blocksOfTime(chain, { seconds: anchoredAt, until: transaction.block.number });
  const logs = await client.request({
    method: 'eth_getLogs',
    params: [
      {
        address: chain.registry,
        topics: encodeEventTopics({
          abi: registryAbi,
          eventName: 'Anchored',
          args: { submitter: transaction.from, root },
        }) as Hex[],
        fromBlock: numberToHex(range.from),
        toBlock: numberToHex(range.to),
      },
    ],
  });
  const [log] = logs;
  if (!log?.blockNumber || !log.transactionHash || !log.transactionIndex) return null;
  const block = await readHeader(client, hexToNumber(log.blockNumber));
  if (block === null || block.hash !== log.blockHash) return null;
  // Blocks are linked: while the node has our block, everything below it is on our branch too.
  if ((await readHash(client, transaction.block.number)) !== transaction.block.hash) return null;
  return { hash: log.transactionHash, index: hexToNumber(log.transactionIndex), block };
}

function rootOf(data: Hex): Hex | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: registryAbi, data });
    return functionName === 'anchor' ? args[0] : null;
  } catch {
    return null;
  }
}

/** When the root was first anchored, in seconds; null if the node does not know it. */
async function readTime({ client, registry }: Chain, submitter: Address, root: Hex): Promise<number | null> {
  const data = encodeFunctionData({ abi: registryAbi, functionName: 'anchors', args: [submitter, root] });
  const answer = await client.request({ method: 'eth_call', params: [{ to: registry, data }, 'latest'] });
  const [time] = decodeFunctionResult({ abi: registryAbi, functionName: 'anchors', data: answer });
  return time === 0n ? null : Number(time);
}

/** Block times never decrease, so a binary search over about two dozen headers finds the blocks of a given time. */
async function blocksOfTime(
  { client }: Chain,
  { seconds, until }: { seconds: number; until: number },
): Promise<{ from: number; to: number }> {
  /** The first block at or after that time, at most `until`. A block that the node has pruned counts as earlier. */
  async function firstFrom(time: number): Promise<number> {
    let [from, to] = [0, until];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const block = await readHeader(client, middle);
      if (block === null || block.timeSeconds < time) from = middle + 1;
      else to = middle;
    }
    return from;
  }
  const from = await firstFrom(seconds);
  const after = await firstFrom(seconds + 1);
  const last = (await readHeader(client, after))?.timeSeconds === seconds ? after : after - 1;
  return { from, to: Math.max(from, last) };
}
