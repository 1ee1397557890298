/** The chain, embedded or not, as the leader's loops see it. */
import type { Address, Hex, PublicClient } from 'viem';
import type { Term } from '../db/leadership.ts';

export interface BlockRef {
  number: number;
  hash: Hex;
}

export interface Chain {
  chainId: number;
  genesisHash: Hex;
  /** Development evidence only: its operator can set the clock. */
  embedded: boolean;
  registry: Address;
  /** Number of blocks, including its own, after which a transaction counts as confirmed. */
  confirmations: number;
  client: PublicClient;
  /** The newest block that counts: on the embedded chain, the newest in the journal, not the node's. */
  head(): Promise<BlockRef>;
  /** Reports that the node's blocks contradict each other or the known blocks; other nodes, if any, are then tried first. */
  doubt(): void;
  /** The newest block that counts as final, given the head; -1 while there is none. */
  finalizedNumber(headNumber: number): Promise<number>;
  /** Reports that a transaction was sent, so that the embedded chain mines it without delay. */
  wake(): void;
}

/** What a loop needs while this node leads. */
export interface Lead {
  term: Term;
  chain: Chain;
}
