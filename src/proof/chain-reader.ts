/** The chain queries of the verifier; src/chain implements them over RPC, tests in memory. */
import type { Hex } from 'viem';

/**
 * Null means that the chain has no such thing. When the chain node cannot answer (it is unavailable, or has dropped that
 * part of its history), the method throws, and the step is skipped instead of failed. Hex is lower case.
 */
export interface ChainReader {
  chainId(): Promise<number>;
  /** Whether it is Holdfast's own embedded chain, whose operator can set the clock. */
  isEmbedded(): Promise<boolean>;
  /** Keccak-256 of the code at an address, as of a head no older than any reported before. */
  codeHash(address: Hex): Promise<Hex | null>;
  /** `anchors[submitter][root]` from the storage of a registry, also as of such a head. */
  storedAnchor(key: AnchorKey): Promise<StoredAnchor | null>;
  /** A mined transaction with the logs of registries in it; `blockNumber` is where the document says it is. */
  transaction(hash: Hex, blockNumber: number): Promise<AnchorTransaction | null>;
  /** The block that is currently at this height. */
  block(number: number): Promise<BlockHeader | null>;
  /** The newest block, and the newest block that is final by the rules of this chain. */
  finality(): Promise<{ head: number; finalized: number }>;
}

export interface AnchorKey {
  registry: Hex;
  submitter: Hex;
  root: Hex;
}

export interface StoredAnchor {
  /** Seconds since 1970; never 0. */
  time: number;
  size: number;
}

export interface AnchorTransaction {
  succeeded: boolean;
  blockNumber: number;
  blockHash: Hex;
  /** Its `Anchored` logs; `registry` is the contract that wrote the log. */
  anchored: (AnchorKey & { size: number })[];
}

export interface BlockHeader {
  number: number;
  hash: Hex;
  /** Seconds since 1970. */
  time: number;
}

/** The registry contract that counts: built in, or named by the person who verifies, never taken from a proof. */
export interface Registry {
  address: string;
  codeHash: string;
}
