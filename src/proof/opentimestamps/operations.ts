/** The operations of an OpenTimestamps proof: each makes the next message from the one before. */
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../hex.ts';
import { plainKeccak } from '../keccak.ts';
import { sha1 } from './sha1.ts';

export interface TimestampOperation {
  tag: number;
  /** What is appended or prepended; empty for the operations that take nothing. */
  argument: Uint8Array;
}

/** As in the reference implementation. The tags of the hash functions once came from RFC 4880. */
export const operationTags = {
  sha1: 0x02,
  ripemd160: 0x03,
  sha256: 0x08,
  keccak256: 0x67,
  append: 0xf0,
  prepend: 0xf1,
  reverse: 0xf2,
  hexlify: 0xf3,
} as const;

/** No message is longer, neither before nor after an operation. */
export const maxMessageBytes = 4096;

/** The lengths of what hash functions make, by their tags. */
export const digestBytes: Readonly<Record<number, number | undefined>> = {
  [operationTags.sha1]: 20,
  [operationTags.ripemd160]: 20,
  [operationTags.sha256]: 32,
  [operationTags.keccak256]: 32,
};

export function takesArgument(tag: number): boolean {
  return tag === operationTags.append || tag === operationTags.prepend;
}

/**
 * The length of the result for a message of `length` bytes; undefined if there is no such operation. Lengths do not depend on
 * what is hashed, so that the bounds of a proof are checked before anything is.
 */
export function resultBytes({ tag, argument }: TimestampOperation, length: number): number | undefined {
  if (takesArgument(tag)) return length + argument.length;
  if (tag === operationTags.reverse) return length;
  return tag === operationTags.hexlify ? 2 * length : digestBytes[tag];
}

export function applyOperation({ tag, argument }: TimestampOperation, message: Uint8Array): Uint8Array {
  switch (tag) {
    case operationTags.sha256:
      return sha256(message);
    case operationTags.append:
      return joined(message, argument);
    case operationTags.prepend:
      return joined(argument, message);
    case operationTags.ripemd160:
      return ripemd160(message);
    case operationTags.keccak256:
      return plainKeccak(message);
    case operationTags.reverse:
      return message.toReversed();
    case operationTags.hexlify:
      // Lower case, without a prefix.
      return new TextEncoder().encode(toHex(message).slice(2));
    case operationTags.sha1:
      return sha1(message);
    default:
      throw new Error(`there is no operation ${tag}`);
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
