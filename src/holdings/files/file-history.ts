/** The history of a file: every version, transfer and validation in the order of the requests, and its proof. */
import type { Pool } from 'pg';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  joinAnchor,
} from '../../anchoring/anchored.ts';
import type { HistoryLeaf, HistoryProofs, HistoryStretch } from '../../anchoring/history-proofs.ts';
import type { ProofRequest } from '../../anchoring/proofs.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { transferStateOf } from '../transfers/transfers.store.ts';
import { type FileCanonicalization, type FileKey, findDigest } from './files.store.ts';

/** With the state of its anchor; members that the type does not have are null. */
export interface FileHistoryItem extends AnchorState {
  type: 'version' | 'transfer' | 'validation';
  at: Date;
  /** Only for a transfer or validation. */
  id: string | null;
  /** The version of the file: this one, or the one that was transferred or validated. */
  version: number;
  /** The owner, the giving vault, or the claimed owner. */
  vaultAddress: string;
  /** The receiving vault. */
  toVaultAddress: string | null;
  /** Hash of the version or of the presented content. */
  contentHash: `0x${string}`;
  name: string | null;
  /** Of a completed validation. */
  result: 'valid' | 'invalid' | null;
  /** Only if requested; null until the leaf is confirmed. */
  proof: Proof | null;
  position: [microseconds: number, rank: number, number: number];
}

export interface HistoryPage {
  after: FileHistoryItem['position'] | undefined;
  limit: number;
  proofs: boolean;
}

export interface HistoryDeps {
  pool: Pool;
  historyProofs: HistoryProofs;
}

/** Oldest first. */
export async function listHistory(
  { pool, historyProofs }: HistoryDeps,
  file: FileKey,
  { after, limit, proofs: withProofs }: HistoryPage,
): Promise<FileHistoryItem[]> {
  const { workspaceId, id } = file;
  const { rows } = await pool.query<HistoryRow>({
    name: 'file-history',
    text: `select h.*, v.address, t.address as to_address, ${anchorColumns}
           from (
             select * from (${versions} union all ${transfers} union all ${validations}) as every
             where $3::bigint is null or (micros, rank, ordinal) > ($3::bigint, $4::integer, $5::bigint)
             order by micros, rank, ordinal limit $6
           ) as h
           left join vaults v on v.workspace_id = $1 and v.id = h.vault_id
           left join vaults t on t.workspace_id = $1 and t.id = h.to_vault_id ${joinAnchor({ workspace: '$1', subject: '$2', kind: 'h.kind', version: 'h.number' })}
           order by h.micros, h.rank, h.ordinal`,
    values: [workspaceId, id, ...(after ?? [null, null, null]), limit],
  });
  // Throws when the file does not exist.
  if (rows.length === 0 && after === undefined) await findDigest(pool, file);
  const items = rows.map(toItem);
  if (!withProofs) return items;
  const provable = rows.filter(({ number }, place) => items[place]?.anchor && number !== null);
  const made = await historyProofs.makeAll(provable.map((row) => requestOf(file, row)));
  const proofs = new Map(provable.map((row, place) => [row, made[place] ?? null]));
  return rows.map((row) => ({ ...toItem(row), proof: proofs.get(row) ?? null }));
}

/** Throws AppError conflict while nothing is confirmed. */
export async function proveHistory(
  { pool, historyProofs }: HistoryDeps,
  file: FileKey,
  stretch: HistoryStretch,
): ReturnType<HistoryProofs['page']> {
  // Throws when the file does not exist, with the same message as other routes.
  await findDigest(pool, file);
  return historyProofs.page({
    workspaceId: file.workspaceId,
    subjectId: file.id,
    kinds: ['file', 'transfer'],
    ...stretch,
    async contentsOf(leaves) {
      const canonicalizations = await canonicalizationsOf(pool, file, leaves);
      return canonicalizations.map((canonicalization, place) => ({
        algorithm: 'sha-256',
        digest: leaves[place]?.digest ?? '0x',
        canonicalization,
        salt: null,
      }));
    },
  });
}

