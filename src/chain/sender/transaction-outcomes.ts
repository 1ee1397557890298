/** What became of an outgoing transaction, told to whoever asked for it in the very commit that stores it. */
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
} /** A node took it; or a reorg took away the block in which it had failed, and it is on its way again. */ & (
  | { to: 'submitted' }
  | { to: 'confirmed' | 'finalized'; mined: MinedAt }
  /** A reorg took its block away after it was confirmed; the same bytes are sent again. */
  | { to: 'reorged'; was: MinedAt }
  /** It reverted, or could never pass and something else took its nonce. */
  | { to: 'failed'; reason: string }
);

export type ApplyOutcomes = (db: Db, outcomes: TransactionOutcome[]) => Promise<void>;
