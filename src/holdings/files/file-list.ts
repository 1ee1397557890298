/** Lists files, newest first: each at its newest version, with its current owner. */
import { sql } from 'kysely';
import { type AnchoredPage, type Bounds, listAnchored } from '../../anchoring/anchored-list.ts';
import type { Db } from '../../db/database.ts';
import type { AnchorStatus } from '../../proof/anchor-status.ts';
import { type FileVersion, readFiles } from './files.store.ts';

export interface FileQuery {
  vaultId?: string | undefined;
  /** Exact match. */
  name?: string | undefined;
  status?: AnchorStatus | undefined;
  /** The page begins after this id. */
  before?: string | undefined;
  limit: number;
}

export type FilePage = AnchoredPage<FileVersion>;

export function listFiles(
  db: Db,
  workspaceId: string,
  { vaultId, name, status, before, limit }: FileQuery,
  bounds?: Bounds,
): Promise<FilePage> {
  function select(before: string | undefined) {
    const conditions = [sql`workspace_id = ${workspaceId}`];
    if (vaultId !== undefined) conditions.push(sql`vault_id = ${vaultId}`);
    if (before !== undefined) conditions.push(sql`id < ${before}`);
    const files =
      name === undefined
        ? sql`files`
        : sql`(
            select f.workspace_id, f.id, f.version, f.vault_id from file_versions v
            join files f on f.workspace_id = v.workspace_id and f.id = v.file_id
            where v.workspace_id = ${workspaceId} and v.name = ${name} and v.current
          ) as named`;
    return sql`select workspace_id, id, version, vault_id from ${files} where ${sql.join(conditions, sql` and `)}`;
  }
  return listAnchored(
    db,
    {
      workspaceId,
      kind: 'file',
      status,
      before,
      limit,
      select,
      read: (db, { select, ...rest }) => readFiles(db, { files: select, ...rest }),
    },
    bounds,
  );
}
