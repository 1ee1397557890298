/** The versions of assets in SQL: the documents that were anchored. */
import { transferKind } from '../anchoring/history.ts';
import type { Db } from '../db/database.ts';
import { AppError } from '../errors.ts';
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

/** Without a version: the newest. */
export async function findAssetVersion(
  db: Db,
  key: AssetKey,
  version: number | undefined,
): Promise<AssetVersion> {
  const [found] = await listAssetVersions(db, key, { upTo: version, limit: 1 });
  if (found && (version === undefined || found.version === version)) return found;
  throw new AppError('resource_not_found', `There is no version ${version} of the asset ${key.assetId}.`);
}

/** Newest first: those before a version, or up to one. */
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

/** What a leaf of the asset is the hash of; a transfer passes on the version of that time. */
export async function contentOfLeaf(
  db: Db,
  key: AssetKey,
  { kind, version }: { kind: string; version: number },
): Promise<AssetVersion> {
  if (kind !== transferKind) return findAssetVersion(db, key, version);
  const transfer = await db
    .selectFrom('asset_transfers')
    .select('asset_version')
    .where('workspace_id', '=', key.workspaceId)
    .where('asset_id', '=', key.assetId)
    .where('number', '=', version)
    .executeTakeFirstOrThrow();
  return findAssetVersion(db, key, transfer.asset_version);
}
