/** A node that has blocks in memory and gives them as fast as it can: what following a chain costs without the chain. */
import { startChild } from './child.ts';

export interface BlockNode {
  pid: number;
  url: string;
  chainId: number;
  genesisHash: `0x${string}`;
  head: { number: number; hash: `0x${string}` };
  stop(): Promise<void>;
}

export interface BlockPlan {
  blocks: number;
  transactionsPerBlock: number;
  /** Every so many transactions one goes to the next of these. */
  vaults: string[];
  every: number;
}

export async function startBlockNode(plan: BlockPlan): Promise<BlockNode> {
  const child = startChild<BlockPlan, Omit<BlockNode, 'pid' | 'stop'>>(
    new URL('./block-node.process.ts', import.meta.url),
  );
  try {
    return { ...(await child.ask(plan, 120_000)), pid: child.pid, stop: child.stop };
  } catch (error) {
    await child.stop();
    throw error;
  }
}
