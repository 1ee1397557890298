/** Replays the journal's blocks, each with its time and raw transactions, and requires equal hashes. */
import { isRetryable, rpcFaultOf } from '../rpc/json-rpc.ts';
import type { AnvilRpc, NodeBlock } from './anvil-rpc.ts';
import type { Journal, JournalBlock } from './journal.ts';

/** The node's result differs from the journal. */
export class Mismatch extends Error {
  override name = 'Mismatch';
}

const pageSize = 500;

/** Replays from the node's head to the end of the journal, and returns the last block. */
export async function replay(rpc: AnvilRpc, start: JournalBlock, journal: Journal): Promise<JournalBlock> {
  // The node's clock begins at its start time, and the node does not mine blocks with an earlier time.
  await rpc.setTime(start.timestampSeconds);
  let head = start;
  for (;;) {
    const page = await journal.after(head.number, pageSize);
    for (const block of page) {
      if (block.number !== head.number + 1 || block.parentHash !== head.hash) {
        throw new Mismatch(`block ${block.number} does not follow block ${head.number}`);
      }
      const mined = await mineAgain(rpc, block);
      if (mined.hash !== block.hash) {
        throw new Mismatch(`block ${block.number} should have the hash ${block.hash}, but has ${mined.hash}`);
      }
      head = block;
    }
    if (page.length < pageSize) return head;
  }
}

async function mineAgain(rpc: AnvilRpc, block: JournalBlock): Promise<NodeBlock> {
  try {
    for (const raw of block.transactions) await rpc.send(raw);
    return await rpc.mine(block.timestampSeconds);
  } catch (error) {
    const fault = rpcFaultOf(error);
    if (!fault || isRetryable(fault)) throw error;
    throw new Mismatch(`block ${block.number} is refused: ${fault.message}`);
  }
}
