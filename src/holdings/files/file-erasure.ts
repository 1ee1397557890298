/** Erases the content of files for good: deletes a blob's data key when no version needs it any more. Proofs stay. */
import type { DefineStep, TakeStep } from '../../access/approvals/steps.ts';
import type { BlobRef, Blobs } from '../../blobs/blobs.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { type ErasureJournal, erasureWrites, timeOfErasure } from '../holds/erasures.ts';
import { keepHolds, refuseHeld } from '../holds/holds.ts';
import { findReleased, refuseReleased } from '../holds/release-holds.store.ts';
import { holdFile } from './file-versions.ts';
import { noFileVersion } from './files.store.ts';

export interface FileErasureInput {
  id: string;
  version?: number | undefined;
}

/** Of versions whose bytes remain, because another file has the same ones. */
export interface KeptVersions {
  message: string;
  keptVersions: number[];
}

export interface FileErasureDeps {
  blobs: Pick<Blobs, 'erase'>;
  journal: Pick<ErasureJournal, 'settle'>;
}

/** Versions listed as kept; the message has the full count. */
export const mostKeptVersions = 1000;

/**
 * The step that a request takes, perhaps with a second person. Default: all versions. Versions that are already erased are
 * skipped, and not logged. The result is null if no bytes remain.
 */
export function eraseFileStep(
  define: DefineStep,
  { blobs, journal }: FileErasureDeps,
): TakeStep<FileErasureInput, KeptVersions | null> {
  return define<FileErasureInput, KeptVersions | null>(
    'file.erase_content',
    async (db, caller, { id, version }) => {
      const { workspaceId } = caller;
      await keepHolds(db, workspaceId);
      const { vault } = await holdFile(db, { workspaceId, id });
      const stored = await storedVersions(db, { workspaceId, id, version });
      await refuseHeld(db, workspaceId, [id, vault.id, ...stored.map(({ vault_id }) => vault_id)]);
      const open = stored.filter(({ erased_at }) => erased_at === null);
      await refuseReleased(db, { workspaceId, id, versions: open.map(({ version }) => version) });
      const dropped = await eraseVersions(db, { caller, id, open, blobs });
      const kept = await keptVersions(db, stored, caller);
      const { versions: erased, bytes, settling } = dropped;
      const result =
        kept.length === 0
          ? null
          : { message: keptMessage(id, kept.length), keptVersions: kept.slice(0, mostKeptVersions) };
      return {
        result,
        subjectId: id,
        effect:
          erased === 0 ? null : { version: version ?? null, newest: stored.at(-1)?.version, erased, bytes },
        answer: { ...result },
        async settle() {
          if (erased > 0) await journal.settle();
          for (const settle of settling) await settle();
        },
      };
    },
  );
}

export function keptMessage(id: string, versions: number): string {
  return `The content of ${id} can no longer be downloaded, but the bytes of ${versions} versions remain because another file of the vault has the same content. Erase that file too.`;
}

export interface DroppedContent {
  versions: number;
  bytes: number;
  /** To be called after the commit. */
  settling: (() => Promise<void>)[];
}

/**
 * Inside a transaction that keeps the holds, for a file that is not held. Null when a version was added at or after `end`, or
 * when a release holds one.
 */
export async function eraseWholeFile(
  db: Db,
  blobs: Pick<Blobs, 'erase'>,
  { caller, id, end }: { caller: Caller; id: string; end: Date },
): Promise<DroppedContent | null> {
  const { workspaceId } = caller;
  await holdFile(db, { workspaceId, id });
  const stored = await storedVersions(db, { workspaceId, id, version: undefined });
  if (stored.some(({ created_at }) => created_at >= end)) return null;
  // After the lock: a release that came before it is seen here.
  if ((await findReleased(db, workspaceId, [id])).has(id)) return null;
  return eraseVersions(db, { caller, id, open: stored.filter(({ erased_at }) => erased_at === null), blobs });
}

interface StoredVersion {
  version: number;
  vault_id: string;
  blob_id: string | null;
  erased_at: Date | null;
  created_at: Date;
}

async function eraseVersions(
  db: Db,
  {
    caller,
    id,
    open,
    blobs,
  }: { caller: Caller; id: string; open: StoredVersion[]; blobs: Pick<Blobs, 'erase'> },
): Promise<DroppedContent> {
  if (open.length === 0) return { versions: 0, bytes: 0, settling: [] };
  const { workspaceId } = caller;
  const versions = open.map(({ version }) => version);
  const erasedAt = timeOfErasure(open);
  await db
    .updateTable('file_versions')
    .set({ erased_at: erasedAt })
    .where('workspace_id', '=', workspaceId)
    .where('file_id', '=', id)
    .where('version', 'in', versions)
    .execute();
  // A common order, so that two erasures never deadlock.
  const blobIds = [...new Set(open.map(({ blob_id }) => String(blob_id)))].sort();
  const erasedBlobs: string[] = [];
  const settling: (() => Promise<void>)[] = [];
  let bytes = 0;
  for (const blobId of blobIds) {
    const ref = { workspaceId, blobId };
    const done = await blobs.erase(db, ref, () => isNeeded(db, ref));
    if (!done) continue;
    erasedBlobs.push(blobId);
    bytes += done.bytes;
    settling.push(done.settle);
  }
  const erasure = { kind: 'file', subjectId: id, versions, bytes, erasedAt } as const;
  await insertAll(db, erasureWrites(caller, erasure, { erasedBlobs }));
  return { versions: versions.length, bytes, settling };
}

async function keptVersions(
  db: Db,
  stored: { version: number; blob_id: string | null }[],
  { workspaceId }: Pick<Caller, 'workspaceId'>,
): Promise<number[]> {
  const kept = await db
    .selectFrom('blobs')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', [...new Set(stored.map(({ blob_id }) => String(blob_id)))])
    .where('erased_at', 'is', null)
    .execute();
  const ids = new Set(kept.map(({ id }) => id));
  return stored.filter(({ blob_id }) => ids.has(String(blob_id))).map(({ version }) => version);
}

async function storedVersions(
  db: Db,
  { workspaceId, id, version }: { workspaceId: string; id: string; version: number | undefined },
): Promise<StoredVersion[]> {
  let select = db
    .selectFrom('file_versions')
    .select(['version', 'vault_id', 'blob_id', 'erased_at', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('file_id', '=', id);
  if (version !== undefined) select = select.where('version', '=', version);
  const versions = await select.orderBy('version').execute();
  if (versions.length === 0) throw noFileVersion(id, version);
  const stored = versions.filter(({ blob_id }) => blob_id !== null);
  if (stored.length > 0) return stored;
  throw new AppError(
    'resource_not_found',
    `The file ${id} has no content to erase: only its hash was given.`,
  );
}

async function isNeeded(db: Db, { workspaceId, blobId }: BlobRef): Promise<boolean> {
  const other = await db
    .selectFrom('file_versions')
    .select('file_id')
    .where('workspace_id', '=', workspaceId)
    .where('blob_id', '=', blobId)
    .where('erased_at', 'is', null)
    .executeTakeFirst();
  return other !== undefined;
}
