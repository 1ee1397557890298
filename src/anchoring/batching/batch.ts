/**
 * The tree of one batch, in two steps: the leaves of each vault form a subtree, which the vault seals; then the top tree is
 * built over the subtrees with their seals, and the head of the batch.
 */
import type { Keccak } from '../../proof/keccak.ts';
import { buildTree, foldPath, hashBytes, type MerkleTree } from '../../proof/merkle.ts';

export interface VaultLeaves {
  /** The vault's address. */
  vault: string;
  /** Leaves of 32 bytes, concatenated. */
  leaves: Uint8Array;
}

export interface Subtree extends MerkleTree {
  vault: string;
}

export interface TopTree {
  root: Uint8Array;
  /** From the pair of a subtree's root and its seal up to the root of the batch. */
  upperPaths: Uint8Array[];
  headPath: Uint8Array;
}

/** In the order of the given vaults. */
export function buildSubtrees(vaults: readonly VaultLeaves[], keccak: Keccak): Subtree[] {
  if (new Set(vaults.map(({ vault }) => vault)).size < vaults.length) {
    // A seal could cover only one of the two subtrees.
    throw new Error('a batch names each vault once');
  }
  return vaults.map(({ vault, leaves }) => ({ vault, ...buildTree(leaves, keccak) }));
}

/** `roots` and `sealIds` have 32 bytes for each subtree. */
export function buildTop(
  { roots, sealIds, headId }: { roots: Uint8Array; sealIds: Uint8Array; headId: Uint8Array },
  keccak: Keccak,
): TopTree {
  const count = roots.length / hashBytes;
  const leaves = new Uint8Array((count + 1) * hashBytes);
  for (let at = 0; at < roots.length; at += hashBytes) {
    const root = roots.subarray(at, at + hashBytes);
    leaves.set(foldPath(root, sealIds.subarray(at, at + hashBytes), keccak), at);
  }
  leaves.set(headId, count * hashBytes);
  const top = buildTree(leaves, keccak);
  return {
    root: top.root,
    upperPaths: Array.from({ length: count }, (_, place) => top.path(place)),
    headPath: top.path(count),
  };
}

/** From a leaf up to the root of the batch, with the seal between the two trees. */
export function joinPath({
  lower,
  sealId,
  upper,
}: {
  lower: Uint8Array;
  sealId: Uint8Array;
  upper: Uint8Array;
}): Uint8Array {
  const path = new Uint8Array(lower.length + sealId.length + upper.length);
  path.set(lower);
  path.set(sealId, lower.length);
  path.set(upper, lower.length + sealId.length);
  return path;
}
