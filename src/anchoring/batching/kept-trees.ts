/** Trees that are kept for the next proof out of them: those used last, up to so many bytes in all. */
import { hashBytes, type MerkleTree } from '../../proof/merkle.ts';

export interface KeptTrees {
  /** Makes it the one used last. */
  find(name: string): MerkleTree | undefined;
  /** One that is too large alone is not kept. */
  keep(name: string, tree: MerkleTree): void;
}

export function createKeptTrees(mostBytes: number): KeptTrees {
  /** In the order of their last use. */
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

/** Its nodes, and the place of each leaf. */
function bytesOf({ size }: MerkleTree): number {
  return (2 * size - 1) * hashBytes + size * Uint32Array.BYTES_PER_ELEMENT;
}
