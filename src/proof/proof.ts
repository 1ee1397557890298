/** The proof document `holdfast/proof@1`: its shape, and a strict parser that says what is wrong and where. */
import type { Hex } from 'viem';
import { type Canonicalization, canonicalizations } from './content.ts';
import {
  type Check,
  eachOf,
  exactly,
  type Fault,
  hexOf,
  integerUpTo,
  matching,
  nullOr,
  objectOf,
  oneOf,
} from './json-shape.ts';
import { type LeafValues, leafTypes, type Subject } from './leaf.ts';

export const proofFormat = 'holdfast/proof@1';

/** Longer paths are refused: 64 levels hold more leaves than will ever exist. */
export const maxPathLength = 64;

export interface Proof {
  format: typeof proofFormat;
  kind: string;
  subject: Subject;
  content: ProofContent;
  /** Null after the content was erased: without their salt, claims cannot be checked. */
  claims: Claims | null;
  leaf: { types: typeof leafTypes; values: LeafValues };
  merkle: { proof: Hex[]; root: Hex; size: number };
  seal: ProofSeal;
  /** At least one; anchors of a type other than `evm` are for verifiers that know the type. */
  anchors: [Anchor, ...Anchor[]];
}

export interface ProofContent {
  algorithm: 'sha-256';
  digest: Hex;
  canonicalization: Canonicalization;
  /** Null for `raw`, and when only the owner has it: the salt of an HMAC or of an erased record. */
  salt: Hex | null;
}

export interface Claims {
  /** 32 random bytes; without them a leaf could be found by guessing. */
  salt: Hex;
  [name: string]: unknown;
}

export interface ProofSeal {
  vault: Hex;
  subtreeRoot: Hex;
  depth: number;
  leaves: number;
  sequence: number;
  signature: Hex;
}

export interface EvmAnchor {
  type: 'evm';
  chainId: number;
  contract: Hex;
  submitter: Hex;
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  /** Seconds since 1970, as in the block's header. */
  blockTime: number;
}

/** An anchor of a type that this version does not know. */
export interface OtherAnchor {
  type: string;
  [name: string]: unknown;
}

export type Anchor = EvmAnchor | OtherAnchor;

export type ParsedProof = { proof: Proof; faults: [] } | { proof: null; faults: [Fault, ...Fault[]] };

/** Takes parsed JSON. Unknown fields are refused: nothing would check them, yet readers would believe them proved. */
export function parseProof(document: unknown): ParsedProof {
  const [first, ...rest] = checkProof(document, '');
  if (first !== undefined) return { proof: null, faults: [first, ...rest] };
  return { proof: document as Proof, faults: [] };
}

export function isEvmAnchor(anchor: Anchor): anchor is EvmAnchor {
  return anchor.type === 'evm';
}

const hash = hexOf(32);
const address = hexOf(20);
/** Without leading zeros, so that a number has only one form; 19 digits always fit into a uint64. */
const version = matching(/^(0|[1-9][0-9]{0,18})$/u, 'a decimal string of at most 19 digits');
const safeInteger = integerUpTo(Number.MAX_SAFE_INTEGER);

const checkContent: Check = (value, path) => {
  const faults = objectOf({
    algorithm: exactly('sha-256'),
    digest: hash,
    canonicalization: oneOf(canonicalizations),
    salt: nullOr(hash),
  })(value, path);
  if (faults.length > 0) return faults;
  const { canonicalization, salt } = value as ProofContent;
  const unsalted = canonicalization === 'raw' && salt !== null;
  return unsalted ? [{ path: `${path}.salt`, message: 'is null for raw content' }] : [];
};

const checkEvmAnchor = objectOf({
  type: exactly('evm'),
  chainId: safeInteger,
  contract: address,
  submitter: address,
  transactionHash: hash,
  blockNumber: safeInteger,
  blockHash: hash,
  blockTime: safeInteger,
});

/** Loose for unknown types, so that a second chain needs no new format. */
const checkOtherAnchor = objectOf({ type: matching(/^[a-z][a-z0-9-]{0,31}$/u, 'a name') }, { open: true });

const checkAnchor: Check = (value, path) =>
  (value as OtherAnchor | null)?.type === 'evm' ? checkEvmAnchor(value, path) : checkOtherAnchor(value, path);

const checkProof = objectOf({
  format: exactly(proofFormat),
  kind: matching(/^[a-z][a-z0-9-]{0,31}$/u, 'a name of lower-case letters, digits and hyphens'),
  subject: objectOf({
    workspaceId: matching(/^[A-Za-z0-9_-]{1,64}$/u, 'an id of letters, digits, _ and -'),
    // Half of a surrogate pair has no UTF-8 form, so two ids could share a hash.
    id: matching(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'an id of 1 to 255 printable characters'),
  }),
  content: checkContent,
  claims: nullOr(objectOf({ salt: hash }, { open: true })),
  leaf: objectOf({
    types: exactly(leafTypes),
    values: eachOf([hash, hash, hash, hash, version, hash, address, hash]),
  }),
  merkle: objectOf({
    proof: eachOf(hash, { max: maxPathLength }),
    root: hash,
    size: safeInteger,
  }),
  seal: objectOf({
    vault: address,
    subtreeRoot: hash,
    depth: integerUpTo(maxPathLength),
    leaves: integerUpTo(2 ** 32 - 1),
    sequence: safeInteger,
    signature: hexOf(65),
  }),
  anchors: eachOf(checkAnchor, { min: 1, max: 16 }),
});
