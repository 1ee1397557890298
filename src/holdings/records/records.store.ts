/** Records in SQL: versions as stored, read with the state of their anchors. */
import { type RawBuilder, sql } from 'kysely';
import type { Pool } from 'pg';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  hasStatus,
  joinBatch,
} from '../../anchoring/anchored.ts';
import type { Archive } from '../../anchoring/archive/archive.ts';
import type { Db } from '../../db/database.ts';
import type { AnchorStatus } from '../../proof/anchor-status.ts';

/** One version of a record, as returned by the API. Without its data, which lists do not need. */
export interface RecordVersion extends AnchorState {
  id: string;
  /** Empty: none was given. */
  externalId: string;
  vaultId: string;
  /** EIP-55. */
  vaultAddress: string;
  /** Counts from 1. */
  version: number;
  /** Hex. */
  dataHash: `0x${string}`;
  /** Whether its data was erased. */
  erased: boolean;
  createdAt: Date;
}

export interface WholeRecord {
  record: RecordVersion;
  /** RFC 8785 form, with its salt; null once they were erased. */
  content: { data: string; salt: Buffer } | null;
}

export interface RecordKey {
  workspaceId: string;
  id: string;
}

export interface RecordSources {
  pool: Pool;
  archive: Pick<Archive, 'find'>;
}

/** Default: the newest version. */
export async function findRecord(
  { pool, archive }: RecordSources,
  { workspaceId, id }: RecordKey,
  version: number | undefined,
): Promise<WholeRecord | null> {
  const [row] = await hereOrArchived(archive, { workspaceId, id }, async (archived) => {
    const { rows } = await pool.query<RecordRow & { data: string | null; salt: Buffer | null }>({
      name: archived === null ? 'record' : 'archived-record',
      text: `select ${columns}, r.data, r.salt from (
               select * from ${archived === null ? 'records' : archivedAs('$4')} as r
               where workspace_id = $1 and id = $2 and ($3::integer is null or version = $3)
               order by version desc limit 1
             ) as r ${joins}`,
      values: [workspaceId, id, version ?? null, ...(archived === null ? [] : [archived])],
    });
    return rows;
  });
  if (!row) return null;
  const { data, salt } = row;
  return { record: toRecord(row), content: data === null || salt === null ? null : { data, salt } };
}

/** Versions before `before`, newest first. */
export async function findVersions(
  { pool, archive }: RecordSources,
  { workspaceId, id }: RecordKey,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<RecordVersion[]> {
  const rows = await hereOrArchived(archive, { workspaceId, id }, async (archived) => {
    const { rows } = await pool.query<RecordRow>({
      name: archived === null ? 'record-versions' : 'archived-record-versions',
      text: `select ${columns} from (
               select * from ${archived === null ? 'records' : archivedAs('$5')} as r
               where workspace_id = $1 and id = $2 and ($3::integer is null or version < $3)
               order by version desc limit $4
             ) as r ${joins} order by r.version desc`,
      values: [workspaceId, id, before ?? null, limit, ...(archived === null ? [] : [archived])],
    });
    return rows;
  });
  return rows.map(toRecord);
}

/** Looks in the database, in the archive, and in the end once more in the database: it may have come back meanwhile. */
async function hereOrArchived<Row>(
  archive: Pick<Archive, 'find'>,
  { workspaceId, id }: RecordKey,
  read: (archived: string | null) => Promise<Row[]>,
): Promise<Row[]> {
  const here = await read(null);
  if (here.length > 0) return here;
  return read(await archive.find(workspaceId, id));
}

/** The leaves of an archived record with the columns of the view `records`. */
function archivedAs(text: string): string {
  return `(
    select workspace_id, subject_id as id, version, external_id, vault_id, data, salt, digest as data_hash, created_at,
           id as leaf_id, leaf, claims, erased_at
    from json_populate_recordset(null::anchor_leaves, ${text}::json)
  )`;
}

/** First versions as they were created, in the order of the ids. */
export async function findCreated(
  pool: Pool,
  { workspaceId, ids }: { workspaceId: string; ids: string[] },
): Promise<RecordVersion[]> {
  const { rows } = await pool.query<Omit<RecordRow, keyof AnchorColumns>>({
    name: 'records-created',
    text: `select ${ownColumns} from unnest($2::text[]) with ordinality as wanted (id, place)
           join records r on r.workspace_id = $1 and r.id = wanted.id and r.version = 1
           join vaults v on v.workspace_id = r.workspace_id and v.id = r.vault_id order by wanted.place`,
    values: [workspaceId, ids],
  });
  return rows.map((row) => ({ ...toOwnFields(row), erased: false, status: 'pending', anchor: null }));
}

/** `versions`: a select of rows of `records`. Newest records first. */
export async function readRecords(
  db: Db,
  { versions, status, limit }: { versions: RawBuilder<unknown>; status?: AnchorStatus; limit: number },
): Promise<RecordVersion[]> {
  const { rows } = await sql<RecordRow>`
    select ${sql.raw(columns)} from (${versions}) as r ${sql.raw(joins)}
    where ${status === undefined ? sql`true` : hasStatus(status)}
    order by r.id desc limit ${limit}`.execute(db);
  return rows.map(toRecord);
}

const ownColumns =
  'r.id, r.external_id, r.vault_id, v.address, r.version, r.data_hash, r.erased_at, r.created_at';
const columns = `${ownColumns}, ${anchorColumns}`;

/** Each join uses a key, for every version `r`. */
const joins = `
  join vaults v on v.workspace_id = r.workspace_id and v.id = r.vault_id
  cross join lateral (select r.leaf_id as id) as l ${joinBatch}`;

interface RecordRow extends AnchorColumns {
  id: string;
  external_id: string | null;
  vault_id: string;
  address: string;
  version: number;
  data_hash: Buffer;
  erased_at: Date | null;
  created_at: Date;
}

function toRecord(row: RecordRow): RecordVersion {
  return { ...toOwnFields(row), ...anchorStateOf(row) };
}

function toOwnFields(row: Omit<RecordRow, keyof AnchorColumns>): Omit<RecordVersion, keyof AnchorState> {
  return {
    id: row.id,
    externalId: row.external_id ?? '',
    vaultId: row.vault_id,
    vaultAddress: row.address,
    version: row.version,
    dataHash: `0x${row.data_hash.toString('hex')}`,
    erased: row.erased_at !== null,
    createdAt: row.created_at,
  };
}
