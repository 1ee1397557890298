/** Finds out for which anchors of a dossier somebody vouches whom Holdfast trusts by itself, as certificates of files do. */
import type { AnchorState } from '../../anchoring/anchored.ts';
import type { StoredChain } from '../../chain/stored-chain.ts';
import type { ChainKind } from '../../holdings/certificates/certificate-input.ts';
import { chainKind } from '../../holdings/certificates/own-chain.ts';
import { judgeClocks } from '../../proof/verify/clocks.ts';
import { isEvmAnchor, type Proof } from '../../proof/verify/proof.ts';
import type { Voucher } from '../../proof/verify/steps.ts';
import { shippedTrust, type Trust } from '../../proof/verify/trust.ts';

export interface DossierClocks {
  chain: ChainKind;
  /** Judges the clocks of a proof, once for each batch. */
  add(proof: Proof): Promise<void>;
  /** Nobody vouches for the time of this anchor but the operator of the service. */
  isDevelopment(anchor: AnchorState['anchor']): boolean;
  /** The same for at least one of the proofs, or there are no proofs that anybody could vouch for. */
  isAnyDevelopment(): boolean;
}

export interface DossierClocksGiven {
  /** Null before the first lead. */
  chain: StoredChain | null;
  at: Date;
  /** The one that ships, unless a test has its own. */
  trust?: Trust;
}

export function createDossierClocks({ chain: stored, at, trust }: DossierClocksGiven): DossierClocks {
  const chain: ChainKind = stored ? chainKind(stored) : { chain: 'unknown', name: null };
  // A block of a public chain counts, at the latest once it is final: documents call it provisional until then.
  const isPublic = chain.chain === 'public';
  /** By the transaction that anchored the batch. */
  const vouched = new Map<string, boolean>();
  // Nobody is asked for blocks: they are of a chain whose clock does not count.
  const given = { trust: trust ?? shippedTrust, at: at.getTime(), until: Number.POSITIVE_INFINITY };

  return {
    chain,
    async add(proof) {
      const transaction = proof.anchors.find(isEvmAnchor)?.transactionHash;
      if (isPublic || transaction === undefined || vouched.has(transaction)) return;
      const isVouched =
        hasOtherClocks(proof) && (await judgeClocks(proof, true, given)).vouchers.some(isShipped);
      vouched.set(transaction, isVouched);
    },
    isDevelopment: (anchor) => !isPublic && anchor !== null && vouched.get(anchor.transactionHash) !== true,
    isAnyDevelopment: () => !isPublic && (vouched.size === 0 || [...vouched.values()].includes(false)),
  };
}

function hasOtherClocks({ anchors, renewals }: Proof): boolean {
  return [{ anchors }, ...renewals].some(({ anchors }) => !anchors.every(isEvmAnchor));
}

function isShipped({ isShipped }: Voucher): boolean {
  return isShipped;
}
