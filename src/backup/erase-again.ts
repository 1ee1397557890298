/** Erases again, in a restored database, what the journal of erasures names: the backup may be older than they are. */
import { sql } from 'kysely';
import { auditWrite } from '../access/audit/audit.ts';
import { createArchive } from '../anchoring/archive/archive.ts';
import { findArchived } from '../anchoring/archive/archived-rows.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { readingBlobs } from '../blobs/blobs.ts';
import { type JournalledErasure, journalSecret, readErasures } from '../blobs/erasure-journal.ts';
import { objectName } from '../blobs/object-names.ts';
import type { Db } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import { type SecretRef, unseal } from '../keys/envelope.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import { OperatorError } from '../runtime/errors.ts';

export interface ErasedAgain {
  /** Records and files of which something was erased. */
  subjects: number;
  /** Objects of blobs, to be removed once the transaction is committed. */
  objects: string[];
  /** Objects of the journal that were read. */
  journalled: number;
}

/** Inside the last transaction of a restore, so that no service ever starts with what was erased. */
export async function eraseJournalled(
  db: Db,
  { store, keys }: { store: BlobStore; keys: MasterKeys },
): Promise<ErasedAgain> {
  const done: ErasedAgain = { subjects: 0, objects: [], journalled: 0 };
  const open = (ref: SecretRef) => openSecret(db, keys, ref);
  const archive = createArchive({ db, blobs: readingBlobs({ keyring: { open }, store }) });
  // Null in a backup from before the journal.
  const key = await open({ workspaceId: 'system', purpose: 'service-secret', id: journalSecret });
  for await (const { name, erasures } of readErasures(store, key)) {
    if (!erasures) {
      throw new OperatorError(
        `The object ${name} of the journal of erasures was not written by the installation of this backup, or was changed. Find out why. To restore without what it says, remove it first.`,
      );
    }
    done.journalled += 1;
    for (const erasure of erasures) {
      if (erasure.kind === 'record') {
        const [archived] = await findArchived(db, erasure.workspaceId, [erasure.id]);
        // Else all of it was erased before it was archived.
        if (archived && archived.data_bytes > 0)
          await archive.bringBack(db, erasure.workspaceId, [erasure.id]);
        done.subjects += await eraseRecord(db, erasure);
      } else {
        const objects = await eraseFile(db, erasure);
        if (objects === null) continue;
        done.subjects += 1;
        done.objects.push(...objects);
      }
    }
  }
  return done;
}

async function openSecret(db: Db, keys: MasterKeys, ref: SecretRef): Promise<Buffer | null> {
  const row = await db
    .selectFrom('secrets')
    .select(['master_version', 'wrapped_data_key', 'ciphertext'])
    .where('workspace_id', '=', ref.workspaceId)
    .where('purpose', '=', ref.purpose)
    .where('id', '=', ref.id)
    .executeTakeFirst();
  const key = row && keys.byVersion.get(row.master_version);
  return row && key ? unseal({ version: row.master_version, key }, ref, row) : null;
}

/** Versions that were made after the erasure are other ones: their number was given again after commits were lost. */
async function eraseRecord(db: Db, erasure: JournalledErasure): Promise<number> {
  const { workspaceId, id, versions, erasedAt } = erasure;
  const { rows } = await sql<{ version: number; bytes: number }>`
    with found as (
      select version, octet_length(data) as bytes from records
      where workspace_id = ${workspaceId} and id = ${id} and version = any(${versions}::integer[])
        and created_at <= ${erasedAt}::timestamptz and erased_at is null
    ), erased as (
      update records r set data = null, salt = null, claims = null, erased_at = ${erasedAt}::timestamptz
      from found where r.workspace_id = ${workspaceId} and r.id = ${id} and r.version = found.version
    )
    select version, bytes from found`.execute(db);
  if (rows.length === 0) return 0;
  const bytes = rows.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
  await note(db, erasure, { versions: rows.map(({ version }) => version), bytes });
  return 1;
}

/** Null when there was nothing to erase. */
async function eraseFile(db: Db, erasure: JournalledErasure): Promise<string[] | null> {
  const { workspaceId, id, versions, erasedAt } = erasure;
  const { rows } = await sql<{ version: number; blob_id: string | null }>`
    update file_versions set erased_at = ${erasedAt}::timestamptz
    where workspace_id = ${workspaceId} and file_id = ${id} and version = any(${versions}::integer[])
      and created_at <= ${erasedAt}::timestamptz and erased_at is null and blob_id is not null
    returning version, blob_id`.execute(db);
  if (rows.length === 0) return null;
  const { rows: gone } = await sql<{ id: string; size: number }>`
    update blobs b set erased_at = ${erasedAt}::timestamptz
    where b.workspace_id = ${workspaceId} and b.id = any(${rows.map(({ blob_id }) => blob_id)}::text[])
      and b.erased_at is null
      and not exists (
        select 1 from file_versions v
        where v.workspace_id = b.workspace_id and v.blob_id = b.id and v.erased_at is null
      )
    returning b.id, b.size`.execute(db);
  await sql`
    delete from secrets
    where workspace_id = ${workspaceId} and purpose = 'blob' and id = any(${gone.map(({ id }) => id)}::text[])`.execute(
    db,
  );
  const bytes = gone.reduce((sum, { size }) => sum + size, 0);
  await note(db, erasure, { versions: rows.map(({ version }) => version).sort((a, b) => a - b), bytes });
  return gone.map(({ id: blobId }) => objectName({ workspaceId, blobId }));
}

/** The entries that told of it are lost with the commits after the backup. */
async function note(
  db: Db,
  { workspaceId, kind, id, erasedAt }: JournalledErasure,
  { versions, bytes }: { versions: number[]; bytes: number },
): Promise<void> {
  const caller = {
    workspaceId,
    actor: { kind: 'command', id: 'restore' } as const,
    scopes: [],
    requestId: null,
  };
  await insertAll(db, [
    auditWrite(caller, {
      action: kind === 'record' ? 'record.erase_data' : 'file.erase_content',
      targetId: id,
      details: { versions, bytes, erasedAt },
    }),
    {
      table: 'erasures',
      row: {
        workspace_id: workspaceId,
        kind,
        subject_id: id,
        versions,
        bytes,
        by_retention: false,
        erased_at: new Date(erasedAt),
        journalled: true,
      },
    },
  ]);
}
