/**
 * Counts the account's nonces that are finally used, according to the chain. Read when a node begins to lead, while the
 * chain's nodes still have that state: after a restore many nonces may be lost, and they are not searched for one by one.
 */
import { type Address, type Hex, numberToHex } from 'viem';
import type { Db } from '../../db/database.ts';
import type { Chain, Lead } from '../chain.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import { lastIndexedBlock, skipNonces } from './outgoing.store.ts';

export interface FinalCount {
  /** Called at the start of each round; takes effect only in the first round of a term. */
  begin(lead: Lead): Promise<void>;
  /**
   * Whether the nonce is used as of a final block that the indexer has passed: then an unknown transaction used it, unless
   * ours is known to be mined.
   */
  includes(lead: Lead, nonce: number): Promise<boolean>;
}

interface Sample {
  number: number;
  hash: Hex;
  count: number;
}

export interface FinalCountDeps {
  submitter(): Promise<{ address: Address }>;
  /** Runs in the commit that finds nonces used by unknown transactions. */
  onLostNonces(db: Db): Promise<unknown>;
}

export function createFinalCount({ submitter, onLostNonces }: FinalCountDeps): FinalCount {
  let epoch: number | null = null;
  /** Not used until its block is final and indexed. */
  let sample: Sample | null = null;
  let known: { number: number; count: number } | null = null;

  async function take({ chain }: Lead): Promise<void> {
    const { address } = await submitter();
    const head = await chain.head();
    const finalNumber = await chain.finalizedNumber(head.number);
    if (known !== null && finalNumber <= known.number) return;
    const final = finalNumber < 0 ? null : await blockAt(chain, finalNumber);
    // A node that has pruned the final block's state still has the head's, which counts once the head is final.
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
      // The earlier sample may be settled by now; if its count is too low, the second try takes a new sample.
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
    await term.commit(async (db) => {
      if (await skipNonces(db, address, count)) await onLostNonces(db);
    });
  }
}

/**
 * The indexer marks our transactions in the commit that stores their block. So a transaction that is not marked is in no
 * block up to the last indexed one, whatever a node's receipts say; and no reorg changes that for final blocks.
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

/** Null if the node does not have that state. */
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
