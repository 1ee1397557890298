/** When a block counts as final: by the chain's own word where that word means something, else by its depth. */

/** The chain's `finalized` tag, or so many blocks below the head. */
export type FinalityRule = { by: 'tag' } | { by: 'depth'; blocks: number };

/** On the embedded chain: anvil's `finalized` is the head less two. */
export const blocksToFinality = 2;

/** Uses nothing of Node.js: verifiers in browsers ask too. */
export function finalityRule({ chainId, embedded }: { chainId: number; embedded: boolean }): FinalityRule {
  if (embedded) return { by: 'depth', blocks: blocksToFinality };
  return taggedChains.has(chainId) ? { by: 'tag' } : { by: 'depth', blocks: defaultDepth };
}

/** The newest block that is final by depth; -1 while there is none. */
export function finalByDepth(headNumber: number, blocks: number): number {
  return Math.max(-1, headNumber - blocks);
}

/**
 * Chains whose `finalized` was put there by a vote of their validators, or by Ethereum itself. On any other chain the
 * tag may be missing, or be the head under another name.
 */
const taggedChains = new Set([
  1, // Ethereum
  17_000, // Holesky
  560_048, // Hoodi
  11_155_111, // Sepolia
  100, // Gnosis
  10_200, // Chiado
  10, // OP Mainnet
  11_155_420, // OP Sepolia
  8_453, // Base
  84_532, // Base Sepolia
  42_161, // Arbitrum One
  421_614, // Arbitrum Sepolia
]);

/** Deeper than the longest reorganisation that a large chain without finality is known for (Polygon: 157 blocks). */
const defaultDepth = 256;