/** The canonicalization of each leaf's version; a transfer hands a version over. */
async function canonicalizationsOf(
  pool: Pool,
  { workspaceId, id }: FileKey,
  leaves: HistoryLeaf[],
): Promise<FileCanonicalization[]> {
  const { rows } = await pool.query<{ canonicalization: FileCanonicalization | null }>({
    name: 'file-canonicalizations',
    text: `select v.canonicalization
           from unnest($3::text[], $4::integer[]) with ordinality as leaf (kind, version, place)
           left join transfers t on leaf.kind = 'transfer' and t.workspace_id = $1 and t.subject_id = $2
             and t.number = leaf.version
           left join file_versions v on v.workspace_id = $1 and v.file_id = $2
             and v.version = coalesce(t.subject_version, leaf.version)
           order by leaf.place`,
    values: [workspaceId, id, leaves.map(({ kind }) => kind), leaves.map(({ version }) => version)],
  });
  return rows.map(({ canonicalization }) => canonicalization ?? 'raw');
}

const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint as micros`;

const versions = `
  select 'version' as type, 'file' as kind, 1 as rank, ${micros('created_at')}, version::bigint as ordinal,
    version as number, created_at, null as id, version as file_version, vault_id, null as to_vault_id, content_hash, name,
    canonicalization, null as result, null::timestamptz as completed_at
  from file_versions where workspace_id = $1 and file_id = $2`;

const transfers = `
  select 'transfer', 'transfer', 2, ${micros('t.created_at')}, t.number, t.number, t.created_at, t.id, t.subject_version,
    t.from_vault_id, t.to_vault_id, v.content_hash, null, v.canonicalization, null, t.completed_at
  from transfers t
  join file_versions v on v.workspace_id = t.workspace_id and v.file_id = t.subject_id and v.version = t.subject_version
  where t.workspace_id = $1 and t.subject_id = $2`;

/** A validation without a vault is judged against the owner at that time; until then, the current owner is shown. */
const validations = `
  select 'validation', 'validation', 3, ${micros('w.created_at')},
    row_number() over (order by w.id), w.number, w.created_at, w.id, w.file_version, coalesce(w.vault_id, f.vault_id), null,
    w.presented_hash, null, v.canonicalization, w.result, null
  from file_validations w
  join files f on f.workspace_id = w.workspace_id and f.id = w.file_id
  join file_versions v on v.workspace_id = w.workspace_id and v.file_id = w.file_id and v.version = w.file_version
  where w.workspace_id = $1 and w.file_id = $2`;

interface HistoryRow extends AnchorColumns {
  type: FileHistoryItem['type'];
  kind: string;
  rank: number;
  micros: number;
  /** Index within its type, in the order of the requests. */
  ordinal: number;
  /** The version of its leaf; null while it has none. */
  number: number | null;
  created_at: Date;
  id: string | null;
  file_version: number;
  address: string;
  to_address: string | null;
  content_hash: Buffer;
  name: string | null;
  canonicalization: FileCanonicalization;
  result: FileHistoryItem['result'];
  completed_at: Date | null;
}

function toItem(row: HistoryRow): FileHistoryItem {
  return {
    type: row.type,
    at: row.created_at,
    id: row.id,
    version: row.file_version,
    vaultAddress: row.address,
    toVaultAddress: row.to_address,
    contentHash: `0x${row.content_hash.toString('hex')}`,
    name: row.name,
    result: row.result,
    ...(row.type === 'transfer' ? transferStateOf(row) : anchorStateOf(row)),
    proof: null,
    position: [row.micros, row.rank, row.ordinal],
  };
}

function requestOf({ workspaceId, id }: FileKey, row: HistoryRow): ProofRequest {
  return {
    workspaceId,
    kind: row.kind,
    subjectId: id,
    version: row.number ?? 0,
    content: {
      algorithm: 'sha-256',
      digest: `0x${row.content_hash.toString('hex')}`,
      canonicalization: row.canonicalization,
      salt: null,
    },
  };
}
