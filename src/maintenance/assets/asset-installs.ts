/** Which asset is installed in which, and when: in one place at a time, and never in a cycle. */
import { sql } from 'kysely';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { earliestWork } from '../signing/maintenance-entry.ts';
import { noAsset } from './asset-access.ts';
import { holdForChange, writeNextVersion } from './asset-changes.ts';
import type { Installation } from './asset-document.ts';
import type { AssetKey, HeldAsset } from './assets.store.ts';

/** As many as their usage is passed on over. */
const mostLevels = 10;

export interface NumberedInstallation extends Installation {
  assetId: string;
  /** Counts from 1 for each asset. */
  number: number;
}

export interface AssetInstalls {
  /** `also`: rows to commit with the installation. */
  install(
    caller: Caller,
    input: { assetId: string; parentAssetId: string; at: Date },
    also: (installation: NumberedInstallation) => Write[],
  ): Promise<NumberedInstallation>;
  remove(
    caller: Caller,
    input: { assetId: string; parentAssetId?: string; at: Date },
    also: (installation: NumberedInstallation) => Write[],
  ): Promise<NumberedInstallation>;
  /** Newest first. */
  list(key: AssetKey, page: { before: number | undefined; limit: number }): Promise<NumberedInstallation[]>;
}

export interface AssetInstallsDeps {
  db: Db;
  /** Throws if the asset may not be installed any more. It is locked. */
  refuseRetired(db: Db, key: AssetKey): Promise<void>;
}

export function createAssetInstalls({ db, refuseRetired }: AssetInstallsDeps): AssetInstalls {
  return {
    install: (caller, { assetId, parentAssetId, at }, also) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        // Two concurrent installations, each valid on its own, could form a cycle.
        await sql`select pg_advisory_xact_lock(${locks.assetParents}, hashtext(${workspaceId}))`.execute(db);
        const asset = await holdForChange(db, caller, assetId);
        const { installation: last } = asset;
        if (last?.removedAt === null) {
          throw new AppError(
            'conflict',
            `The asset ${assetId} is already installed in ${last.parentAssetId}. Remove it from there first.`,
          );
        }
        checkTime(at, last?.removedAt ?? null, 'its last removal');
        await refuseCircle(db, asset, parentAssetId);
        await refusePastCircle(db, asset, { parentAssetId, at });
        await refuseRetired(db, asset);
        const number = asset.installations + 1;
        const made = { assetId, number, parentAssetId, installedAt: at, removedAt: null };
        await writeNextVersion(db, asset, {
          caller,
          installation: made,
          action: 'asset.install',
          details: { parentAssetId, at: at.toISOString() },
          also: [
            {
              table: 'asset_installations',
              row: {
                workspace_id: workspaceId,
                asset_id: assetId,
                number,
                parent_asset_id: parentAssetId,
                installed_at: at,
              },
            },
            ...also(made),
          ],
        });
        return made;
      }),

    remove: (caller, { assetId, parentAssetId, at }, also) =>
      db.transaction().execute(async (db) => {
        const asset = await holdForChange(db, caller, assetId);
        const { installation: last, installations: number } = asset;
        if (last === null || last.removedAt !== null) {
          throw new AppError('conflict', `The asset ${assetId} is not installed anywhere.`);
        }
        if (parentAssetId !== undefined && parentAssetId !== last.parentAssetId) {
          throw new AppError(
            'conflict',
            `The asset ${assetId} is installed in ${last.parentAssetId}, not in ${parentAssetId}.`,
          );
        }
        checkTime(at, last.installedAt, 'its installation');
        const made = { ...last, assetId, number, removedAt: at };
        await db
          .updateTable('asset_installations')
          .set({ removed_at: at })
          .where('workspace_id', '=', caller.workspaceId)
          .where('asset_id', '=', assetId)
          .where('number', '=', number)
          .execute();
        await writeNextVersion(db, asset, {
          caller,
          installation: made,
          action: 'asset.remove',
          details: { parentAssetId: last.parentAssetId, at: at.toISOString() },
          also: also(made),
        });
        return made;
      }),

    async list({ workspaceId, assetId }, { before, limit }) {
      let select = db
        .selectFrom('asset_installations')
        .select(['number', 'parent_asset_id', 'installed_at', 'removed_at'])
        .where('workspace_id', '=', workspaceId)
        .where('asset_id', '=', assetId)
        .orderBy('number', 'desc')
        .limit(limit);
      if (before !== undefined) select = select.where('number', '<', before);
      return (await select.execute()).map((row) => ({
        assetId,
        number: row.number,
        parentAssetId: row.parent_asset_id,
        installedAt: row.installed_at,
        removedAt: row.removed_at,
      }));
    },
  };
}

/** `after`: when the last event of this kind happened. */
function checkTime(at: Date, after: Date | null, what: string): void {
  if (at > new Date()) {
    throw new AppError('invalid_request', `at must not be in the future, but ${at.toISOString()} is.`);
  }
  if (at < earliestWork) {
    throw new AppError('invalid_request', 'at must not be before the year 1900.');
  }
  if (after !== null && at < after) {
    throw new AppError('conflict', `at must not be before ${what} at ${after.toISOString()}.`);
  }
}

async function refuseCircle(
  db: Db,
  { workspaceId, assetId }: HeldAsset,
  parentAssetId: string,
): Promise<void> {
  const { rows } = await sql<{ asset_id: string }>`
    with recursive above as (
      select asset_id, parent_asset_id from assets
      where workspace_id = ${workspaceId} and asset_id = ${parentAssetId}
      union
      select a.asset_id, a.parent_asset_id from above
      join assets a on a.workspace_id = ${workspaceId} and a.asset_id = above.parent_asset_id
    )
    select asset_id from above`.execute(db);
  if (rows.length === 0) throw noAsset(parentAssetId);
  if (rows.some((row) => row.asset_id === assetId)) {
    throw new AppError(
      'conflict',
      assetId === parentAssetId
        ? `The asset ${assetId} cannot be installed in itself.`
        : `The asset ${parentAssetId} is itself a part of ${assetId}.`,
    );
  }
}

/** At no time may two assets have been parts of each other, nor count the usage of each other. */
async function refusePastCircle(
  db: Db,
  { workspaceId, assetId }: HeldAsset,
  { parentAssetId, at }: { parentAssetId: string; at: Date },
): Promise<void> {
  const { rows } = await sql<{ asset_id: string }>`
    with recursive above as (
      select ${parentAssetId}::text collate "C" as asset_id, ${at}::timestamptz as since, 'infinity'::timestamptz as until, 0 as level
      union
      select i.parent_asset_id, greatest(above.since, i.installed_at), least(above.until, coalesce(i.removed_at, 'infinity')),
        above.level + 1
      from above
      join asset_installations i on i.workspace_id = ${workspaceId} and i.asset_id = above.asset_id
      where above.level < ${mostLevels} and i.installed_at < above.until
        and coalesce(i.removed_at, 'infinity') > above.since
    )
    select asset_id from above where asset_id = ${assetId} limit 1`.execute(db);
  if (rows.length === 0) return;
  throw new AppError(
    'conflict',
    `The asset ${parentAssetId} was itself a part of ${assetId} after ${at.toISOString()}.`,
  );
}
