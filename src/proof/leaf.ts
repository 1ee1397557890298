/** The leaf of one version of one thing: eight fields in Solidity's ABI encoding, hashed twice. */
import { sha256 } from '@noble/hashes/sha2.js';
import type { Hex } from 'viem';
import { canonicalJson } from './canonical.ts';
import type { Canonicalization } from './content.ts';
import { toHex, writeHex } from './hex.ts';
import { type Keccak, plainKeccak } from './keccak.ts';

/** A proof has to repeat this list literally: a `uint256` in it would encode to the same bytes as `uint64`. */
export const leafTypes = [
  'bytes32 domain',
  'bytes32 kind',
  'bytes32 digest',
  'bytes32 subject',
  'uint64 version',
  'bytes32 previousLeaf',
  'address vault',
  'bytes32 claimsHash',
] as const;

/** As in a proof: lower-case hex, and the version as a decimal string. */
export type LeafValues = readonly [
  domain: Hex,
  kind: Hex,
  digest: Hex,
  subject: Hex,
  version: string,
  previousLeaf: Hex,
  vault: Hex,
  claimsHash: Hex,
];

export interface Subject {
  workspaceId: string;
  id: string;
}

export interface LeafFields {
  /** The name of the kind; see docs/proof.md for the names in use. */
  kind: string;
  /** How the digest is made. Bound by the leaf, or one digest could be read as that of two different contents. */
  canonicalization: Canonicalization;
  digest: Hex;
  subject: Subject;
  /** Below 2^64. */
  version: number | bigint;
  /** The leaf before this one, of the previous version or owner; zeros for the first. */
  previousLeaf: Hex;
  vault: string;
  claimsHash: Hex;
}

/** Bound to no chain: the same leaf can be anchored on a second chain. */
export const leafDomain = 'holdfast/leaf@1';
export const leafDomainHash: Hex = '0xcfefb2662f5b7b7e19b07125750300184686456154690d93fdc42b52345d9485';

export function leafValues(fields: LeafFields, keccak: Keccak = plainKeccak): LeafValues {
  return [
    leafDomainHash,
    kindHash(fields, keccak),
    fields.digest,
    subjectHash(fields.subject, keccak),
    String(fields.version),
    fields.previousLeaf,
    fields.vault.toLowerCase() as Hex,
    fields.claimsHash,
  ];
}

export function leafHash(values: LeafValues, keccak: Keccak = plainKeccak): Uint8Array {
  return keccak(keccak(encodeLeaf(values)));
}

/** abi.encode: all eight are static, so each fills one word of 32 bytes, aligned to the right. */
export function encodeLeaf(values: LeafValues): Uint8Array {
  const bytes = new Uint8Array(wordBytes * values.length);
  values.forEach((value, place) => {
    const hex = value.startsWith('0x') ? value : wordOfNumber(value);
    const length = (hex.length - 2) / 2;
    if (length > wordBytes) throw new Error(`${leafTypes[place]} does not fit into a word`);
    writeHex(hex, bytes, wordBytes * (place + 1) - length);
  });
  return bytes;
}

/** Neither name contains a slash, so the text can be split in only one way. */
export function kindHash(
  { kind, canonicalization }: Pick<LeafFields, 'kind' | 'canonicalization'>,
  keccak: Keccak = plainKeccak,
): Hex {
  return hashOfText(`${kind}/${canonicalization}`, keccak);
}

/** A workspace id contains no slash, so the text can be split in only one way. */
export function subjectHash({ workspaceId, id }: Subject, keccak: Keccak = plainKeccak): Hex {
  return hashOfText(`${workspaceId}/${id}`, keccak);
}

function hashOfText(text: string, keccak: Keccak = plainKeccak): Hex {
  return toHex(keccak(utf8.encode(text)));
}

/** SHA-256 of the claims' canonical JSON; throws CanonicalJsonError. */
export function claimsHash(claims: Record<string, unknown>): Hex {
  return toHex(sha256(utf8.encode(canonicalJson(claims, 'claims'))));
}

const wordBytes = 32;
const maxVersion = 2n ** 64n - 1n;
const utf8 = new TextEncoder();

function wordOfNumber(decimal: string): Hex {
  const number = BigInt(decimal);
  if (number < 0n || number > maxVersion) throw new Error(`${decimal} is not a uint64`);
  return `0x${number.toString(16).padStart(16, '0')}`;
}
