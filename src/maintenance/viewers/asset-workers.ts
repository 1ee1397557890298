/** Workers assigned to an asset: they may record work on it, and see it. */
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { type AssetKey, holdAsset } from '../assets/assets.store.ts';

export interface AssignedWorker {
  /** EIP-55. */
  address: string;
  name: string;
}

export interface AssetWorkers {
  /** Workers who are already assigned stay assigned. `also`: rows to commit with the assignments. */
  assign(
    caller: Caller,
    input: { assetId: string; addresses: string[] },
    also: (workers: AssignedWorker[]) => Write[],
  ): Promise<AssignedWorker[]>;
  /** By address. */
  list(key: AssetKey, page: { after: string | undefined; limit: number }): Promise<AssignedWorker[]>;
  unassign(caller: Caller, assetId: string, address: string): Promise<void>;
}

export function createAssetWorkers(db: Db): AssetWorkers {
  return {
    assign: (caller, { assetId, addresses }, also) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await holdAsset(db, { workspaceId, assetId });
        const unique = [...new Set(addresses.map((address) => address.toLowerCase()))];
        const workers = await findWorkers(db, workspaceId, unique);
        await db
          .insertInto('asset_workers')
          .values(
            workers.map(({ id, address }) => ({
              workspace_id: workspaceId,
              asset_id: assetId,
              address: address.toLowerCase(),
              worker_id: id,
            })),
          )
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        const assigned = workers.map(({ address, name }) => ({ address, name }));
        const details = { workers: unique };
        await insertAll(db, [
          auditWrite(caller, { action: 'asset.assign_workers', targetId: assetId, details }),
          ...also(assigned),
        ]);
        return assigned;
      }),

    list: ({ workspaceId, assetId }, { after = '', limit }) =>
      db
        .selectFrom('asset_workers as a')
        .innerJoin('workers as w', (join) =>
          join.onRef('w.workspace_id', '=', 'a.workspace_id').onRef('w.id', '=', 'a.worker_id'),
        )
        .select(['w.address', 'w.name'])
        .where('a.workspace_id', '=', workspaceId)
        .where('a.asset_id', '=', assetId)
        .where('a.address', '>', after.toLowerCase())
        .orderBy('a.address')
        .limit(limit)
        .execute(),

    unassign: (caller, assetId, address) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await holdAsset(db, { workspaceId, assetId });
        const worker = address.toLowerCase();
        const { numDeletedRows } = await db
          .deleteFrom('asset_workers')
          .where('workspace_id', '=', workspaceId)
          .where('asset_id', '=', assetId)
          .where('address', '=', worker)
          .executeTakeFirst();
        if (numDeletedRows === 0n) {
          throw new AppError('resource_not_found', `${address} is not assigned to the asset ${assetId}.`);
        }
        await insertAll(db, [
          auditWrite(caller, { action: 'asset.unassign_worker', targetId: assetId, details: { worker } }),
        ]);
      }),
  };
}

/** In the order of the addresses, which are lower case; throws resource_not_found when a worker does not exist. */
async function findWorkers(
  db: Db,
  workspaceId: string,
  addresses: string[],
): Promise<{ id: string; address: string; name: string }[]> {
  const rows = await db
    .selectFrom('workers')
    .select(['id', 'address', 'name'])
    .where('workspace_id', '=', workspaceId)
    .where((where) => where(where.fn<string>('lower', ['address']), 'in', addresses))
    .execute();
  const found = new Map(rows.map((row) => [row.address.toLowerCase(), row]));
  return addresses.map((address) => {
    const worker = found.get(address);
    if (!worker) throw new AppError('resource_not_found', `There is no worker ${address}.`);
    return worker;
  });
}
