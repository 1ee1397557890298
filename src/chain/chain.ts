/** The chain as the loops that lead on it see it, embedded or not. */
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
  /** Blocks, its own included, after which a transaction counts as confirmed. */
  confirmations: number;
  client: PublicClient;
  /** The newest block that counts: of the embedded chain the newest that its journal has, not the node's. */
  head(): Promise<BlockRef>;
  /** Says that the node's blocks do not fit together, or not to those known: where there are others, they are asked first. */
  doubt(): void;
  /** The newest block that counts as final, given the head; -1 while there is none. */
  finalizedNumber(headNumber: number): Promise<number>;
  /** Says that a transaction was sent, so that the embedded chain mines it without delay. */
  wake(): void;
}

/** What a loop needs while this node leads. */
export interface Lead {
  term: Term;
  chain: Chain;
}
