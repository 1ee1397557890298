/** What the service itself knows of its chain, as the verifier asks for it: the anchors of a proof are rows of its own. */
import type { Hex } from 'viem';
import { registryCodeHash } from '../../chain/registry/registry.ts';
import type { StoredChain } from '../../chain/stored-chain.ts';
import { knownChain } from '../../proof/evm/known-chains.ts';
import type { ChainReader } from '../../proof/verify/chain-reader.ts';
import { type EvmAnchor, isEvmAnchor, type Proof } from '../../proof/verify/proof.ts';
import type { ChainKind } from './certificate-input.ts';

/** Only the block of the proof's own batch counts as final, and only if `isFinal` says so. */
export function ownChain(proof: Proof, chain: StoredChain, isFinal: boolean): ChainReader {
  const { merkle, anchors, renewals } = proof;
  const [own] = anchors.filter(isEvmAnchor);
  const rooted = [{ ...merkle, anchors }, ...renewals].flatMap(({ root, size, anchors }) =>
    anchors.filter(isEvmAnchor).map((anchor) => ({ anchor, root, size })),
  );
  const find = (isWanted: (anchor: EvmAnchor) => boolean) =>
    rooted.find(({ anchor }) => isWanted(anchor)) ?? null;
  return {
    chainId: async () => chain.chainId,
    genesisHash: async () => chain.genesisHash,
    isDevelopmentNode: async () => false,
    codeHash: async () => registryCodeHash,
    async block(number) {
      const found = find(({ blockNumber }) => blockNumber === number);
      if (!found) return null;
      const { blockHash: hash, blockTime: time, transactionHash, inclusion } = found.anchor;
      const transactions: Hex[] = [];
      transactions[inclusion?.index ?? 0] = transactionHash;
      return { number, hash, time, transactions };
    },
    async transaction(hash) {
      const found = find(({ transactionHash }) => transactionHash === hash);
      if (!found) return null;
      const { anchor, root, size } = found;
      const { blockNumber, blockHash, contract: registry, submitter } = anchor;
      return { succeeded: true, blockNumber, blockHash, anchored: [{ registry, submitter, root, size }] };
    },
    async finalBlock() {
      return isFinal ? (own?.blockNumber ?? 0) : -1;
    },
  };
}

/** An id alone says nothing: anybody's private chain can have that of a public one. */
export function chainKind({ chainId, genesisHash, embedded }: StoredChain): ChainKind {
  if (embedded) return { chain: 'embedded', name: null };
  const known = knownChain(chainId);
  if (known === null || known.genesisHash !== genesisHash) return { chain: 'unknown', name: null };
  return { chain: known.test ? 'test' : 'public', name: known.name };
}
