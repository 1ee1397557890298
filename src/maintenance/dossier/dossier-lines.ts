/** Entries as lines of JSON, each with everything needed to verify it: sign-offs, typed data, salts and proofs. */
import { sql } from 'kysely';
import { anchorToJson, isLeaf, leafKey } from '../../anchoring/anchored.ts';
import type { ManyProofs } from '../../anchoring/many-proofs.ts';
import type { ProofRequest } from '../../anchoring/proofs.ts';
import type { HexText } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { signoffTypedData } from '../../proof/signoff/signoff-message.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import {
  attachmentPath,
  type DossierAttachment,
  type DossierCounts,
  type EntryLine,
  type PendingEntry,
  type SignoffLine,
} from '../dossier-check/dossier-format.ts';
import type { AttachedFile, Usage } from '../signing/maintenance-entry.ts';
import { shownTypedData } from '../signing/typed-data.ts';
import { isCertified, type KeptEntry, type KeptSignoff } from './dossier-entries.ts';

export interface LinesDeps {
  db: Db;
  manyProofs: ManyProofs;
  /** Updated with every entry. */
  counts: DossierCounts;
  /** Called with every proof, before its line. */
  onProof(proof: Proof): Promise<void>;
  /** Called with the asset's usage as stated by entries that are not superseded. */
  onUsage(usage: Usage): void;
  /** Called with the address of everybody who signed. */
  onSigner(address: string): void;
  /** Whether the bytes of files are included in the dossier. */
  withFiles: boolean;
}

/** One text per entry, without a line feed. */
export async function* entryLines(
  pages: AsyncIterable<KeptEntry[]>,
  { db, manyProofs, counts, onProof, onUsage, onSigner, withFiles }: LinesDeps,
): AsyncGenerator<string> {
  for await (const page of pages) {
    const proofs = await manyProofs(page.flatMap(proofRequests));
    for (const proof of proofs) if (typeof proof === 'object') await onProof(proof);
    const attachments = await findAttachments(db, page, withFiles);
    const pending = await findPending(db, unconfirmedOf(page, proofs));
    let place = 0;
    for (const kept of page) {
      const proof = proofs[place];
      const waiting = pending.get(kept.entry.maintenanceId);
      const line: Omit<EntryLine, 'entry' | 'signoffs'> = {
        number: kept.number,
        maintenanceId: kept.entry.maintenanceId,
        maintenanceHash: kept.hash,
        salt: kept.salt,
        ...anchorToJson(kept),
        supersededBy: kept.supersededBy,
        attachments: kept.entry.files.map(
          (file) => attachments.get(`${file.fileId} ${file.version}`) ?? unknownFile(file),
        ),
        ...proofToJson(proof),
        ...(waiting && { pending: waiting }),
      };
      const signoffs = kept.signoffs.map((signoff, index) => signoffLine(signoff, proofs[place + 1 + index]));
      if (kept.supersededBy === null && kept.entry.data.usage) onUsage(kept.entry.data.usage as Usage);
      for (const { document } of kept.signoffs) onSigner(document.workerAddress);
      counts.entries += 1;
      counts.provenEntries += isProof(proof) ? 1 : 0;
      counts.signoffs += kept.signoffs.length;
      counts.provenSignoffs += proofs.slice(place + 1, place + 1 + signoffs.length).filter(isProof).length;
      counts.certified += isCertified(kept) ? 1 : 0;
      // Sends the entry as exactly the text that was hashed.
      yield `${JSON.stringify(line).slice(0, -1)},"entry":${kept.text},"signoffs":[${signoffs.join(',')}]}`;
      place += 1 + kept.signoffs.length;
    }
  }
}

type MadeProof = Awaited<ReturnType<ManyProofs>>[number] | undefined;

/** Files in the dossier, each path only once. */
export async function* filesOf(
  db: Db,
  pages: AsyncIterable<KeptEntry[]>,
): AsyncGenerator<DossierAttachment & { path: string }> {
  const given = new Set<string>();
  for await (const page of pages) {
    for (const attachment of (await findAttachments(db, page, true)).values()) {
      const { path } = attachment;
      if (path === null || given.has(path)) continue;
      given.add(path);
      yield { ...attachment, path };
    }
  }
}

function unknownFile(file: AttachedFile): DossierAttachment {
  return { ...file, contentHash: file.contentHash as HexText, mediaType: null, size: null, path: null };
}

