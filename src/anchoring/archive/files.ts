/** Removes files of the archive in which nothing is left, a while after that was first seen. */
import { sql } from 'kysely';
import type { Blobs } from '../../blobs/blobs.ts';
import type { Db } from '../../db/database.ts';

/** A backup that began while a record was in the file copies the file before that. */
const keepDays = 7;

export interface FilesDeps {
  db: Db;
  blobs: Pick<Blobs, 'erase'>;
}

/** Files that a killed run left behind are among them. Returns how many were removed. */
export async function removeEmptyFiles({ db, blobs }: FilesDeps, workspaceId: string): Promise<number> {
  await sql`
    update archive_files f set empty_since = now()
    where workspace_id = ${workspaceId} and empty_since is null and ${isEmpty}`.execute(db);
  const { rows } = await sql<{ number: number; blob_id: string }>`
    select number, blob_id from archive_files f
    where workspace_id = ${workspaceId} and empty_since < now() - make_interval(days => ${keepDays}) and ${isEmpty}
    order by number`.execute(db);
  let removed = 0;
  for (const { number, blob_id: blobId } of rows) {
    const erased = await db.transaction().execute(async (db) => {
      // Waits for a run that moves records into it.
      const { rows } = await sql`
        select 1 from archive_files f where number = ${number} and empty_since is not null for update`.execute(
        db,
      );
      if (rows.length === 0) return null;
      await sql`delete from archive_parts where file = ${number}`.execute(db);
      await sql`delete from archive_files where number = ${number}`.execute(db);
      return blobs.erase(db, { workspaceId, blobId }, async () => false);
    });
    if (!erased) continue;
    removed += 1;
    await erased.settle();
  }
  return removed;
}

const isEmpty = sql`not exists (
  select from archive_parts p join archived_records a on a.part = p.number where p.file = f.number
)`;
