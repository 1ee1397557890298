/** Bytes of OpenTimestamps proofs and the messages they lead to, put together without the product's reader and writer. */
import { createHash } from 'node:crypto';

/** Messages that share their operations from here on; each trail has the operations that led here. */
export interface Trails {
  message: Buffer;
  operations: Buffer[][];
}

export function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function startTrail(message: Uint8Array): Trails {
  return { message: Buffer.from(message), operations: [[]] };
}

export function append(trails: Trails, argument: Uint8Array): Trails {
  return step(trails, [0xf0], argument, Buffer.concat([trails.message, argument]));
}

export function prepend(trails: Trails, argument: Uint8Array): Trails {
  return step(trails, [0xf1], argument, Buffer.concat([argument, trails.message]));
}

export function hashed(trails: Trails): Trails {
  return step(trails, [0x08], null, sha256(trails.message));
}

/** One tree over all of them: pairs from the left, a single one goes up as it is; each pair is hashed `times` times. */
export function joinTrails(all: Trails[], times: 1 | 2): Trails {
  const [only, second] = all;
  if (only === undefined) throw new Error('a tree needs a leaf');
  if (second === undefined) return only;
  const level: Trails[] = [];
  for (let at = 0; at < all.length; at += 2) {
    const [left, right] = [all[at], all[at + 1]];
    if (left !== undefined) level.push(right === undefined ? left : joinPair(left, right, times));
  }
  return joinTrails(level, times);
}

/** The end of a trail: from here on a calendar has to be asked. */
export function pendingAttestation(uri: string): Buffer {
  return attestation('83dfe30d2ef90c8e', sized(Buffer.from(uri)));
}

/** The end of a trail: the message is the Merkle root of this block. */
export function bitcoinAttestation(height: number): Buffer {
  return attestation('0588960d73d71901', varint(height));
}

export function attestation(tag: string, payload: Uint8Array): Buffer {
  return Buffer.concat([[0x00], Buffer.from(tag, 'hex'), sized(payload)].map((part) => Buffer.from(part)));
}

/** A detached file for a SHA-256 digest. */
export function detachedFile(digest: Uint8Array, ...timestamp: Uint8Array[]): Buffer {
  const magic = Buffer.from('\0OpenTimestamps\0\0Proof\0\xbf\x89\xe2\xe8\x84\xe8\x92\x94', 'latin1');
  return Buffer.concat([magic, Buffer.from([1, 0x08]), digest, ...timestamp]);
}

export function sized(bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(bytes.length), bytes]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

function joinPair(left: Trails, right: Trails, times: 1 | 2): Trails {
  const both = [append(left, right.message), prepend(right, left.message)].flatMap(
    ({ operations }) => operations,
  );
  const joined = { message: Buffer.concat([left.message, right.message]), operations: both };
  return times === 1 ? hashed(joined) : hashed(hashed(joined));
}

function step(trails: Trails, tag: number[], argument: Uint8Array | null, message: Buffer): Trails {
  const operation = Buffer.concat([Buffer.from(tag), argument === null ? Buffer.alloc(0) : sized(argument)]);
  return { message, operations: trails.operations.map((trail) => [...trail, operation]) };
}
