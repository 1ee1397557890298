/** The dossier of an asset, `holdfast/dossier@1`: the names of its files and their content. Safe in browsers. */
import type { Hex } from 'viem';
import type { AnchorStatus } from '../../proof/anchor-status.ts';
import type { PasskeyDocument } from '../../proof/signoff/passkey-document.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import type { SignoffTypedData } from '../../proof/signoff/signoff-message.ts';
import type { Claims, Proof } from '../../proof/verify/proof.ts';
import type { MaintenanceEntry } from '../signing/maintenance-entry.ts';
import type { ShownTypedData } from '../signing/typed-data.ts';

export const dossierFormat = 'holdfast/dossier@1';

export const dossierPaths = {
  summary: 'dossier.json',
  /** The proof of dossier.json; missing if it was not confirmed when the archive ended. */
  seal: 'dossier-proof.json',
  readme: 'README.txt',
  page: 'verify.html',
  logbook: 'logbook.pdf',
  /** `holdfast/history@1`; missing while nothing of the asset is confirmed. */
  history: 'asset/history.json',
  /** The documents that the history proves, oldest first. */
  versions: 'asset/versions.jsonl',
  entries: 'entries/',
  /** What was anchored about the passkeys of those who signed; missing if none of them has one. */
  passkeys: 'passkeys.jsonl',
  certificates: 'release-certificates/',
  attachments: 'attachments/',
} as const;

export interface AnchorJson {
  chainId: number;
  transactionHash: Hex;
  blockNumber: number;
  anchoredAt: string;
}

export interface Anchored {
  status: AnchorStatus;
  anchor: AnchorJson | null;
}

/** dossier.json; times are ISO 8601 in UTC. */
export interface Dossier {
  format: typeof dossierFormat;
  /** The subject of the proof of this file. */
  dossierId: string;
  madeAt: string;
  workspaceId: string;
  /** When it was made, no clock of the trust that ships vouched for all of its times. */
  developmentEvidence: boolean;
  asset: {
    assetId: string;
    name: string;
    serialNumber: string;
    partNumber: string;
    metadata: Record<string, unknown>;
    /** As its own documents state it. */
    usage: { hours: number; cycles: number };
    /**
     * What its parents ran on top of that, while it was installed in them: as the service computed it from their entries, which
     * are not in this dossier. Dossiers of earlier versions lack it.
     */
    usageFromParents?: { hours: number; cycles: number };
    version: number;
    parentAssetId: string | null;
    createdAt: string;
    updatedAt: string;
  } & Anchored;
  /** The current owner. */
  owner: DossierVault;
  /** From the first owner to the current one. */
  owners: {
    vault: DossierVault;
    /** When its version or transfer was anchored; before that, when the asset was created. */
    since: string;
    transfer: ({ id: string; number: number } & Anchored) | null;
  }[];
  /** From the first one on. */
  installations: { number: number; parentAssetId: string; installedAt: string; removedAt: string | null }[];
  /** What is or was installed in it, oldest first; each part has its own dossier, which proves it. */
  parts: DossierPart[];
  due: unknown;
  counts: DossierCounts;
  /** Whether the bytes of attachments were requested. */
  attachmentsIncluded: boolean;
  /** All other files, except the proof of this one. */
  contents: ListedFile[];
}

export interface DossierVault {
  address: string;
  name: string;
}

export interface DossierPart {
  assetId: string;
  name: string;
  serialNumber: string;
  partNumber: string;
  installedAt: string;
  removedAt: string | null;
}

export interface DossierCounts {
  versions: number;
  entries: number;
  /** Entries with a proof. */
  provenEntries: number;
  signoffs: number;
  provenSignoffs: number;
  certified: number;
}

export interface ListedFile {
  path: string;
  bytes: number;
  sha256: string;
}

/** A line of asset/versions.jsonl. */
export interface VersionLine {
  version: number;
  digest: Hex;
  salt: Hex;
  createdAt: string;
  document: Record<string, unknown>;
}

/** A line of entries/*.jsonl. */
export interface EntryLine extends Anchored {
  /** Counts from 1 for each asset, in the order of recording; the claims of its leaf have it, too. */
  number: number;
  maintenanceId: string;
  maintenanceHash: Hex;
  salt: Hex;
  supersededBy: string | null;
  attachments: DossierAttachment[];
  /** The hashed content, in its RFC 8785 form. */
  entry: MaintenanceEntry;
  signoffs: SignoffLine[];
  /** Null until the entry is confirmed, and if it is `unprovable`. */
  proof: Proof | null;
  /** Only while it is not confirmed: what its leaf is made of, because the next entry names that leaf. */
  pending?: PendingEntry;
  /** The stored entry is not what was anchored, so there is no proof. */
  unprovable?: true;
}

export interface PendingEntry {
  /** In lower case. */
  vault: Hex;
  /** With assetId, number and previousEntry, like those of the proof. */
  claims: Claims;
}

export interface SignoffLine extends Anchored {
  number: number;
  signoffHash: Hex;
  salt: Hex;
  document: SignoffDocument;
  /** EIP-712: what the worker signed. For other tools, since the document has all of it. */
  typedData: ShownTypedData<SignoffTypedData>;
  proof: Proof | null;
  unprovable?: true;
}

/** A line of passkeys.jsonl: those of a worker follow each other. */
export interface PasskeyLine extends Anchored {
  workerId: string;
  number: number;
  hash: Hex;
  salt: Hex;
  document: PasskeyDocument;
  proof: Proof | null;
  unprovable?: true;
}

export interface DossierAttachment {
  fileId: string;
  version: number;
  name: string;
  contentHash: Hex;
  canonicalization: string;
  mediaType: string | null;
  size: number | null;
  /** Null when the bytes are not in the dossier. */
  path: string | null;
}

export function entriesPath(part: number): string {
  return `${dossierPaths.entries}${String(part).padStart(5, '0')}.jsonl`;
}

/** Uses nothing of the user's file name except its extension. */
export function attachmentPath({
  fileId,
  version,
  name,
}: Pick<DossierAttachment, 'fileId' | 'version' | 'name'>) {
  const [ending = ''] = /\.[a-z0-9]{1,8}$/i.exec(name) ?? [];
  return `${dossierPaths.attachments}${fileId}-v${version}${ending.toLowerCase()}`;
}
