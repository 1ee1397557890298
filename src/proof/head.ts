/**
 * The head of a batch: one more leaf of its top tree, which commits to evidence that was stored since the head before, so
 * that whoever vouches for this batch vouches for that evidence too.
 */
import type { Hex } from 'viem';
import { fromHex, zeroHash } from './hex.ts';
import { type Keccak, plainKeccak } from './keccak.ts';

export interface HeadFields {
  /** Root of the tree of evidence leaves; zeros when there is none. */
  evidenceRoot: Hex;
  /** Zeros: kept for a public log. */
  logHead: Hex;
}

export const emptyHead: HeadFields = { evidenceRoot: zeroHash, logHead: zeroHash };

/** `abi.encode` of three words, hashed twice. */
export function headId({ evidenceRoot, logHead }: HeadFields, keccak: Keccak = plainKeccak): Uint8Array {
  return hashWords([hashOf('holdfast/head@1', keccak), fromHex(evidenceRoot), fromHex(logHead)], keccak);
}

/** The leaf of a timestamp token, a complete OpenTimestamps proof or the root of a batch, given by its SHA-256. */
export function evidenceLeaf(itemSha256: Uint8Array, keccak: Keccak = plainKeccak): Uint8Array {
  return hashWords([hashOf('holdfast/evidence@1', keccak), itemSha256], keccak);
}

function hashOf(text: string, keccak: Keccak): Uint8Array {
  return keccak(new TextEncoder().encode(text));
}

function hashWords(words: Uint8Array[], keccak: Keccak): Uint8Array {
  const bytes = new Uint8Array(words.length * 32);
  words.forEach((word, place) => {
    if (word.length !== 32) throw new Error('a word has 32 bytes');
    bytes.set(word, place * 32);
  });
  return keccak(keccak(bytes));
}
