/** What the verifier asks a chain; src/chain answers over RPC, tests from memory. */
import type { Hex } from 'viem';

/**
 * Null means that the chain has no such thing. What the node cannot tell (it is away, or has dropped that part of its
 * history) is thrown, and skips the step instead of failing it. Hex is lower case.
 */
export interface ChainReader {
  chainId(): Promise<number>;
  /** Whether it is the chain that Holdfast runs itself, whose operator can set the clock. */
  isEmbedded(): Promise<boolean>;
  /** Keccak-256 of the code at an address, as of a head that is none older than those told before. */
  codeHash(address: Hex): Promise<Hex | null>;
  /** `anchors[submitter][root]` from the storage of a registry, as of such a head too. */
  storedAnchor(key: AnchorKey): Promise<StoredAnchor | null>;
  /** A mined transaction, with what registries logged in it; `blockNumber` is where the document says that it is. */
  transaction(hash: Hex, blockNumber: number): Promise<AnchorTransaction | null>;
  /** The block that is now at this height of the chain. */
  block(number: number): Promise<BlockHeader | null>;
  /** The newest block, and the newest that counts as final by the rules for this chain. */
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

/** The contract that counts: built in, or named by whoever verifies, never taken from a proof. */
export interface Registry {
  address: string;
  codeHash: string;
}
