/** Validations of files in SQL: as returned by the API, those still open, and what they are judged by. */

import { sql } from 'kysely';
import type { Pool } from 'pg';
import { isLeaf, leafKey } from '../../../anchoring/anchored.ts';
import type { Db } from '../../../db/database.ts';

/** A validation, as returned by the API. */
export interface FileValidation {
  id: string;
  fileId: string;
  version: number;
  status: 'pending' | 'completed';
  result: 'valid' | 'invalid' | null;
  integrity: boolean | null;
  authenticity: boolean | null;
  ownership: boolean | null;
  validatedAt: Date | null;
}

export interface FileKey {
  workspaceId: string;
  fileId: string;
}

/** The version to validate. */
export interface ValidationTarget {
  /** Null: the file has no such version. */
  version: number | null;
  canonicalization: 'raw' | 'hmac-sha256';
}

/** Default: the newest version. Null when the file does not exist. */
export async function findTarget(
  pool: Pool,
  { workspaceId, fileId }: FileKey,
  version: number | undefined,
): Promise<ValidationTarget | null> {
  const { rows } = await pool.query<ValidationTarget>({
    name: 'validation-target',
    text: `select v.version, v.canonicalization
           from files f
           left join file_versions v on v.workspace_id = f.workspace_id and v.file_id = f.id
             and v.version = coalesce($3, f.version)
           where f.workspace_id = $1 and f.id = $2`,
    values: [workspaceId, fileId, version ?? null],
  });
  return rows[0] ?? null;
}

/** Validations before an id, newest first. */
export async function findValidations(
  pool: Pool,
  { workspaceId, fileId }: FileKey,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<FileValidation[]> {
  const { rows } = await pool.query<ValidationRow>({
    name: 'file-validations',
    text: `select ${columns} from file_validations
           where workspace_id = $1 and file_id = $2 and ($3::text is null or id < $3)
           order by id desc limit $4`,
    values: [workspaceId, fileId, before ?? null, limit],
  });
  return rows.map(toValidation);
}

export interface WholeValidation {
  validation: FileValidation;
  /** The version of its leaf; null until the validation is completed. */
  number: number | null;
  presentedHash: Buffer;
  canonicalization: 'raw' | 'hmac-sha256';
}

export async function findValidation(
  pool: Pool,
  { workspaceId, fileId }: FileKey,
  id: string,
): Promise<WholeValidation | null> {
  const { rows } = await pool.query<
    ValidationRow & { number: number | null; presented_hash: Buffer; canonicalization: 'raw' | 'hmac-sha256' }
  >({
    name: 'file-validation',
    text: `select ${columns}, number, presented_hash, (
             select v.canonicalization from file_versions v
             where v.workspace_id = $1 and v.file_id = $2 and v.version = file_version
           ) as canonicalization
           from file_validations where workspace_id = $1 and file_id = $2 and id = $3`,
    values: [workspaceId, fileId, id],
  });
  const [row] = rows;
  if (!row) return null;
  return {
    validation: toValidation(row),
    number: row.number,
    presentedHash: row.presented_hash,
    canonicalization: row.canonicalization,
  };
}

/** A validation without a result, whose version is confirmed. */
export interface OpenValidation {
  workspaceId: string;
  id: string;
  fileId: string;
  version: number;
  presentedHash: Buffer;
  /** The claimed owner of the file; null: the current owner. */
  vault: { id: string; address: string } | null;
  /** The hash of the version as stored; `anchoredDigest` is the one in its leaf. */
  contentHash: Buffer;
  canonicalization: 'raw' | 'hmac-sha256';
  anchoredDigest: Buffer;
  leaf: Buffer;
}

/** The oldest ones, except these ids. */
export async function findOpen(
  db: Db,
  { without, limit }: { without: string[]; limit: number },
): Promise<OpenValidation[]> {
  const { rows } = await sql<OpenValidation>`
    select o.workspace_id as "workspaceId", o.id, o.file_id as "fileId", o.file_version as version,
           o.presented_hash as "presentedHash", case when o.vault_id is not null then json_build_object('id', o.vault_id, 'address', a.address) end as vault,
           v.content_hash as "contentHash", v.canonicalization, l.digest as "anchoredDigest", l.leaf
    from file_validations o
    join file_versions v on v.workspace_id = o.workspace_id and v.file_id = o.file_id and v.version = o.file_version
    left join vaults a on a.workspace_id = o.workspace_id and a.id = o.vault_id
    join placed_leaves l on ${sql.raw(isLeaf(leafKey('file', 'v')))}
    join anchor_batches b on b.id = l.batch_id and b.status in ('confirmed', 'finalized')
    where o.result is null and o.id <> all (${without}::text[])
    order by o.id limit ${limit}`.execute(db);
  return rows;
}

const columns = 'id, file_id, file_version, result, integrity, authenticity, ownership, validated_at';

interface ValidationRow {
  id: string;
  file_id: string;
  file_version: number;
  result: 'valid' | 'invalid' | null;
  integrity: boolean | null;
  authenticity: boolean | null;
  ownership: boolean | null;
  validated_at: Date | null;
}

function toValidation(row: ValidationRow): FileValidation {
  return {
    id: row.id,
    fileId: row.file_id,
    version: row.file_version,
    status: row.result === null ? 'pending' : 'completed',
    result: row.result,
    integrity: row.integrity,
    authenticity: row.authenticity,
    ownership: row.ownership,
    validatedAt: row.validated_at,
  };
}
