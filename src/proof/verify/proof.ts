/** The proof document `holdfast/proof@1`: its shape, and a strict parser that says what is wrong and where. */
import type { Hex } from 'viem';
import { type Canonicalization, canonicalizations } from '../content.ts';
import { type Inclusion, maxIndex, maxNodes } from '../evm/inclusion.ts';
import type { HeadFields } from '../head.ts';
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
} from '../json-shape.ts';
import { type LeafValues, leafTypes, type Subject } from '../leaf.ts';
import { checkOpenTimestampsAnchor, type OpenTimestampsAnchor } from '../opentimestamps/anchor.ts';
import { checkTimestampAnchor, type TimestampAnchor } from '../rfc3161/anchor.ts';

export const proofFormat = 'holdfast/proof@1';

/** Longer paths are refused: 64 levels hold more leaves than will ever exist, and one element is the seal. */
export const maxPathLength = 65;

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
  /** Who vouches for the time of the root; those of an unknown type are for verifiers that know it. */
  anchors: Anchor[];
  /** Later batches that cover evidence of this document, or of the renewals before. */
  renewals: Renewal[];
}

/** Shows that the head of a later batch covers an item, so that whoever vouches for that batch vouches for the item. */
export interface Renewal {
  covers: {
    /** What the item belongs to: an earlier element of `renewals`, or null for the document itself. */
    renewal: number | null;
    /** The anchor that is the item; null: the root itself is. */
    anchor: number | null;
  };
  /** From the item's leaf to `head.evidenceRoot`. */
  path: Hex[];
  head: HeadFields;
  /** From the head to `root`. */
  proof: Hex[];
  root: Hex;
  /** Number of leaves of that batch, as its submitter states it. */
  size: number;
  anchors: Anchor[];
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
  /** A uint64 in decimal. */
  sequence: string;
  previousSeal: Hex;
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
  /** Shows the anchor to whoever knows the block's hash; null if the chain's blocks allow no such proof. */
  inclusion: Inclusion | null;
}

/** An anchor of a type that this version does not know. */
export interface OtherAnchor {
  type: string;
}

export type Anchor = EvmAnchor | TimestampAnchor | OpenTimestampsAnchor | OtherAnchor;

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

export function isTimestampAnchor(anchor: Anchor): anchor is TimestampAnchor {
  return anchor.type === 'rfc3161';
}

export function isOpenTimestampsAnchor(anchor: Anchor): anchor is OpenTimestampsAnchor {
  return anchor.type === 'opentimestamps';
}

const hash = hexOf(32);
const address = hexOf(20);
/** Without leading zeros, so that a number has only one form; counts from 1. */
const uint64: Check = (value, path) =>
  typeof value === 'string' && /^[1-9][0-9]{0,19}$/u.test(value) && BigInt(value) < 2n ** 64n
    ? []
    : [{ path, message: 'is not a decimal string from 1 to 18446744073709551615' }];
const safeInteger = integerUpTo(Number.MAX_SAFE_INTEGER);
/** Not by one pattern for pairs, which would overflow the stack on a long text. */
const hexText: Check = (value, path) =>
  typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-f]+$/u.test(value)
    ? []
    : [{ path, message: 'is not 0x and pairs of lower-case hex digits' }];
const maxAnchors = 16;
const maxRenewals = 16;

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
  inclusion: nullOr(
    objectOf({
      header: hexText,
      index: integerUpTo(maxIndex),
      nodes: eachOf(hexText, { min: 1, max: maxNodes }),
    }),
  ),
});

/** Loose for unknown types, so that a second chain needs no new format. */
const checkOtherAnchor = objectOf({ type: matching(/^[a-z][a-z0-9-]{0,31}$/u, 'a name') }, { open: true });

const anchorChecks: Record<string, Check> = {
  evm: checkEvmAnchor,
  rfc3161: checkTimestampAnchor,
  opentimestamps: checkOpenTimestampsAnchor,
};

const checkAnchor: Check = (value, path) => {
  const type = (value as OtherAnchor | null)?.type;
  const known =
    typeof type === 'string' && Object.hasOwn(anchorChecks, type) ? anchorChecks[type] : undefined;
  return (known ?? checkOtherAnchor)(value, path);
};

const checkRenewalShape = objectOf({
  covers: objectOf({ renewal: nullOr(safeInteger), anchor: nullOr(safeInteger) }),
  path: eachOf(hash, { max: maxPathLength }),
  head: objectOf({ evidenceRoot: hash, logHead: hash }),
  proof: eachOf(hash, { max: maxPathLength }),
  root: hash,
  size: safeInteger,
  anchors: eachOf(checkAnchor, { min: 1, max: maxAnchors }),
});

export const checkSubject: Check = objectOf({
  workspaceId: matching(/^[A-Za-z0-9_-]{1,64}$/u, 'an id of letters, digits, _ and -'),
  // Half of a surrogate pair has no UTF-8 form, so two ids could share a hash.
  id: matching(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'an id of 1 to 255 printable characters'),
});

const members: Record<string, Check> = {
  format: exactly(proofFormat),
  kind: matching(/^[a-z][a-z0-9-]{0,31}$/u, 'a name of lower-case letters, digits and hyphens'),
  subject: checkSubject,
  content: checkContent,
  claims: nullOr(objectOf({ salt: hash }, { open: true })),
  leaf: objectOf({
    types: exactly(leafTypes),
    values: eachOf([hash, hash, hash, hash, uint64, hash, address, hash]),
  }),
  merkle: objectOf({
    proof: eachOf(hash, { max: maxPathLength }),
    root: hash,
    size: safeInteger,
  }),
  seal: objectOf({
    vault: address,
    subtreeRoot: hash,
    depth: integerUpTo(maxPathLength - 1),
    leaves: integerUpTo(2 ** 32 - 1),
    sequence: uint64,
    previousSeal: hash,
    signature: hexOf(65),
  }),
  anchors: eachOf(checkAnchor, { min: 1, max: maxAnchors }),
  renewals: eachOf(checkRenewalShape, { max: maxRenewals }),
};
const checkMembers = objectOf(members, { open: true });

/** Unknown fields are in brackets, so that the path of one called `seal.depth` is not that of the depth of the seal. */
const checkProof: Check = (value, path) => {
  const faults = checkMembers(value, path);
  const names =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  const unknown = names.filter((name) => !Object.hasOwn(members, name));
  return [
    ...faults,
    ...unknown.map((name) => ({
      path: `[${JSON.stringify(name)}]`,
      message: 'is not a field of this format',
    })),
  ];
};
