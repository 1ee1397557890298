/** What a certificate is made from. */
import type { Proof } from '../../proof/proof.ts';

export interface NamedVault {
  name: string;
  address: string;
}

/** A version or a transfer, in the order in which their leaves follow each other. */
export interface CustodyEntry {
  kind: 'version' | 'transfer';
  /** Of the version, or of the transfer. */
  number: number;
  vault: NamedVault;
  /** Who took it over; only of a transfer. */
  to: NamedVault | null;
  /** Null until it is confirmed. */
  anchor: { blockNumber: number; at: Date } | null;
}

export interface CertificateInput {
  madeAt: Date;
  /** The public page that checks proofs. */
  verifyUrl: string;
  /** On the embedded chain, whose operator can set the clock. */
  embedded: boolean;
  workspace: { id: string; name: string };
  /** That sealed this version. */
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
    /** `bytesKept`: another file has the same bytes, so that they are not gone. */
    erased: { at: Date; bytesKept: boolean } | null;
  };
  status: 'confirmed' | 'finalized';
  proof: Proof;
  custody: CustodyEntry[];
  /** That were left out of the middle of `custody`, after its first entry. */
  custodyLeftOut: number;
}
