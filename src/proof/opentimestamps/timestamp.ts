/** The tree of an OpenTimestamps proof: what vouches for a message, and the operations that lead on from it. */
import type { TimestampOperation } from './operations.ts';

/** Of one message. */
export interface TimestampTree {
  attestations: Attestation[];
  branches: { operation: TimestampOperation; tree: TimestampTree }[];
}

export type Attestation =
  /** A calendar has the message and will know more later. */
  | { kind: 'pending'; uri: string }
  /** The message is the Merkle root of the block at this height. */
  | { kind: 'bitcoin' | 'litecoin'; height: number }
  /** Kept as it is, for readers that know it. */
  | { kind: 'unknown'; tag: Uint8Array; payload: Uint8Array };

/** A whole `.ots` file: the digest of something, how it was made, and what vouches for it. */
export interface DetachedFile {
  hashTag: number;
  digest: Uint8Array;
  tree: TimestampTree;
}

/** An attestation, and the way to it. */
export interface Attested {
  attestation: Attestation;
  /** Null if it vouches for the digest itself. */
  path: OperationPath | null;
}

/** An operation and those before it: a list from the end, because most attestations share their first operations. */
export interface OperationPath {
  operation: TimestampOperation;
  before: OperationPath | null;
}

/** All attestations, in the order of the file. */
export function attestedIn(root: TimestampTree): Attested[] {
  const found: Attested[] = [];
  const walk = (tree: TimestampTree, path: OperationPath | null): void => {
    for (const attestation of tree.attestations) found.push({ attestation, path });
    for (const { operation, tree: next } of tree.branches) walk(next, { operation, before: path });
  };
  walk(root, null);
  return found;
}

/** A tree that leads through `path` to `end`, and nowhere else. */
export function alongPath(path: OperationPath | null, end: TimestampTree): TimestampTree {
  let tree = end;
  for (let step = path; step !== null; step = step.before) {
    tree = { attestations: [], branches: [{ operation: step.operation, tree }] };
  }
  return tree;
}

/** The smallest file that still has this attestation. */
export function prunedTo(file: DetachedFile, { attestation, path }: Attested): DetachedFile {
  return { ...file, tree: alongPath(path, { attestations: [attestation], branches: [] }) };
}
