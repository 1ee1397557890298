/** Finds the records that may move into a file: old, and of which nothing can change by itself any more. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { idBound } from '../../runtime/ids.ts';
import { joinPlace } from '../leaves/leaf-places.ts';
import { mostEntryBytes } from './entry.ts';

export interface Candidate {
  id: string;
  workspaceId: string;
  vaultId: string;
  /** When the newest version was made. */
  newestAt: Date;
  /** Of the data that is not erased. */
  dataBytes: number;
  leafIds: number[];
  /** About what its rows take in the table. */
  rowBytes: number;
}

export interface Search {
  workspaceId: string;
  vaultId: string;
  /** Everything of a record must be older. */
  before: Date;
  /** The last id that was looked at. */
  after: string;
  limit: number;
}

/**
 * The next records by id, with the last id that was looked at; null when there are no more. A record stays where it is while
 * one of its versions is too new, not final, or not announced, and when all versions together are too large for one piece.
 */
export async function findCandidates(
  db: Db,
  { workspaceId, vaultId, before, after, limit }: Search,
): Promise<{ found: Candidate[]; left: number; last: string } | null> {
  const { rows } = await sql<Row>`
    select first.id, whole.* from (
      select subject_id as id from anchor_leaves
      where kind = 'record' and version = 1 and workspace_id = ${workspaceId} and vault_id = ${vaultId}
        and subject_id > ${after} and subject_id < ${idBound('rec', before)}
      order by subject_id limit ${limit}
    ) as first
    cross join lateral (
      select max(l.created_at) as newest_at, coalesce(sum(octet_length(l.data)), 0)::bigint as data_bytes,
             sum(pg_column_size(l.*))::bigint as row_bytes, array_agg(l.id order by l.version) as leaf_ids,
             bool_and(l.created_at < ${before} and coalesce(b.status = 'finalized' and placed.place < b.announced, false))
               and sum(coalesce(octet_length(l.data), 0) + 1000) < ${mostEntryBytes / 2} as may_move
      from anchor_leaves l ${sql.raw(joinPlace)}
      left join anchor_batches b on b.id = placed.batch_id
      where l.workspace_id = ${workspaceId} and l.subject_id = first.id and l.kind = 'record'
    ) as whole
    order by first.id`.execute(db);
  const last = rows.at(-1)?.id;
  if (last === undefined) return null;
  const found = rows
    .filter(({ may_move }) => may_move)
    .map(({ id, newest_at, data_bytes, row_bytes, leaf_ids }) => ({
      ...{ id, workspaceId, vaultId },
      newestAt: newest_at,
      dataBytes: data_bytes,
      leafIds: leaf_ids.map(Number),
      rowBytes: row_bytes,
    }));
  return { found, left: rows.length - found.length, last };
}

interface Row {
  id: string;
  newest_at: Date;
  data_bytes: number;
  row_bytes: number;
  leaf_ids: (number | string)[];
  may_move: boolean;
}

/** Of each record the text that goes into the file, the same as long as nothing of it changes. */
export async function readTexts(db: Db, workspaceId: string, ids: string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; text: string }>`
    select wanted.id, whole.text from unnest(${ids}::text[]) as wanted (id)
    cross join lateral (
      select jsonb_agg(to_jsonb(l) || '{"written_in": 0}' order by l.version)::text as text from anchor_leaves l
      where l.workspace_id = ${workspaceId} and l.subject_id = wanted.id and l.kind = 'record'
    ) as whole
    where whole.text is not null`.execute(db);
  return new Map(rows.map(({ id, text }) => [id, text]));
}

/** Vaults of one workspace, or of all of them. */
export async function findVaults(
  db: Db,
  workspaceId: string | undefined,
): Promise<{ workspaceId: string; vaultIds: string[] }[]> {
  const { rows } = await sql<{ workspace_id: string; vault_ids: string[] }>`
    select workspace_id, array_agg(id order by id) as vault_ids from vaults
    where ${workspaceId ?? null}::text is null or workspace_id = ${workspaceId ?? null}
    group by workspace_id order by workspace_id`.execute(db);
  return rows.map((row) => ({ workspaceId: row.workspace_id, vaultIds: row.vault_ids }));
}

/** Beyond this many, the statistics of the table are good enough. */
const countedUpTo = 1_000_000;

/** How many records are old enough, whether or not they may move. */
export async function countOld(
  db: Db,
  { before, workspaceId }: { before: Date; workspaceId?: string | undefined },
): Promise<number> {
  const { rows } = await sql<{ old: number }>`
    select case when counted <= ${countedUpTo} then counted
           else (select greatest(reltuples, counted)::bigint from pg_class where oid = 'anchor_leaves'::regclass) end as old
    from (
      select count(*) as counted from (
        select from anchor_leaves
        where kind = 'record' and version = 1 and subject_id < ${idBound('rec', before)}
          and (${workspaceId ?? null}::text is null or workspace_id = ${workspaceId ?? null})
        limit ${countedUpTo + 1}
      ) as found
    ) as counts`.execute(db);
  return rows[0]?.old ?? 0;
}
