/** The outcome of an outgoing transaction, delivered to its requester in the same commit that stores it. */
import type { Hex } from 'viem';
import type { Db } from '../../db/database.ts';

export interface MinedAt {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  /** Seconds since 1970. */
  blockTime: number;
}

export type TransactionOutcome = {
  outgoingId: number;
  purpose: string;
} /** A node accepted it; or a reorg removed the block in which it had failed, and it is pending again. */ & (
  | { to: 'submitted' }
  | { to: 'confirmed' | 'finalized'; mined: MinedAt }
  /** A reorg removed its block after it was confirmed; the same bytes are sent again. */
  | { to: 'reorged'; was: MinedAt }
  /** It reverted, or it could never succeed and something else took its nonce. */
  | { to: 'failed'; reason: string }
);

export type ApplyOutcomes = (db: Db, outcomes: TransactionOutcome[]) => Promise<void>;
