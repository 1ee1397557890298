/** What a certificate is made from. */
import type { Proof } from '../../proof/proof.ts';

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

export interface CertificateInput {
  madeAt: Date;
  /** The public page that checks proofs. */
  verifyUrl: string;
  /** Anchored on the embedded chain, whose operator can set the clock. */
  embedded: boolean;
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
  status: 'confirmed' | 'finalized';
  proof: Proof;
  custody: CustodyEntry[];
  /** Number of entries left out of the middle of `custody`, after its first entry. */
  custodyLeftOut: number;
}
