/** What a certificate is made from. */
import type { Hex } from 'viem';
import type { Proof } from '../../proof/verify/proof.ts';

export interface NamedVault {
  name: string;
  address: string;
}

/** A version or a transfer, in the order of their leaves. */
export interface CustodyEntry {
  kind: 'version' | 'transfer';
  /** The number of the version or the transfer. */
  number: number;
  vault: NamedVault;
  /** The receiving vault; only for a transfer. */
  to: NamedVault | null;
  /** Null until the leaf is confirmed. */
  anchor: { blockNumber: number; at: Date } | null;
}

/**
 * For whom a clock vouches: for everybody who trusts what ships with Holdfast, for those who trust the operator's choice,
 * or for nobody without a decision of their own.
 */
export type Standing = 'shipped' | 'operator' | 'nobody';

interface AnyClock {
  standing: Standing;
  /** The latest time at which the content existed, if the clock is right. */
  at: Date;
  /** It vouches for a later batch, whose head covers the one of this version. */
  isLater: boolean;
}

export interface BlockClock extends AnyClock {
  kind: 'block';
  chainId: number;
  /** Of a known chain; null for others. */
  name: string | null;
  /** `unknown`: not on the list of public chains, or another chain under the id of one. */
  chain: 'public' | 'test' | 'embedded' | 'unknown';
  number: number;
  hash: Hex;
  transactionHash: Hex;
  isFinal: boolean;
}

/** Which chain it is: by its id and the hash of its block 0. */
export type ChainKind = Pick<BlockClock, 'chain' | 'name'>;

export interface AuthorityClock extends AnyClock {
  kind: 'authority';
  name: string;
  /** Null if its certificates lead to no root that anybody here trusts. */
  root: { name: string; fingerprint: Hex } | null;
  /** When its certificate ends. */
  validUntil: Date;
  /** A later batch shows that the token is older than the end of its certificate. */
  isRenewed: boolean;
}

export interface BitcoinClock extends AnyClock {
  kind: 'bitcoin';
  height: number;
  hash: Hex;
}

export type CertificateClock = BlockClock | AuthorityClock | BitcoinClock;

export interface CertificateInput {
  madeAt: Date;
  /** The public page that checks proofs. */
  verifyUrl: string;
  /** Those of the batch, the block first, then those of later batches that cover it. */
  clocks: [BlockClock, ...CertificateClock[]];
  /** OpenTimestamps has it, but no Bitcoin block yet. */
  isBitcoinPending: boolean;
  /** The time of its anchor in a format that is void by now: a statement of the service. */
  firstAnchoredAt: Date | null;
  workspace: { id: string; name: string };
  /** The vault that sealed this version. */
  vault: NamedVault & { id: string };
  file: {
    id: string;
    name: string;
    version: number;
    newestVersion: number;
    mediaType: string;
    size: number | null;
    canonicalization: 'raw' | 'hmac-sha256';
    createdAt: Date;
    expiresAt: Date | null;
    /** `bytesKept`: another file has the same bytes, so they still exist. */
    erased: { at: Date; bytesKept: boolean } | null;
  };
  proof: Proof;
  custody: CustodyEntry[];
  /** Number of entries left out of the middle of `custody`, after its first entry. */
  custodyLeftOut: number;
}

/** The clock whose time a certificate states: the earliest of those that the most people trust. */
export function chiefClock({ clocks }: Pick<CertificateInput, 'clocks'>): CertificateClock {
  for (const wanted of ['shipped', 'operator'] as const) {
    const [first] = clocks
      .filter(({ standing }) => standing === wanted)
      .toSorted((one, other) => Number(one.at) - Number(other.at));
    if (first) return first;
  }
  return clocks[0];
}