function signoffLine(
  { number, document, text, salt, hash, ...state }: KeptSignoff,
  proof: MadeProof,
): string {
  const line: Omit<SignoffLine, 'document'> = {
    number,
    signoffHash: hash,
    salt,
    ...anchorToJson(state),
    typedData: shownTypedData(signoffTypedData(document)),
    ...proofToJson(proof),
  };
  return `${JSON.stringify(line).slice(0, -1)},"document":${text}}`;
}

function isProof(proof: MadeProof): boolean {
  return typeof proof === 'object';
}

function proofToJson(proof: MadeProof): Pick<SignoffLine, 'proof' | 'unprovable'> {
  if (typeof proof === 'object') return { proof };
  return proof === 'broken' ? { proof: null, unprovable: true } : { proof: null };
}

/** The proof of the entry, then those of its sign-offs. */
function proofRequests({ entry, hash, salt, signoffs }: KeptEntry): ProofRequest[] {
  const { workspaceId, maintenanceId: subjectId } = entry;
  return [
    { workspaceId, subjectId, kind: 'maintenance', version: 1, content: contentOf(hash, salt) },
    ...signoffs.map((signoff) => ({
      workspaceId,
      subjectId,
      kind: 'signoff',
      version: signoff.number,
      content: contentOf(signoff.hash, signoff.salt),
    })),
  ];
}

export function contentOf(digest: HexText, salt: HexText) {
  return { algorithm: 'sha-256', digest, canonicalization: 'jcs', salt } as const;
}

/** The entries whose leaf is not on the chain yet. `proofs`: those of each entry and its sign-offs. */
function unconfirmedOf(page: KeptEntry[], proofs: MadeProof[]): KeptEntry[] {
  let place = 0;
  return page.filter(({ signoffs }) => {
    const proof = proofs[place];
    place += 1 + signoffs.length;
    return proof === 'unconfirmed';
  });
}

/** What the leaves of these entries are made of, by the entry's id. */
async function findPending(db: Db, entries: KeptEntry[]): Promise<Map<string, PendingEntry>> {
  const workspaceId = entries[0]?.entry.workspaceId;
  if (workspaceId === undefined) return new Map();
  const { rows } = await sql<{ id: string; address: string; claims: string }>`
    select wanted.id, lower(v.address) as address, l.claims
    from (
      select ${workspaceId}::text as workspace_id, id
      from unnest(${entries.map(({ entry }) => entry.maintenanceId)}::text[]) as id
    ) as wanted
    join anchor_leaves l on ${sql.raw(isLeaf(leafKey('maintenance', 'wanted')))}
    join vaults v on v.workspace_id = l.workspace_id and v.id = l.vault_id
    where l.claims is not null`.execute(db);
  return new Map(
    rows.map(({ id, address, claims }) => [id, { vault: address as HexText, claims: JSON.parse(claims) }]),
  );
}

interface FileRow {
  file_id: string;
  version: number;
  media_type: string;
  size: number | null;
  kept: boolean;
}

/** By id and version. */
async function findAttachments(
  db: Db,
  page: KeptEntry[],
  withFiles: boolean,
): Promise<Map<string, DossierAttachment>> {
  const found = new Map<string, DossierAttachment>();
  const files = page.flatMap(({ entry }) => entry.files);
  const workspaceId = page[0]?.entry.workspaceId;
  if (files.length === 0 || workspaceId === undefined) return found;
  const { rows } = await sql<FileRow>`
    select v.file_id, v.version, v.media_type, v.size, v.blob_id is not null and v.erased_at is null as kept
    from unnest(${files.map(({ fileId }) => fileId)}::text[], ${files.map(({ version }) => version)}::integer[])
      as wanted (file_id, version)
    cross join lateral (
      select * from file_versions
      where workspace_id = ${workspaceId} and file_id = wanted.file_id and version = wanted.version limit 1
    ) as v`.execute(db);
  const known = new Map(rows.map((row) => [`${row.file_id} ${row.version}`, row]));
  for (const file of files) {
    const key = `${file.fileId} ${file.version}`;
    const row = known.get(key);
    const { fileId, version, name, canonicalization } = file;
    found.set(key, {
      ...{ fileId, version, name, canonicalization },
      contentHash: file.contentHash as HexText,
      mediaType: row?.media_type ?? null,
      size: row?.size ?? null,
      path: withFiles && row?.kept ? attachmentPath(file) : null,
    });
  }
  return found;
}
