/**
 * How many nonces of the account are used for good, as the chain has it. Taken when a node begins to lead, while the nodes
 * of the chain still have that state: after a restore many may be lost, and none of them is looked for by itself.
 */
import { type Address, type Hex, numberToHex } from 'viem';
import type { Chain, Lead } from '../chain.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import { lastIndexedBlock, skipNonces } from './outgoing.store.ts';

export interface FinalCount {
  /** At the start of each round; does something in the first of a term. */
  begin(lead: Lead): Promise<void>;
  /**
   * Whether the nonce is used as of a final block that the indexer has passed: then it was by something that is not known
   * here, unless it is known to be mined.
   */
  includes(lead: Lead, nonce: number): Promise<boolean>;
}

interface Sample {
  number: number;
  hash: Hex;
  count: number;
}

export function createFinalCount(submitter: () => Promise<{ address: Address }>): FinalCount {
  let epoch: number | null = null;
  /** Waits until its block is final and indexed. */
  let sample: Sample | null = null;
  let known: { number: number; count: number } | null = null;

  async function take({ chain }: Lead): Promise<void> {
    const { address } = await submitter();
    const head = await chain.head();
    const finalNumber = await chain.finalizedNumber(head.number);
    if (known !== null && finalNumber <= known.number) return;
    const final = finalNumber < 0 ? null : await blockAt(chain, finalNumber);
    // A node that has dropped the state of that block has the head's: it counts once that block is final.
    sample = (final && (await countAt(chain, address, final))) ?? (await countAt(chain, address, head));
  }

  return {
    async begin(lead) {
      if (epoch === lead.term.epoch) return;
      sample = null;
      known = null;
      await take(lead);
      epoch = lead.term.epoch;
    },

    async includes(lead, nonce) {
      // What was counted before may be settled by now; where that is not enough, the chain is asked once more.
      for (let tries = 0; tries < 2; tries += 1) {
        if (known !== null && known.count > nonce) return true;
        if (sample === null) await take(lead);
        if (sample === null || !(await isSettled(lead, sample))) break;
        await settle(lead, sample);
      }
      return known !== null && known.count > nonce;
    },
  };

  async function settle({ chain, term }: Lead, { number, hash, count }: Sample): Promise<void> {
    sample = null;
    if ((await blockAt(chain, number))?.hash !== hash) return;
    known = { number, count };
    const { address } = await submitter();
    await term.commit((db) => skipNonces(db, address, count));
  }
}

/**
 * The indexer marks ours in the commit that stores their block. So what it has not marked up to a block that it has is
 * not in there, whatever some node says of receipts; and what is final is not brought back by a reorg.
 */
async function isSettled({ chain, term }: Lead, { number }: Sample): Promise<boolean> {
  const indexed = await term.commit(lastIndexedBlock);
  if (indexed === null || indexed < number) return false;
  return (await chain.finalizedNumber(indexed)) >= number;
}

async function blockAt({ client }: Chain, number: number): Promise<{ number: number; hash: Hex } | null> {
  const block = await client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), false],
  });
  return block?.hash ? { number, hash: block.hash } : null;
}

/** Null where the node does not have that state. */
async function countAt(
  { client }: Chain,
  address: Address,
  { number, hash }: { number: number; hash: Hex },
): Promise<Sample | null> {
  try {
    const asked = { method: 'eth_getTransactionCount', params: [address, { blockHash: hash }] };
    return { number, hash, count: Number(await client.request(asked as never)) };
  } catch (error) {
    if (rpcFaultOf(error)?.kind !== 'refused') throw error;
    return null;
  }
}
