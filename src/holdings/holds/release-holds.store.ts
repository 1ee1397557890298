/**
 * What releases hold: versions of files that are attached to a certified maintenance entry. The rows are written by a trigger,
 * in the commit of the certifying sign-off, and removed with that of a certified correction.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';

/** For versions that are to be erased, of a file that the transaction has locked. */
export async function refuseReleased(
  db: Db,
  { workspaceId, id, versions }: { workspaceId: string; id: string; versions: number[] },
): Promise<void> {
  if (versions.length === 0) return;
  const held = await db
    .selectFrom('release_holds')
    .select(['version', 'maintenance_id', 'asset_id'])
    .where('workspace_id', '=', workspaceId)
    .where('file_id', '=', id)
    .where('version', 'in', versions)
    .orderBy('version')
    .orderBy('maintenance_id')
    .limit(1)
    .executeTakeFirst();
  if (!held) return;
  throw new AppError(
    'on_hold',
    `Version ${held.version} of the file ${id} is attached to the certified entry ${held.maintenance_id} of the asset ${held.asset_id}, so it is kept. It can be erased once that entry was corrected and the correction is certified without it. Nothing was erased.`,
  );
}

/** Those of the files of which a release holds a version. */
export async function findReleased(db: Db, workspaceId: string, fileIds: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ file_id: string }>`
    select distinct file_id from release_holds
    where workspace_id = ${workspaceId} and file_id = any(${fileIds}::text[])`.execute(db);
  return new Set(rows.map(({ file_id }) => file_id));
}
