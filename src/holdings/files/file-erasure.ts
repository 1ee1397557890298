/** Erases the content of files for good: deletes a blob's data key when no version needs it any more. Proofs stay. */
import { auditWrite } from '../../access/audit/audit.ts';
import type { BlobRef, Blobs } from '../../blobs/blobs.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { holdFile } from './file-versions.ts';
import { noFileVersion } from './files.store.ts';

/**
 * Default: all versions. Versions that are already erased are skipped, and not logged. Returns the versions whose bytes are
 * kept because another file has the same ones.
 */
export async function eraseContent(
  { db, blobs }: { db: Db; blobs: Pick<Blobs, 'erase'> },
  caller: Caller,
  { id, version }: { id: string; version: number | undefined },
): Promise<number[]> {
  const { workspaceId } = caller;
  const { erased, kept } = await db.transaction().execute(async (db) => {
    await holdFile(db, { workspaceId, id });
    const stored = await storedVersions(db, { workspaceId, id, version });
    const open = stored.filter(({ erased_at }) => erased_at === null);
    if (open.length === 0) return { erased: [], kept: await keptVersions(db, stored, caller) };
    const versions = open.map(({ version }) => version);
    await db
      .updateTable('file_versions')
      .set({ erased_at: new Date() })
      .where('workspace_id', '=', workspaceId)
      .where('file_id', '=', id)
      .where('version', 'in', versions)
      .execute();
    // A common order, so that two erasures never deadlock.
    const blobIds = [...new Set(open.map(({ blob_id }) => String(blob_id)))].sort();
    const dropped = [];
    for (const blobId of blobIds) {
      const ref = { workspaceId, blobId };
      const done = await blobs.erase(db, ref, () => isNeeded(db, ref));
      if (done) dropped.push({ ...done, blobId });
    }
    const details = { versions, erasedBlobs: dropped.map(({ blobId }) => blobId) };
    await insertAll(db, [auditWrite(caller, { action: 'file.erase_content', targetId: id, details })]);
    return { erased: dropped, kept: await keptVersions(db, stored, caller) };
  });
  for (const { settle } of erased) await settle();
  return kept;
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
) {
  let select = db
    .selectFrom('file_versions')
    .select(['version', 'blob_id', 'erased_at'])
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
