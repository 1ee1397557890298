/** A block of the journal with its results as they are stored: its receipts may be undecodable. */
import type { Hex } from 'viem';
import type { StoredReceipt } from '../engine/protocol.ts';
import { decodeReceipt, encodeReceipt } from '../results/receipt-bytes.ts';
import { type HeaderFields, headerHash } from './header.ts';

export interface ExecutedBlock extends HeaderFields {
  /** That of the journal. */
  hash: Hex;
  /** Made by anvil on another state: its hash cannot be computed. */
  isRecorded: boolean;
  transactions: Hex[];
  receipts: Buffer[];
}

/** Null if the bytes are no receipt, or not the only ones for it. */
function readReceipt(bytes: Buffer): StoredReceipt | null {
  try {
    const receipt = decodeReceipt(bytes);
    return encodeReceipt(receipt).equals(bytes) ? receipt : null;
  } catch {
    return null;
  }
}

export function readReceipts({ receipts }: ExecutedBlock): (StoredReceipt | null)[] {
  return receipts.map(readReceipt);
}

/** The hash of the header with what is stored; null if there is no such header. */
export function storedHash(block: ExecutedBlock, receipts = readReceipts(block)): Hex | null {
  const decoded = receipts.filter((receipt) => receipt !== null);
  const isComplete = decoded.length === receipts.length;
  return isComplete && block.baseFeeWei >= 0n ? headerHash(block, decoded) : null;
}
