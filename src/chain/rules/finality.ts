/** When a block counts as final for the service: by the chain's own tag where that is known to mean something, else by depth. */
import { type Finality, knownChain } from '../../proof/evm/known-chains.ts';

/** On the embedded chain, where `finalized` is two blocks below the head. */
export const blocksToFinality = 2;

/** Deeper than the longest known reorganisation of a large chain without finality (Polygon: 157 blocks). */
const defaultDepth = 256;

/** On a chain that nobody knows, also one with the id of another, the tag may be missing, or another name for the head. */
export function finalityRule({ chainId, genesisHash }: { chainId: number; genesisHash: string }): Finality {
  const known = knownChain(chainId);
  return known?.genesisHash === genesisHash.toLowerCase() ? known.finality : defaultDepth;
}

/** The newest block that is final by depth; -1 while there is none. */
export function finalByDepth(headNumber: number, blocks: number): number {
  return Math.max(-1, headNumber - blocks);
}
