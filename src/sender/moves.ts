/** What became of an outgoing transaction, told to whoever asked for it in the very commit that stores it. */
import type { Hex } from 'viem';
import type { Db } from '../db/database.ts';

export interface MinedAt {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  /** Seconds since 1970. */
  blockTime: number;
}

export type Move = { outgoingId: number; purpose: string } & (
  | { to: 'submitted' }
  | { to: 'confirmed' | 'finalized'; mined: MinedAt }
  /** A reorg took its block away after it was confirmed; the same bytes are sent again. */
  | { to: 'reorged'; was: MinedAt }
  /** It reverted, or could never pass and a no-op took its nonce. */
  | { to: 'failed'; reason: string }
);

export type ApplyMoves = (db: Db, moves: Move[]) => Promise<void>;
