/** What the service asks the engine, and what the engine answers. The engine is a process of its own without any data. */
import type { Hex } from 'viem';

/** A block as far as its execution needs it. */
export interface ParentBlock {
  number: number;
  hash: Hex;
  timestampSeconds: number;
  gasUsed: number;
  baseFeeWei: bigint;
  /** Root of the state after it. The header of block 0 has another root: see genesis-block.ts. */
  stateRoot: Hex;
}

/** Without anything else, which would be copied into the engine's process. */
export function parentOf(block: ParentBlock): ParentBlock {
  const { number, hash, timestampSeconds, gasUsed, baseFeeWei, stateRoot } = block;
  return { number, hash, timestampSeconds, gasUsed, baseFeeWei, stateRoot };
}

/** The parts of a header that execution determines. */
export interface BlockResult {
  number: number;
  hash: Hex;
  parentHash: Hex;
  timestampSeconds: number;
  gasUsed: number;
  baseFeeWei: bigint;
  stateRoot: Hex;
  transactionsRoot: Hex;
  receiptsRoot: Hex;
  transactions: MinedTransaction[];
  changes: StateChanges;
}

export interface MinedTransaction {
  hash: Hex;
  raw: Hex;
  receipt: StoredReceipt;
}

/** What cannot be read from the transaction itself. */
export interface StoredReceipt {
  from: Hex;
  succeeded: boolean;
  gasUsed: number;
  logs: StoredLog[];
}

export interface StoredLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
}

/** Nodes and code by their key: see node-keys.ts. */
export interface StateChanges {
  /** What the state after the block has; the one before it may have it, too, if it is code of a contract. */
  added: [key: Uint8Array, value: Uint8Array][];
  /** What the state before the block has, and the one after it no longer. */
  replaced: Uint8Array[];
}

export interface BlockTemplate {
  parent: ParentBlock;
  timestampSeconds: number;
  /** Raw and signed, in the order in which they are tried. */
  transactions: Hex[];
  /** A block that already exists: every transaction must be in it, whatever its gas limit, and there is no time limit. */
  exact: boolean;
}

export interface BuiltBlock {
  block: BlockResult;
  /** Transactions that can never be in a block on this state, with the reason. */
  dropped: { hash: Hex; reason: string }[];
}

/** A transaction that was decoded and whose signature is valid. */
export interface CheckedTransaction {
  hash: Hex;
  from: Hex;
  nonce: number;
  gasLimit: number;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
  /** The most that it can take from its sender: value, and gas at the highest fee. */
  costWei: bigint;
  account: { nonce: number; balanceWei: bigint };
}

export interface CallRequest {
  from?: Hex | undefined;
  to?: Hex | undefined;
  data?: Hex | undefined;
  valueWei?: bigint | undefined;
  gas?: number | undefined;
  gasPriceWei?: bigint | undefined;
  accessList?: { address: Hex; storageKeys: Hex[] }[] | undefined;
}

/** On the state after this block. */
export interface CallTemplate {
  at: ParentBlock;
  call: CallRequest;
}

export interface CallAnswer {
  /** Null if it succeeded. */
  failure: { reverted: boolean; reason: string } | null;
  data: Hex;
  gasUsed: number;
  accessList: { address: Hex; storageKeys: Hex[] }[];
}

export interface AccountAnswer {
  balanceWei: bigint;
  nonce: number;
  storageRoot: Hex;
  codeHash: Hex;
  exists: boolean;
}

export interface ProofAnswer extends AccountAnswer {
  accountProof: Hex[];
  storageProof: { key: Hex; value: Hex; proof: Hex[] }[];
}

/** The requests by name: arguments and answer. */
export interface EngineRequests {
  genesis: { arguments: { genesis: string }; answer: BlockResult };
  build: { arguments: BlockTemplate; answer: BuiltBlock };
  check: { arguments: { raw: Hex; stateRoot: Hex }; answer: CheckedTransaction };
  call: { arguments: CallTemplate; answer: CallAnswer };
  estimate: { arguments: CallTemplate; answer: CallAnswer };
  account: { arguments: { stateRoot: Hex; address: Hex }; answer: AccountAnswer };
  code: { arguments: { stateRoot: Hex; address: Hex }; answer: Hex };
  storage: { arguments: { stateRoot: Hex; address: Hex; slot: Hex }; answer: Hex };
  proof: { arguments: { stateRoot: Hex; address: Hex; slots: Hex[] }; answer: ProofAnswer };
}

export type EngineMethod = keyof EngineRequests;

/**
 * - `invalid`: the request itself is at fault, such as a transaction with a bad signature
 * - `missing`: the state lacks a node
 * - `internal`: anything else
 */
export type EngineErrorKind = 'invalid' | 'missing' | 'internal';

export type ToEngine =
  | {
      kind: 'request';
      id: number;
      chainId: number;
      /** The service ends the process after this time. */
      timeoutMs: number;
      method: EngineMethod;
      arguments: unknown;
    }
  | { kind: 'node'; need: number; value: Uint8Array | null }
  | { kind: 'block-hash'; need: number; hash: Hex | null };

export type FromEngine =
  | { kind: 'ready' }
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'failure'; id: number; errorKind: EngineErrorKind; message: string }
  | { kind: 'need-node'; need: number; key: Uint8Array }
  | { kind: 'need-block-hash'; need: number; number: number };
