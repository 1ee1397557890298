/** Bitcoin blocks with the least work: real headers, which a computer makes at once. */
import type { Hex } from 'viem';
import { append, hashed, joinTrails, prepend, sha256, startTrail, type Trails } from './trails.ts';

export interface MadeBlock {
  height: number;
  header: Hex;
  /** As block explorers print it. */
  hash: Hex;
  /** Milliseconds since 1970. */
  time: number;
}

/** What Bitcoin's regression test network demands: every second hash will do. */
export const easiestBits = 0x207fffff;

export function makeBlock({
  height,
  time,
  merkleRoot,
  bits = easiestBits,
}: {
  height: number;
  time: number;
  merkleRoot: Uint8Array;
  bits?: number;
}): MadeBlock {
  const header = Buffer.alloc(80);
  header.writeUInt32LE(0x20000000, 0);
  sha256(Buffer.from(`block before ${height}`)).copy(header, 4);
  header.set(merkleRoot, 36);
  header.writeUInt32LE(time / 1000, 68);
  header.writeUInt32LE(bits, 72);
  let hash = hashOf(header);
  // The highest byte of an easy target is 0x7f: a hash below 2^255 - 2^240 is surely small enough.
  for (let nonce = 1; (hash[0] ?? 0) >= 0x7f; nonce += 1) {
    header.writeUInt32LE(nonce, 76);
    hash = hashOf(header);
  }
  return { height, time, header: `0x${header.toString('hex')}`, hash: `0x${hash.toString('hex')}` };
}

/** From a message through a transaction that holds it to the Merkle root of a block of `transactions` transactions. */
export function putIntoBlock(tip: Trails, transactions = 5): Trails {
  const start = Buffer.from('0100000001', 'hex');
  const inputs = Buffer.concat([start, sha256(tip.message), Buffer.from('6a20', 'hex')]);
  const transaction = hashed(hashed(append(prepend(tip, inputs), Buffer.alloc(4))));
  const others = Array.from({ length: transactions - 1 }, (_, place) => ({
    ...startTrail(sha256(tip.message, Buffer.from([place]))),
    operations: [],
  }));
  return joinTrails([...others, transaction], 2);
}

function hashOf(header: Buffer): Buffer {
  return sha256(sha256(header)).reverse();
}
