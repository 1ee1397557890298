/** A cache of trees for later proofs: keeps the most recently used, up to a limit of bytes. */
import { hashBytes, type MerkleTree } from '../../proof/merkle.ts';

export interface KeptTrees {
  /** Marks the tree as most recently used. */
  find(name: string): MerkleTree | undefined;
  /** Does not keep a tree that alone exceeds the limit. */
  keep(name: string, tree: MerkleTree): void;
}

export function createKeptTrees(mostBytes: number): KeptTrees {
  /** Least recently used first. */
  const trees = new Map<string, MerkleTree>();
  let bytes = 0;

  function drop(name: string): void {
    const tree = trees.get(name);
    if (!tree) return;
    trees.delete(name);
    bytes -= bytesOf(tree);
  }

  return {
    find(name) {
      const tree = trees.get(name);
      if (!tree) return undefined;
      trees.delete(name);
      trees.set(name, tree);
      return tree;
    },
    keep(name, tree) {
      drop(name);
      if (bytesOf(tree) > mostBytes) return;
      trees.set(name, tree);
      bytes += bytesOf(tree);
      for (const oldest of trees.keys()) {
        if (bytes <= mostBytes) return;
        drop(oldest);
      }
    },
  };
}

/** The tree nodes, and the place of each leaf. */
function bytesOf({ size }: MerkleTree): number {
  return (2 * size - 1) * hashBytes + size * Uint32Array.BYTES_PER_ELEMENT;
}
