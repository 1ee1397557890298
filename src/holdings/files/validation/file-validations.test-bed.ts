/** A file of which only the hash is known, with validations that are completed, for checks to be tried on. */
import { firstLeaf, pendingLeaf } from '../../../anchoring/batching/pending.ts';
import type { Db } from '../../../db/database.ts';
import { insertAll } from '../../../db/writes.ts';
import { newId } from '../../../runtime/ids.ts';
import { completeValidations } from './file-validation-results.ts';

export interface ValidatedFile {
  fileId: string;
  /** One that is valid, one of something else, and one that waits. */
  validationIds: [string, string, string];
}

export async function insertValidatedFile(
  db: Db,
  { workspaceId, vault }: { workspaceId: string; vault: { id: string; address: string } },
): Promise<ValidatedFile> {
  const fileId = newId('fil');
  const digest = Buffer.alloc(32, 0xd1);
  const { leaf, write } = pendingLeaf({
    workspaceId,
    kind: 'file',
    subjectId: fileId,
    version: 1,
    vault,
    digest,
    previousLeaf: firstLeaf,
    claims: {},
  });
  const key = { workspace_id: workspaceId, vault_id: vault.id, version: 1 };
  const asked = [digest, Buffer.alloc(32, 0xd2), digest].map((presentedHash) => ({
    workspaceId,
    id: newId('val'),
    fileId,
    version: 1,
    presentedHash,
    vault,
    contentHash: digest,
    canonicalization: 'raw' as const,
    anchoredDigest: digest,
    leaf,
    authenticity: true,
  }));
  await insertAll(db, [
    { table: 'files', row: { ...key, id: fileId, last_leaf: leaf, transfer_id: null } },
    {
      table: 'file_versions',
      row: {
        ...key,
        file_id: fileId,
        name: 'deed.txt',
        media_type: 'text/plain',
        size: null,
        canonicalization: 'raw',
        content_hash: digest,
        blob_id: null,
        expiration_date: null,
      },
    },
    write,
    ...asked.map(({ id, presentedHash }) => ({
      table: 'file_validations' as const,
      row: {
        workspace_id: workspaceId,
        id,
        file_id: fileId,
        file_version: 1,
        presented_hash: presentedHash,
        vault_id: vault.id,
      },
    })),
  ]);
  await db.transaction().execute((db) => completeValidations(db, asked.slice(0, 2)));
  return { fileId, validationIds: asked.map(({ id }) => id) as ValidatedFile['validationIds'] };
}
