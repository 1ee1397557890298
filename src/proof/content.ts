/** The digest of the proved content: a file's bytes, a record's canonical JSON with its salt, or an HMAC of the bytes. */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Hex } from 'viem';
import { parseJsonText } from '../runtime/json-text.ts';
import { CanonicalJsonError, canonicalJson } from './canonical.ts';
import { fromHex, toHex } from './hex.ts';
import { utf8Text } from './utf8.ts';

export const canonicalizations = ['raw', 'jcs', 'hmac-sha256'] as const;
export type Canonicalization = (typeof canonicalizations)[number];

/** Whole, or in pieces: a file may be larger than memory. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

export interface DigestRule {
  canonicalization: Canonicalization;
  /** 32 bytes; `raw` has none. */
  salt: Hex | null;
}

/** Throws CanonicalJsonError when a record's content has no canonical form. */
export async function contentDigest({ canonicalization, salt }: DigestRule, content: Content): Promise<Hex> {
  if (canonicalization === 'raw') return hashPieces(sha256.create(), content);
  if (salt === null) throw new Error(`content under ${canonicalization} has a salt`);
  if (canonicalization === 'hmac-sha256') {
    return hashPieces(hmac.create(sha256, fromHex(salt)), content);
  }
  return recordDigest(fromHex(salt), parseRecord(await wholeOf(content)));
}

/** SHA-256 of the salt followed by the record's canonical JSON; throws CanonicalJsonError. */
export function recordDigest(salt: Uint8Array, data: unknown): Hex {
  const json = new TextEncoder().encode(canonicalJson(data, 'data'));
  const bytes = new Uint8Array(salt.length + json.length);
  bytes.set(salt);
  bytes.set(json, salt.length);
  return toHex(sha256(bytes));
}

function parseRecord(bytes: Uint8Array): unknown {
  try {
    return parseJsonText(utf8Text(bytes));
  } catch (error) {
    throw error instanceof CanonicalJsonError ? error : new CanonicalJsonError((error as Error).message);
  }
}

interface Hasher {
  update(piece: Uint8Array): unknown;
  digest(): Uint8Array;
}

async function hashPieces(hasher: Hasher, content: Content): Promise<Hex> {
  for await (const piece of piecesOf(content)) hasher.update(piece);
  return toHex(hasher.digest());
}

export async function wholeOf(content: Content): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf(content)) pieces.push(piece);
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function piecesOf(content: Content): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in content ? content : [content];
}
