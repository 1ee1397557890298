/** The chain queries of the verifier; src/chain implements them over RPC, tests in memory. */
import type { Hex } from 'viem';
import type { Finality } from '../evm/known-chains.ts';

/**
 * Null means that the chain has no such thing. When the chain node cannot answer (it is unavailable, or has dropped that
 * part of its history), the method throws, and the step is skipped instead of failed. Hex is lower case.
 */
export interface ChainReader {
  chainId(): Promise<number>;
  /** The hash of block 0, which tells chains of the same id apart. */
  genesisHash(): Promise<Hex>;
  /** Whether its program is one for development, which can imitate a public chain. */
  isDevelopmentNode(): Promise<boolean>;
  /** The block that is currently at this height. */
  block(number: number): Promise<BlockHeader | null>;
  /** The newest block that is final by this rule; below 0 if there is none. */
  finalBlock(rule: Finality): Promise<number>;
  /** Keccak-256 of the code at an address, as of a head no older than any reported before. */
  codeHash(address: Hex): Promise<Hex | null>;
  /** A mined transaction with the logs of registries in it. */
  transaction(hash: Hex): Promise<AnchorTransaction | null>;
}

export interface AnchorTransaction {
  succeeded: boolean;
  blockNumber: number;
  blockHash: Hex;
  /** Its `Anchored` logs; `registry` is the contract that wrote the log. */
  anchored: { registry: Hex; submitter: Hex; root: Hex; size: number }[];
}

export interface BlockHeader {
  number: number;
  hash: Hex;
  /** Seconds since 1970. */
  time: number;
  /** Hashes of its transactions, in order. */
  transactions: Hex[];
}

/** The registry contract that counts: built in, or named by the person who verifies, never taken from a proof. */
export interface Registry {
  address: string;
  codeHash: string;
}
