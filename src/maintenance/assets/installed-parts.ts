/** What is installed in an asset now, at any depth. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { AssetKey } from './assets.store.ts';

/** An assembly may be deeper and larger; the rest is left out. */
const mostLevels = 10;
const mostParts = 1_000;

/** Those nearest to the asset first. */
export async function listPartsBelow(
  db: Db,
  { workspaceId, assetId }: AssetKey,
): Promise<{ assetId: string; name: string }[]> {
  const { rows } = await sql<{ asset_id: string; name: string }>`
    with recursive below as (
      select asset_id, name, 1 as level from assets
      where workspace_id = ${workspaceId} and parent_asset_id = ${assetId}
      union all
      select a.asset_id, a.name, below.level + 1 from below
      join assets a on a.workspace_id = ${workspaceId} and a.parent_asset_id = below.asset_id
      where below.level < ${mostLevels}
    )
    select asset_id, name from below limit ${mostParts}`.execute(db);
  return rows.map(({ asset_id, name }) => ({ assetId: asset_id, name }));
}
