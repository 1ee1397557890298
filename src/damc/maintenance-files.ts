/** Files that belong to an entry: bound into its hash at the version that they have. */
import { sql } from 'kysely';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { AppError } from '../errors.ts';
import type { AttachedFile } from './maintenance-entry.ts';

/** In the order of their ids; throws resource_not_found. */
export async function findAttached(db: Db, workspaceId: string, fileIds: string[]): Promise<AttachedFile[]> {
  if (fileIds.length === 0) return [];
  const { rows } = await sql<FileRow>`
    select f.id, v.version, v.name, v.content_hash, v.canonicalization
    from unnest(${fileIds}::text[]) with ordinality as wanted (id, place)
    cross join lateral (
      select id, version from files where workspace_id = ${workspaceId} and id = wanted.id limit 1
    ) as f
    join file_versions v on v.workspace_id = ${workspaceId} and v.file_id = f.id and v.version = f.version
    order by wanted.place`.execute(db);
  const found = new Set(rows.map(({ id }) => id));
  const missing = fileIds.find((id) => !found.has(id));
  if (missing !== undefined) throw new AppError('resource_not_found', `There is no file ${missing}.`);
  return rows.map((row) => ({
    fileId: row.id,
    version: row.version,
    name: row.name,
    contentHash: fromBytea(row.content_hash),
    canonicalization: row.canonicalization,
  }));
}

interface FileRow {
  id: string;
  version: number;
  name: string;
  content_hash: Buffer;
  canonicalization: string;
}
