/**
 * Files attached to an entry: they belong to the asset's owner or are shared explicitly, and one version of each is part of
 * the entry's hash.
 */
import { sql } from 'kysely';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { noFile, noFileVersion } from '../../holdings/files/files.store.ts';
import { AppError } from '../../runtime/errors.ts';
import type { AttachedFile, MaintenanceEntry } from '../signing/maintenance-entry.ts';

export interface GivenFile {
  fileId: string;
  /** Default: the version in the corrected entry, or else the newest. */
  version?: number | undefined;
  /** Allows a file of another vault: everyone who may see the asset may then see the file. */
  share?: boolean | undefined;
}

export interface Attaching {
  workspaceId: string;
  assetId: string;
  /** The asset's owner. */
  vault: { id: string; address: string };
  /** The entry that is corrected: its files stay as they were, whatever happened to them since. */
  supersedes: string | null;
}

/** In the given order; throws resource_not_found, or conflict for a file that may not be attached. */
export async function findAttached(db: Db, to: Attaching, given: GivenFile[]): Promise<AttachedFile[]> {
  if (given.length === 0) return [];
  const before = await filesOfCorrected(db, to);
  const rows = await readFiles(db, to.workspaceId, given);
  const attached = given.map(({ fileId, version, share = false }, place) => {
    const kept = before.find((file) => file.fileId === fileId && (version ?? file.version) === file.version);
    if (kept) return kept;
    const row = rows.get(place + 1);
    if (!row) throw noFile(fileId);
    if (row.version === null) throw noFileVersion(fileId, version);
    if (row.vault_id !== to.vault.id && !share) {
      throw new AppError(
        'conflict',
        `The file ${fileId} does not belong to the vault ${to.vault.address}, which owns the asset. Everyone who may see the asset would see the file: set share to true to allow that.`,
      );
    }
    if (row.erased) {
      throw new AppError(
        'conflict',
        `The content of version ${row.version} of the file ${fileId} was erased.`,
      );
    }
    return {
      fileId,
      version: row.version,
      name: row.name,
      contentHash: fromBytea(row.content_hash),
      canonicalization: row.canonicalization,
    };
  });
  const different = new Set(attached.map(({ fileId, version }) => `${fileId} ${version}`));
  if (different.size === attached.length) return attached;
  throw new AppError('invalid_request', 'fileIds and files must not name the same version of a file twice.');
}

async function filesOfCorrected(
  db: Db,
  { workspaceId, assetId, supersedes }: Attaching,
): Promise<AttachedFile[]> {
  if (supersedes === null) return [];
  const corrected = await db
    .selectFrom('maintenances')
    .select('entry')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', supersedes)
    .where('asset_id', '=', assetId)
    .executeTakeFirst();
  return corrected ? (JSON.parse(corrected.entry) as MaintenanceEntry).files : [];
}

interface FileRow {
  place: number;
  vault_id: string;
  /** Null when the file exists but the version does not. */
  version: number | null;
  name: string;
  content_hash: Buffer;
  canonicalization: string;
  erased: boolean;
}

/** By position in `given`, from 1. */
async function readFiles(db: Db, workspaceId: string, given: GivenFile[]): Promise<Map<number, FileRow>> {
  const { rows } = await sql<FileRow>`
    select wanted.place, f.vault_id, v.version, v.name, v.content_hash, v.canonicalization,
      v.erased_at is not null as erased
    from unnest(${given.map(({ fileId }) => fileId)}::text[],
                ${given.map(({ version }) => version ?? null)}::integer[])
      with ordinality as wanted (id, version, place)
    cross join lateral (
      select id, version, vault_id from files where workspace_id = ${workspaceId} and id = wanted.id limit 1
    ) as f
    left join file_versions v on v.workspace_id = ${workspaceId} and v.file_id = f.id
      and v.version = coalesce(wanted.version, f.version)`.execute(db);
  return new Map(rows.map((row) => [row.place, row]));
}
