/** The access log of an asset: every look, allowed or not. */

import type { Db } from '../../db/database.ts';
import { checksummed } from '../../runtime/address.ts';
import type { AssetKey } from '../assets/assets.store.ts';

export interface LoggedLook {
  id: number;
  at: Date;
  /** EIP-55; the owner if no viewer was named. */
  viewerAddress: string;
  /** What was requested; `targetId` says which one, if there are several. */
  what: string;
  /** What else the same person requested within a minute. */
  also: string[];
  targetId: string | null;
  allowed: boolean;
  /** Who made the request for the viewer. */
  actor: { kind: string; id: string };
}

/** Entries before an id, newest first. */
export async function listLooks(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<LoggedLook[]> {
  let select = db
    .selectFrom('asset_access_log')
    .select(['id', 'at', 'viewer', 'what', 'also', 'target_id', 'allowed', 'actor_kind', 'actor_id'])
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .orderBy('id', 'desc')
    .limit(limit);
  if (before !== undefined) select = select.where('id', '<', before);
  return (await select.execute()).map((row) => ({
    id: row.id,
    at: row.at,
    viewerAddress: checksummed(row.viewer),
    what: row.what,
    also: row.also,
    targetId: row.target_id,
    allowed: row.allowed,
    actor: { kind: row.actor_kind, id: row.actor_id },
  }));
}
