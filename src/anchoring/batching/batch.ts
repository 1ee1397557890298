/**
 * The two-level tree of one batch: the leaves of each vault form a subtree, and the roots of the subtrees form the top tree.
 */
import type { Keccak } from '../../proof/keccak.ts';
import { buildTree, hashBytes } from '../../proof/merkle.ts';

export interface VaultLeaves {
  /** The vault's address. */
  vault: string;
  /** Leaves of 32 bytes, concatenated. */
  leaves: Uint8Array;
}

export interface Subtree {
  vault: string;
  root: Uint8Array;
  /** The number of leaves, which the seal states. */
  leaves: number;
}

export interface LeafPath {
  /** The siblings from the leaf up to the root of the batch, 32 bytes each. */
  path: Uint8Array;
  /** How many siblings lead to the root of the vault's subtree. */
  depth: number;
}

export interface BatchTree {
  root: Uint8Array;
  /** Leaves of all vaults. */
  size: number;
  /** In the order of the given vaults. */
  subtrees: Subtree[];
  /** Both are indexes in the order of the given vaults and leaves. */
  path(vault: number, leaf: number): LeafPath;
}

export function buildBatch(vaults: readonly VaultLeaves[], keccak: Keccak): BatchTree {
  if (new Set(vaults.map(({ vault }) => vault)).size < vaults.length) {
    // A seal could cover only one of the two subtrees.
    throw new Error('a batch names each vault once');
  }
  const trees = vaults.map(({ leaves }) => buildTree(leaves, keccak));
  const roots = new Uint8Array(trees.length * hashBytes);
  trees.forEach(({ root }, place) => {
    roots.set(root, place * hashBytes);
  });
  const top = buildTree(roots, keccak);
  const upperPaths = trees.map((_, place) => top.path(place));
  return {
    root: top.root,
    size: trees.reduce((sum, { size }) => sum + size, 0),
    subtrees: vaults.map(({ vault }, place) => {
      const { root, size } = at(trees, place);
      return { vault, root, leaves: size };
    }),
    path(vault, leaf) {
      const lower = at(trees, vault).path(leaf);
      const upper = at(upperPaths, vault);
      const path = new Uint8Array(lower.length + upper.length);
      path.set(lower);
      path.set(upper, lower.length);
      return { path, depth: lower.length / hashBytes };
    },
  };
}

function at<T>(items: readonly T[], place: number): T {
  const item = items[place];
  if (item === undefined) throw new Error(`the batch has no vault ${place}`);
  return item;
}
