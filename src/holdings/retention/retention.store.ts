/** What a vault has that is older than a time: records by their id, files by theirs. */
import { sql } from 'kysely';
import { archivedOf } from '../../anchoring/archive/archived-rows.ts';
import type { Db } from '../../db/database.ts';
import { idBound } from '../../runtime/ids.ts';

export type RetainedKind = 'record' | 'file';

export interface OldThing {
  id: string;
  /** When its newest version was made: all of it is kept until that one is old, too. */
  newestAt: Date;
  /** Of what is not erased. */
  bytes: number;
  /** Whether anything is left to be erased. */
  open: boolean;
  /** The vaults that it was in. */
  vaultIds: string[];
}

interface Search {
  workspaceId: string;
  vaultId: string;
  kind: RetainedKind;
  /** The last id that was looked at. */
  after: string;
  /** Only what was created before. */
  end: Date;
  limit: number;
}

/** By id, also those that are erased already, so that a search looks at a bounded number of rows. */
export async function findOld(db: Db, { kind, ...search }: Search): Promise<OldThing[]> {
  const { rows } = await (kind === 'record' ? oldRecords(search) : oldFiles(search)).execute(db);
  return rows.map(({ id, newest_at, bytes, open, vault_ids }) => ({
    id,
    newestAt: newest_at,
    bytes,
    open,
    vaultIds: vault_ids,
  }));
}

interface Row {
  id: string;
  newest_at: Date;
  bytes: number;
  open: boolean;
  vault_ids: string[];
}

function oldRecords({ workspaceId, vaultId, after, end, limit }: Omit<Search, 'kind'>) {
  const here = sql`
    select first.id, all_of_it.newest_at, all_of_it.bytes, all_of_it.open from (
      select id from records
      where workspace_id = ${workspaceId} and vault_id = ${vaultId} and version = 1
        and id > ${after} and id < ${idBound('rec', end)}
      order by id limit ${limit}
    ) as first
    cross join lateral (
      select max(created_at) as newest_at, coalesce(sum(octet_length(data)), 0)::bigint as bytes,
        bool_or(erased_at is null) as open
      from records r where r.workspace_id = ${workspaceId} and r.id = first.id
    ) as all_of_it`;
  const ends = { after, end: idBound('rec', end), limit };
  return sql<Row>`
    select id, newest_at, bytes, open, array[${vaultId}]::text[] as vault_ids
    from (${here} union all ${archivedOf({ workspaceId, vaultId, ...ends })}) as old order by id limit ${limit}`;
}

/** Of the files that the vault owns now. */
function oldFiles({ workspaceId, vaultId, after, end, limit }: Omit<Search, 'kind'>) {
  return sql<Row>`
    select f.id, all_of_it.newest_at, all_of_it.bytes, all_of_it.open, all_of_it.vault_ids
    from (
      select id from files
      where workspace_id = ${workspaceId} and vault_id = ${vaultId}
        and id > ${after} and id < ${idBound('fil', end)}
      order by id limit ${limit}
    ) as f
    cross join lateral (
      select max(created_at) as newest_at, array_agg(distinct vault_id) as vault_ids,
        coalesce(sum(size) filter (where erased_at is null and blob_id is not null), 0)::bigint as bytes,
        coalesce(bool_or(erased_at is null and blob_id is not null), false) as open
      from file_versions v where v.workspace_id = ${workspaceId} and v.file_id = f.id
    ) as all_of_it
    order by f.id`;
}
