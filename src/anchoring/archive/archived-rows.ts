/** Where archived records are: the rows that lead to their places in files, and the leaves that are there. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** A record in a file. */
export interface ArchivedRecord {
  id: string;
  workspace_id: string;
  vault_id: string;
  blob_id: string;
  size: number;
  at: number;
  bytes: number;
  data_bytes: number;
  key: Buffer;
}

/** Of a statement with `joinFile`. */
export const archivedColumns = sql.raw(
  'a.id, p.workspace_id, p.vault_id, f.blob_id, f.size, a.at, a.bytes, a.data_bytes, a.key',
);
/** Joins the archived record `a` with its part `p` and its file `f`. */
export const joinFile = sql.raw(
  'join archive_parts p on p.number = a.part join archive_files f on f.number = p.file',
);

/** In SQL: the record is archived. */
export function isArchived(workspace: string, id: string): string {
  return `exists (
    select from archived_records a join archive_parts p on p.number = a.part
    where a.id = ${id} and p.workspace_id = ${workspace}
  )`;
}

/** `lock`: they stay where they are until the transaction ends. By id. */
export async function findArchived(
  db: Db,
  workspaceId: string,
  ids: string[],
  { lock = false } = {},
): Promise<ArchivedRecord[]> {
  const { rows } = await sql<ArchivedRecord>`
    select ${archivedColumns} from archived_records a ${joinFile}
    where a.id = any(${ids}::text[]) and p.workspace_id = ${workspaceId}
    order by a.id ${lock ? sql`for update of a` : sql``}`.execute(db);
  return rows;
}

/** Records from before this time may be archived, and are then in no list; null while none is. */
export async function findArchivedBefore(db: Db, workspaceId: string): Promise<Date | null> {
  const { rows } = await sql<{ before: Date | null }>`
    select max(before) as before from archive_files
    where workspace_id = ${workspaceId} and empty_since is null`.execute(db);
  return rows[0]?.before ?? null;
}

/** The archived records of a vault, by id: a select that looks at up to `limit` of each part. */
export function archivedOf({
  workspaceId,
  vaultId,
  after,
  end,
  limit,
}: {
  workspaceId: string;
  vaultId: string;
  after: string;
  end: string;
  limit: number;
}): RawBuilder<unknown> {
  return sql`
    select old.* from archive_parts p
    cross join lateral (
      select id, newest_at, data_bytes::bigint as bytes, data_bytes > 0 as open from archived_records a
      where a.part = p.number and a.id > ${after} and a.id < ${end} order by a.id limit ${limit}
    ) as old
    where p.workspace_id = ${workspaceId} and p.vault_id = ${vaultId}
      and p.last_id > ${after} and p.first_id < ${end}`;
}

const leavesInBlock = 256;

/** Notes in the commit that moves them that these leaves are in a file, or that they no longer are. */
export async function markArchived(db: Db, leafIds: number[], archived: boolean): Promise<void> {
  const blocks = Map.groupBy(leafIds, (id) => Math.floor(id / leavesInBlock));
  // One order for all, so that no two commits wait for each other.
  for (const [block, ids] of [...blocks].sort(([one], [other]) => one - other)) {
    const digits = new Array<string>(leavesInBlock).fill('0');
    for (const id of ids) digits[id % leavesInBlock] = '1';
    const bits = digits.join('');
    await (archived
      ? sql`
          insert into archived_leaves (block, bits) values (${block}, ${bits}::bit(256))
          on conflict (block) do update set bits = archived_leaves.bits | excluded.bits`
      : sql`update archived_leaves set bits = bits & ~${bits}::bit(256) where block = ${block}`
    ).execute(db);
  }
}

/** Those of the leaves that are in a file. */
export async function findArchivedLeaves(db: Db, leafIds: number[]): Promise<Set<number>> {
  if (leafIds.length === 0) return new Set();
  const blocks = [...new Set(leafIds.map((id) => Math.floor(id / leavesInBlock)))];
  const { rows } = await sql<{ block: number; bits: string }>`
    select block, bits::text as bits from archived_leaves where block = any(${blocks}::bigint[])`.execute(db);
  const bits = new Map(rows.map((row) => [row.block, row.bits]));
  return new Set(
    leafIds.filter((id) => bits.get(Math.floor(id / leavesInBlock))?.[id % leavesInBlock] === '1'),
  );
}

/** The rows of a text as `anchor_leaves` has them. */
export function leavesOf(text: string): RawBuilder<unknown> {
  return sql`json_populate_recordset(null::anchor_leaves, ${text}::json)`;
}
