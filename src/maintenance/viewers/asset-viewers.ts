/** Viewers of an asset: grants by its owner, with or without an end, that can be revoked at once. */

import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { checksummed } from '../../runtime/address.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { mayView } from '../assets/asset-access.ts';
import { type AssetKey, holdAsset } from '../assets/assets.store.ts';

export interface Viewer {
  /** EIP-55. */
  address: string;
  /** The grant ends at this time; null: no end. */
  until: Date | null;
}

export interface AssetViewers {
  /** An existing grant gets the new end. `also`: rows to commit with the grants. */
  grant(
    caller: Caller,
    input: { assetId: string; addresses: string[]; until: Date | null },
    also: (viewers: Viewer[]) => Write[],
  ): Promise<Viewer[]>;
  /** Current grants, by address. */
  list(key: AssetKey, page: { after: string | undefined; limit: number }): Promise<Viewer[]>;
  revoke(caller: Caller, assetId: string, address: string): Promise<void>;
  /** Also true for the owner and for assigned workers. */
  isViewer(key: AssetKey, address: string): Promise<boolean>;
}

export function createAssetViewers(db: Db): AssetViewers {
  return {
    grant: (caller, { assetId, addresses, until }, also) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await holdAsset(db, { workspaceId, assetId });
        if (until !== null && until <= new Date()) {
          throw new AppError(
            'invalid_request',
            `until must be in the future, but ${until.toISOString()} is not.`,
          );
        }
        const unique = [...new Set(addresses.map((address) => address.toLowerCase()))];
        await db
          .insertInto('asset_viewers')
          .values(unique.map((address) => ({ workspace_id: workspaceId, asset_id: assetId, address, until })))
          .onConflict((conflict) =>
            conflict
              .columns(['workspace_id', 'asset_id', 'address'])
              .doUpdateSet({ until, created_at: new Date() }),
          )
          .execute();
        const viewers = unique.map((address) => ({ address: checksummed(address), until }));
        const details = { viewers: unique, until: until?.toISOString() ?? null };
        await insertAll(db, [
          auditWrite(caller, { action: 'asset.grant_viewers', targetId: assetId, details }),
          ...also(viewers),
        ]);
        return viewers;
      }),

    async list({ workspaceId, assetId }, { after = '', limit }) {
      const rows = await db
        .selectFrom('asset_viewers')
        .select(['address', 'until'])
        .where('workspace_id', '=', workspaceId)
        .where('asset_id', '=', assetId)
        .where('address', '>', after.toLowerCase())
        .where((where) => where.or([where('until', 'is', null), where('until', '>', new Date())]))
        .orderBy('address')
        .limit(limit)
        .execute();
      return rows.map(({ address, until }) => ({ address: checksummed(address), until }));
    },

    revoke: (caller, assetId, address) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await holdAsset(db, { workspaceId, assetId });
        const viewer = address.toLowerCase();
        const { numDeletedRows } = await db
          .deleteFrom('asset_viewers')
          .where('workspace_id', '=', workspaceId)
          .where('asset_id', '=', assetId)
          .where('address', '=', viewer)
          .executeTakeFirst();
        if (numDeletedRows === 0n) {
          throw new AppError('resource_not_found', `${address} has no grant for the asset ${assetId}.`);
        }
        await insertAll(db, [
          auditWrite(caller, { action: 'asset.revoke_viewer', targetId: assetId, details: { viewer } }),
        ]);
      }),

    isViewer: (key, address) => mayView(db, { ...key, address }),
  };
}
