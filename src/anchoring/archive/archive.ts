/** Reads archived records from their files, and brings one back into the database before it changes. */
import { sql } from 'kysely';
import type { Blobs } from '../../blobs/blobs.ts';
import type { Db } from '../../db/database.ts';
import { type ArchivedRecord, findArchived, leavesOf, markArchived } from './archived-rows.ts';
import { unpackEntry } from './entry.ts';

export interface Archive {
  /** The leaves of a record as JSON, ordered by version; null unless it is archived. */
  find(workspaceId: string, id: string): Promise<string | null>;
  /**
   * Inside the caller's transaction: those of the records that are archived are rows again as before, and nothing in a file
   * can be read of them any more. Returns how many there were.
   */
  bringBack(db: Db, workspaceId: string, ids: string[]): Promise<number>;
}

export interface ArchiveDeps {
  db: Db;
  blobs: Pick<Blobs, 'read'>;
}

export function createArchive({ db, blobs }: ArchiveDeps): Archive {
  return {
    async find(workspaceId, id) {
      const [found] = await findArchived(db, workspaceId, [id]);
      return found ? readRecord(blobs, found) : null;
    },

    async bringBack(db, workspaceId, ids) {
      const found = await findArchived(db, workspaceId, ids, { lock: true });
      if (found.length === 0) return 0;
      const leaves: number[] = [];
      await sql`select set_config('holdfast.brings_back', 'on', true)`.execute(db);
      for (const record of found) {
        const text = await readRecord(blobs, record, db);
        const { rows } = await sql<{ id: number }>`
          insert into anchor_leaves overriding system value select * from ${leavesOf(text)}
          returning id`.execute(db);
        leaves.push(...rows.map(({ id }) => id));
      }
      await sql`select set_config('holdfast.brings_back', 'off', true)`.execute(db);
      await sql`delete from archived_records where id = any(${found.map(({ id }) => id)}::text[])`.execute(
        db,
      );
      await markArchived(db, leaves, false);
      return found.length;
    },
  };
}

async function readRecord(blobs: Pick<Blobs, 'read'>, record: ArchivedRecord, within?: Db): Promise<string> {
  const { workspace_id: workspaceId, blob_id: blobId, size, at, bytes, key } = record;
  const pieces: Buffer[] = [];
  const range = { start: at, end: at + bytes };
  for await (const piece of await blobs.read({ workspaceId, blobId, size }, range, within))
    pieces.push(piece);
  return unpackEntry({ key, bytes: Buffer.concat(pieces) });
}
