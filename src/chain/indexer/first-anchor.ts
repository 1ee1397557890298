/**
 * Where a root was anchored first. The registry logs a root of a submitter once; a transaction that repeats it succeeds
 * and logs nothing, and a proof that names that one fails. It happens after a restore, and after a failover that lost a
 * signature: what was sent then is known to the chain alone.
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

/** A transaction of ours to the registry that succeeded, in a block of the branch that is being stored. */
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

/** As a receipt has it. */
export interface Log {
  address: Hex;
  topics: readonly Hex[];
}

/** Whether the registry logged an anchor of this sender in the transaction with these logs. */
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
 * The first log of the root that this transaction repeated; `none` when it is no call that anchors. Null when the node
 * cannot tell, or has left the branch meanwhile: its answers do not belong together.
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
  // Blocks are linked: while the node has ours, what lies below it is of our branch too.
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

/** When the registry first saw the root, in seconds; null where the node has not heard of it. */
async function readTime({ client, registry }: Chain, submitter: Address, root: Hex): Promise<number | null> {
  const data = encodeFunctionData({ abi: registryAbi, functionName: 'anchors', args: [submitter, root] });
  const answer = await client.request({ method: 'eth_call', params: [{ to: registry, data }, 'latest'] });
  const [time] = decodeFunctionResult({ abi: registryAbi, functionName: 'anchors', data: answer });
  return time === 0n ? null : Number(time);
}

/** Times of blocks never fall, so two dozen headers lead to those of a time, however long the chain is. */
async function blocksOfTime(
  { client }: Chain,
  { seconds, until }: { seconds: number; until: number },
): Promise<{ from: number; to: number }> {
  /** The first block of that time or later, at most `until`. A block that the node has dropped counts as earlier. */
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
