/** When a block counts as final: by the chain's `finalized` tag where that is meaningful, else by its depth. */

/** The chain's `finalized` tag, or a number of blocks below the head. */
export type FinalityRule = { by: 'tag' } | { by: 'depth'; blocks: number };

/** On the embedded chain, where `finalized` is two blocks below the head. */
export const blocksToFinality = 2;

/** Uses no Node.js API, because verifiers in browsers call it too. */
export function finalityRule({ chainId, embedded }: { chainId: number; embedded: boolean }): FinalityRule {
  if (embedded) return { by: 'depth', blocks: blocksToFinality };
  return taggedChains.has(chainId) ? { by: 'tag' } : { by: 'depth', blocks: defaultDepth };
}

/** The newest block that is final by depth; -1 while there is none. */
export function finalByDepth(headNumber: number, blocks: number): number {
  return Math.max(-1, headNumber - blocks);
}

/**
 * Chains whose `finalized` tag comes from a vote of their validators, or from Ethereum itself. On any other chain the
 * tag may be missing, or just another name for the head.
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

/** Deeper than the longest known reorganisation of a large chain without finality (Polygon: 157 blocks). */
const defaultDepth = 256;
