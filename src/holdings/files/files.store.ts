/** Files in SQL: versions as returned by the API, read with their owner and the state of their anchors. */
import { type RawBuilder, sql } from 'kysely';
import type { Pool } from 'pg';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  hasStatus,
  joinAnchor,
  leafKey,
} from '../../anchoring/anchored.ts';
import type { Db } from '../../db/database.ts';
import type { AnchorStatus } from '../../proof/anchor-status.ts';
import { AppError } from '../../runtime/errors.ts';

/** One version of a file, as returned by the API. */
export interface FileVersion extends AnchorState {
  id: string;
  /** The current owner of the file; in a list of versions, the owner at that time. */
  vaultId: string;
  /** EIP-55. */
  vaultAddress: string;
  name: string;
  /** Counts from 1. */
  version: number;
  /** Hex. */
  contentHash: `0x${string}`;
  /** Null when only the hash was given. */
  size: number | null;
  mediaType: string;
  /** As the caller gave it. */
  expirationDate: string | null;
  /** Whether that time has passed. */
  expired: boolean;
  /** Its content is no longer served. */
  erased: boolean;
  createdAt: Date;
}

export type FileCanonicalization = 'raw' | 'hmac-sha256';

export interface FileKey {
  workspaceId: string;
  id: string;
}

/** The newest version, with the current owner. */
export async function findFile(pool: Pool, { workspaceId, id }: FileKey): Promise<FileVersion> {
  const { rows } = await pool.query<FileRow>({
    name: 'file',
    text: `select ${columns} from files f ${joins} where f.workspace_id = $1 and f.id = $2`,
    values: [workspaceId, id],
  });
  const [row] = rows;
  if (!row) throw noFile(id);
  return toFile(row);
}

/** Versions before `before`, newest first, each with its owner at that time. */
export async function findFileVersions(
  pool: Pool,
  { workspaceId, id }: FileKey,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<FileVersion[]> {
  const { rows } = await pool.query<FileRow>({
    name: 'file-versions',
    text: `select ${columns} from (
             select workspace_id, file_id as id, version, vault_id from file_versions
             where workspace_id = $1 and file_id = $2 and ($3::integer is null or version < $3)
             order by version desc limit $4
           ) as f ${joins} order by f.version desc`,
    values: [workspaceId, id, before ?? null, limit],
  });
  if (rows.length === 0 && before === undefined) throw noFile(id);
  return rows.map(toFile);
}

/** The digest for a version's proof. Default: the newest version. */
export async function findDigest(
  pool: Pool,
  { workspaceId, id }: FileKey,
  version?: number,
): Promise<{ version: number; contentHash: `0x${string}`; canonicalization: FileCanonicalization }> {
  const { rows } = await pool.query<{
    version: number | null;
    content_hash: Buffer;
    canonicalization: FileCanonicalization;
  }>({
    name: 'file-digest',
    text: `select v.version, v.content_hash, v.canonicalization from files f
           left join file_versions v on v.workspace_id = f.workspace_id and v.file_id = f.id
             and v.version = coalesce($3, f.version)
           where f.workspace_id = $1 and f.id = $2`,
    values: [workspaceId, id, version ?? null],
  });
  const [row] = rows;
  if (!row) throw noFile(id);
  if (row.version === null) throw noFileVersion(id, version);
  return {
    version: row.version,
    contentHash: `0x${row.content_hash.toString('hex')}`,
    canonicalization: row.canonicalization,
  };
}

/** `files`: a select of rows with workspace_id, id, version and vault_id. Newest files first. */
export async function readFiles(
  db: Db,
  { files, status, limit }: { files: RawBuilder<unknown>; status?: AnchorStatus; limit: number },
): Promise<FileVersion[]> {
  const { rows } = await sql<FileRow>`
    select ${sql.raw(columns)} from (${files}) as f ${sql.raw(joins)}
    where ${status === undefined ? sql`true` : hasStatus(status)}
    order by f.id desc limit ${limit}`.execute(db);
  return rows.map(toFile);
}

export function noFile(id: string): AppError {
  return new AppError('resource_not_found', `There is no file ${id}.`);
}

export function noFileVersion(id: string, version: number | undefined): AppError {
  return new AppError('resource_not_found', `There is no version ${version} of the file ${id}.`);
}

const columns = `f.id, f.vault_id, o.address, v.version, v.name, v.media_type, v.size, v.content_hash,
  v.expiration_date, coalesce(v.expires_at <= now(), false) as expired, v.erased_at is not null as erased,
  v.created_at,
  ${anchorColumns}`;

/** Each join uses a key, for any row `f` with workspace_id, id, version and vault_id. */
const joins = `
  join file_versions v on v.workspace_id = f.workspace_id and v.file_id = f.id and v.version = f.version
  join vaults o on o.workspace_id = f.workspace_id and o.id = f.vault_id ${joinAnchor(leafKey('file', 'f', { subject: 'id' }))}`;

interface FileRow extends AnchorColumns {
  id: string;
  vault_id: string;
  address: string;
  version: number;
  name: string;
  media_type: string;
  size: number | null;
  content_hash: Buffer;
  expiration_date: string | null;
  expired: boolean;
  erased: boolean;
  created_at: Date;
}

function toFile(row: FileRow): FileVersion {
  return {
    id: row.id,
    vaultId: row.vault_id,
    vaultAddress: row.address,
    name: row.name,
    version: row.version,
    contentHash: `0x${row.content_hash.toString('hex')}`,
    size: row.size,
    mediaType: row.media_type,
    expirationDate: row.expiration_date,
    expired: row.expired,
    erased: row.erased,
    createdAt: row.created_at,
    ...anchorStateOf(row),
  };
}
