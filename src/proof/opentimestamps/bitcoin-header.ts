/** The 80 bytes of a Bitcoin block header. */
import { sha256 } from '@noble/hashes/sha2.js';
import type { Hex } from 'viem';
import { fromHex, toHex } from '../hex.ts';

export interface BitcoinHeader {
  /** As block explorers print it: the bytes of the hash reversed. */
  hash: Hex;
  /** In the order of the header. */
  merkleRoot: Uint8Array;
  /** Milliseconds since 1970. */
  time: number;
  /** Whether the hash is as small as the header itself demands. What Bitcoin demanded at that height is not known here. */
  hasWork: boolean;
  /** What the header itself demands of the hash: to be no larger. -1 for what Bitcoin refuses. */
  target: bigint;
}

export const headerBytes = 80;

export function readBitcoinHeader(header: Hex): BitcoinHeader {
  const bytes = fromHex(header);
  if (bytes.length !== headerBytes) throw new Error(`a Bitcoin header has ${headerBytes} bytes`);
  const fields = new DataView(bytes.buffer);
  const hash = toHex(sha256(sha256(bytes)).reverse());
  const target = targetOf(fields.getUint32(72, true));
  return {
    hash,
    merkleRoot: bytes.slice(36, 68),
    time: fields.getUint32(68, true) * 1000,
    hasWork: BigInt(hash) <= target,
    target,
  };
}

/**
 * A floating-point number of base 256: one byte of exponent, a sign, 23 bits of mantissa. -1, which no hash reaches, for what
 * Bitcoin refuses: a negative number, and one of more than 256 bits. It refuses zero too, which no hash reaches either.
 */
function targetOf(bits: number): bigint {
  // A negative shift goes to the right.
  const target = BigInt(bits & 0x7fffff) << BigInt(8 * ((bits >>> 24) - 3));
  return (bits & 0x800000) === 0 && target < 2n ** 256n ? target : -1n;
}
