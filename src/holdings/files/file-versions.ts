/** Versions of files: makes the rows of a first version, or of a next one under the file's lock. */
import { firstLeaf, pendingLeaf } from '../../anchoring/batching/pending.ts';
import type { ReceivedBlob } from '../../blobs/blobs.ts';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import { newId, timeOf } from '../../runtime/ids.ts';
import type { OwningVault } from '../vaults/held-vault.ts';
import type { Expiration } from './file-input.ts';
import { type FileCanonicalization, type FileKey, type FileVersion, noFile } from './files.store.ts';

/** What a version is made of. */
export interface FileContentInput {
  name: string;
  mediaType: string;
  expiration: Expiration | null;
  content: StoredContent | HashOnly;
}

export interface StoredContent {
  blob: ReceivedBlob;
}

export interface HashOnly {
  contentHash: Buffer;
  canonicalization: FileCanonicalization;
}

export interface MadeFileVersion {
  file: FileVersion;
  leaf: Buffer;
  /** To be committed together. */
  writes: Write[];
}

/** Runs inside the transaction that inserts the rows, because the bytes are attached to it. */
export async function firstFileVersion(
  db: Db,
  owner: { workspaceId: string; vault: OwningVault },
  input: FileContentInput,
): Promise<MadeFileVersion> {
  const id = newId('fil');
  const createdAt = timeOf(id);
  const made = await makeVersion(db, owner, {
    ...input,
    id,
    version: 1,
    previousLeaf: firstLeaf,
    createdAt,
  });
  const row = {
    workspace_id: owner.workspaceId,
    id,
    vault_id: owner.vault.id,
    version: 1,
    last_leaf: made.leaf,
    transfer_id: null,
    created_at: createdAt,
  };
  return { ...made, writes: [{ table: 'files', row }, ...made.writes] };
}

/** For a locked file; advances it to its new version. */
export async function nextFileVersion(
  db: Db,
  file: HeldFile,
  input: FileContentInput,
): Promise<MadeFileVersion> {
  const { workspaceId, id } = file;
  const version = file.version + 1;
  const made = await makeVersion(db, file, {
    ...input,
    id,
    version,
    previousLeaf: file.lastLeaf,
    createdAt: new Date(),
  });
  await db
    .updateTable('file_versions')
    .set({ current: false })
    .where('workspace_id', '=', workspaceId)
    .where('file_id', '=', id)
    .where('version', '=', file.version)
    .execute();
  await db
    .updateTable('files')
    .set({ version, last_leaf: made.leaf })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
  return made;
}

/** A file in its current state, with its newest version. */
export interface HeldFile extends FileKey {
  vault: OwningVault;
  version: number;
  lastLeaf: Buffer;
  transferId: string | null;
  name: string;
  mediaType: string;
  contentHash: Buffer;
  canonicalization: FileCanonicalization;
}

/** Locks the file against new versions, transfers and erasures until the transaction ends. Does not lock its vault. */
export async function holdFile(db: Db, { workspaceId, id }: FileKey): Promise<HeldFile> {
  const held = await db
    .selectFrom('files')
    .select(['vault_id', 'version', 'last_leaf', 'transfer_id'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!held) throw noFile(id);
  const vault = await db
    .selectFrom('vaults')
    .select(['id', 'address'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', held.vault_id)
    .executeTakeFirstOrThrow();
  const newest = await db
    .selectFrom('file_versions')
    .select(['name', 'media_type', 'content_hash', 'canonicalization'])
    .where('workspace_id', '=', workspaceId)
    .where('file_id', '=', id)
    .where('version', '=', held.version)
    .executeTakeFirstOrThrow();
  return {
    workspaceId,
    id,
    vault,
    version: held.version,
    lastLeaf: held.last_leaf,
    transferId: held.transfer_id,
    name: newest.name,
    mediaType: newest.media_type,
    contentHash: newest.content_hash,
    canonicalization: newest.canonicalization,
  };
}

interface VersionToMake extends FileContentInput {
  id: string;
  version: number;
  previousLeaf: Buffer;
  createdAt: Date;
}

async function makeVersion(
  db: Db,
  { workspaceId, vault }: { workspaceId: string; vault: OwningVault },
  made: VersionToMake,
): Promise<MadeFileVersion> {
  const { id, version, name, mediaType, expiration, previousLeaf, createdAt } = made;
  const { contentHash, canonicalization, size, blobId } = await attach(db, made.content, vault.id);
  const expirationDate = expiration?.text ?? null;
  const { leaf, write } = pendingLeaf({
    workspaceId,
    kind: 'file',
    subjectId: id,
    version,
    vault,
    digest: contentHash,
    canonicalization,
    previousLeaf,
    claims: { name, mediaType, size, expirationDate },
  });
  const row = {
    workspace_id: workspaceId,
    file_id: id,
    version,
    vault_id: vault.id,
    name,
    media_type: mediaType,
    size,
    canonicalization,
    content_hash: contentHash,
    blob_id: blobId,
    erased_at: null,
    expiration_date: expirationDate,
    expires_at: expiration?.at ?? null,
    current: true,
    created_at: createdAt,
  };
  return {
    leaf,
    file: {
      id,
      vaultId: vault.id,
      vaultAddress: vault.address,
      name,
      version,
      contentHash: `0x${contentHash.toString('hex')}`,
      size,
      mediaType,
      expirationDate,
      expired: false,
      erased: false,
      status: 'pending',
      createdAt,
      anchor: null,
    },
    writes: [{ table: 'file_versions', row }, write],
  };
}

async function attach(
  db: Db,
  content: StoredContent | HashOnly,
  vaultId: string,
): Promise<HashOnly & { size: number | null; blobId: string | null }> {
  if (!('blob' in content)) return { ...content, size: null, blobId: null };
  const { contentHash, size } = content.blob;
  return { contentHash, canonicalization: 'raw', size, ...(await content.blob.attach(db, vaultId)) };
}
