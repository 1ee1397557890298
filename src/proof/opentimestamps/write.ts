/** Writes OpenTimestamps proofs byte for byte as the reference implementation does, and merges them. */
import { fromHex, toHex } from '../hex.ts';
import { attestationMark, attestationTags, fileMagic, forkMark, formatVersion } from './encoding.ts';
import type { TimestampOperation } from './operations.ts';
import type { Attestation, DetachedFile, TimestampTree } from './timestamp.ts';

/** May be larger or deeper than the reader accepts, after a merge. */
export function writeDetachedFile({ hashTag, digest, tree }: DetachedFile): Uint8Array {
  return concatenated([fileMagic, [formatVersion, hashTag], digest, ...treeChunks(tree)]);
}

/** Has everything that either has; null if they are for different digests. */
export function mergeFiles(one: DetachedFile, other: DetachedFile): DetachedFile | null {
  if (one.hashTag !== other.hashTag || toHex(one.digest) !== toHex(other.digest)) return null;
  return { ...one, tree: mergeTrees(one.tree, other.tree) };
}

/** Both of the same message. */
function mergeTrees(one: TimestampTree, other: TimestampTree): TimestampTree {
  const attestations = new Map<string, Attestation>();
  const branches = new Map<string, Branch>();
  for (const { attestations: all, branches: leading } of [one, other]) {
    for (const attestation of all) attestations.set(toHex(attestationBytes(attestation)), attestation);
    for (const branch of leading) {
      const key = toHex(operationBytes(branch.operation));
      const known = branches.get(key);
      const tree = known ? mergeTrees(known.tree, branch.tree) : branch.tree;
      branches.set(key, { operation: branch.operation, tree });
    }
  }
  return { attestations: [...attestations.values()], branches: [...branches.values()] };
}

type Branch = TimestampTree['branches'][number];
type Bytes = ArrayLike<number>;

/** Attestations first, then operations, each in ascending order; all but the last after a mark. */
function treeChunks(root: TimestampTree): Bytes[] {
  const chunks: Bytes[] = [];
  const write = ({ attestations, branches }: TimestampTree): void => {
    let left = attestations.length + branches.length;
    if (left === 0) throw new Error('every message of a proof has an attestation or leads on');
    const mark = () => {
      left -= 1;
      if (left > 0) chunks.push([forkMark]);
    };
    for (const attestation of attestations.toSorted(compareAttestations)) {
      mark();
      chunks.push(attestationBytes(attestation));
    }
    for (const { operation, tree } of branches.toSorted(compareBranches)) {
      mark();
      chunks.push(operationBytes(operation));
      write(tree);
    }
  };
  write(root);
  return chunks;
}

function operationBytes({ tag, argument }: TimestampOperation): Uint8Array {
  return concatenated([[tag], ...(argument.length > 0 ? [number(argument.length), argument] : [])]);
}

function attestationBytes(attestation: Attestation): Uint8Array {
  const payload = payloadOf(attestation);
  return concatenated([[attestationMark], tagOf(attestation), number(payload.length), payload]);
}

function tagOf(attestation: Attestation): Uint8Array {
  return attestation.kind === 'unknown' ? attestation.tag : fromHex(attestationTags[attestation.kind]);
}

function payloadOf(attestation: Attestation): Bytes {
  if (attestation.kind === 'unknown') return attestation.payload;
  if (attestation.kind !== 'pending') return number(attestation.height);
  const uri = new TextEncoder().encode(attestation.uri);
  return concatenated([number(uri.length), uri]);
}

function compareAttestations(one: Attestation, other: Attestation): number {
  const tags = compareBytes(tagOf(one), tagOf(other));
  if (tags !== 0) return tags;
  // Numbers are written from their lowest digit, and a text after its length: neither sorts by its bytes in the file.
  if ('height' in one && 'height' in other) return one.height - other.height;
  if ('uri' in one && 'uri' in other) return one.uri < other.uri ? -1 : 1;
  return compareBytes(payloadOf(one), payloadOf(other));
}

function compareBranches({ operation: one }: Branch, { operation: other }: Branch): number {
  return one.tag - other.tag || compareBytes(one.argument, other.argument);
}

function compareBytes(one: Bytes, other: Bytes): number {
  for (let at = 0; at < one.length && at < other.length; at += 1) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Seven bits in each byte, the lowest first. */
function number(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  return [...bytes, rest];
}

function concatenated(chunks: readonly Bytes[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
