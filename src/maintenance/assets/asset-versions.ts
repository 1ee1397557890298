/** The versions of assets in SQL, with the documents that were anchored. */
import { sql } from 'kysely';
import type { HistoryLeaf } from '../../anchoring/history-proofs.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { ProofContent } from '../../proof/verify/proof.ts';
import { AppError } from '../../runtime/errors.ts';
import { noAsset } from './asset-access.ts';
import type { AssetKey } from './assets.store.ts';

export interface AssetVersion {
  version: number;
  /** RFC 8785 form. */
  document: string;
  salt: Buffer;
  digest: Buffer;
  createdAt: Date;
}

/** Kinds of the leaves that follow each other. */
export const historyKinds = ['asset', 'transfer'];

/** Default: the newest version. */
export async function findAssetVersion(
  db: Db,
  key: AssetKey,
  version: number | undefined,
): Promise<AssetVersion> {
  const [found] = await listAssetVersions(db, key, { upTo: version, limit: 1 });
  if (found && (version === undefined || found.version === version)) return found;
  throw new AppError('resource_not_found', `There is no version ${version} of the asset ${key.assetId}.`);
}

/** Newest first: versions before one, or up to one. */
export async function listAssetVersions(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { before, upTo, limit }: { before?: number | undefined; upTo?: number | undefined; limit: number },
): Promise<AssetVersion[]> {
  let select = db
    .selectFrom('asset_versions')
    .select(['version', 'document', 'salt', 'digest', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .orderBy('version', 'desc')
    .limit(limit);
  if (before !== undefined) select = select.where('version', '<', before);
  if (upTo !== undefined) select = select.where('version', '<=', upTo);
  const rows = await select.execute();
  if (rows.length === 0 && before === undefined && upTo === undefined) throw noAsset(assetId);
  return rows.map(({ created_at, ...rest }) => ({ ...rest, createdAt: created_at }));
}

/** The content behind each leaf of the asset, in their order; a transfer is of the version at that time. */
export async function contentsOfLeaves(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  leaves: HistoryLeaf[],
): Promise<ProofContent[]> {
  const { rows } = await sql<{ digest: Buffer; salt: Buffer }>`
    select v.digest, v.salt
    from unnest(${leaves.map(({ kind }) => kind)}::text[], ${leaves.map(({ version }) => version)}::integer[])
      with ordinality as leaf (kind, version, place)
    left join transfers t on leaf.kind = 'transfer' and t.workspace_id = ${workspaceId}
      and t.subject_id = ${assetId} and t.number = leaf.version
    join asset_versions v on v.workspace_id = ${workspaceId} and v.asset_id = ${assetId}
      and v.version = coalesce(t.subject_version, leaf.version)
    order by leaf.place`.execute(db);
  return rows.map(toContent);
}

export function toContent({ digest, salt }: { digest: Buffer; salt: Buffer }): ProofContent {
  return {
    algorithm: 'sha-256',
    digest: fromBytea(digest),
    canonicalization: 'jcs',
    salt: fromBytea(salt),
  };
}
