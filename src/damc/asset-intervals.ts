/** Intervals: work on an asset that comes round again after days, hours or cycles. */
import type { Selectable } from 'kysely';
import { auditWrite } from '../auth/audit.ts';
import type { Caller } from '../caller.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { insertAll, type Write } from '../db/writes.ts';
import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import { type AssetKey, holdAsset } from './assets.store.ts';

export interface Interval {
  id: string;
  name: string;
  /** At least one of them; what ends first counts. */
  every: { days: number | null; hours: number | null; cycles: number | null };
  lastDone: { at: Date; hours: number | null; cycles: number | null };
  createdAt: Date;
  updatedAt: Date;
}

/** What a caller says of an interval. */
export interface GivenInterval {
  name: string;
  every: Partial<Interval['every']>;
  lastDone: Pick<Interval['lastDone'], 'at'> & Partial<Interval['lastDone']>;
}

export const maxIntervals = 1_000;

export interface AssetIntervals {
  /** `also`: rows to commit with the interval. */
  create(
    caller: Caller,
    input: { assetId: string; given: GivenInterval },
    also: (interval: Interval) => Write[],
  ): Promise<Interval>;
  /** Parts that are not given stay as they are. */
  update(
    caller: Caller,
    input: { assetId: string; id: string; given: Partial<GivenInterval> },
  ): Promise<Interval>;
  remove(caller: Caller, assetId: string, id: string): Promise<void>;
  /** Oldest first. */
  list(key: AssetKey, page: { after: string | undefined; limit: number }): Promise<Interval[]>;
}

export function createAssetIntervals(db: Db): AssetIntervals {
  return {
    create: (caller, { assetId, given }, also) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await holdAsset(db, { workspaceId, assetId });
        await refuseTooMany(db, { workspaceId, assetId });
        const at = new Date();
        const interval = { id: newId('itv'), ...checked(given), createdAt: at, updatedAt: at };
        await insertAll(db, [
          {
            table: 'asset_intervals',
            row: {
              workspace_id: workspaceId,
              asset_id: assetId,
              id: interval.id,
              ...columnsOf(interval),
              created_at: at,
              updated_at: at,
            },
          },
          auditWrite(caller, {
            action: 'asset.add_interval',
            targetId: assetId,
            details: detailsOf(interval),
          }),
          ...also(interval),
        ]);
        return interval;
      }),

    update: (caller, { assetId, id, given }) =>
      db.transaction().execute(async (db) => {
        const key = { workspaceId: caller.workspaceId, assetId };
        await holdAsset(db, key);
        const before = await find(db, key, id);
        const interval = { ...before, ...checked({ ...before, ...given }), updatedAt: new Date() };
        await db
          .updateTable('asset_intervals')
          .set({ ...columnsOf(interval), updated_at: interval.updatedAt })
          .where('workspace_id', '=', key.workspaceId)
          .where('asset_id', '=', assetId)
          .where('id', '=', id)
          .execute();
        await insertAll(db, [
          auditWrite(caller, {
            action: 'asset.change_interval',
            targetId: assetId,
            details: detailsOf(interval),
          }),
        ]);
        return interval;
      }),

    remove: (caller, assetId, id) =>
      db.transaction().execute(async (db) => {
        const key = { workspaceId: caller.workspaceId, assetId };
        await holdAsset(db, key);
        const interval = await find(db, key, id);
        await db
          .deleteFrom('asset_intervals')
          .where('workspace_id', '=', key.workspaceId)
          .where('asset_id', '=', assetId)
          .where('id', '=', id)
          .execute();
        await insertAll(db, [
          auditWrite(caller, {
            action: 'asset.remove_interval',
            targetId: assetId,
            details: detailsOf(interval),
          }),
        ]);
      }),

    list: (key, { after = '', limit }) => listIntervals(db, key, { after, limit }),
  };
}

export async function listIntervals(
  db: Db,
  key: AssetKey,
  { after, limit }: { after: string; limit: number },
): Promise<Interval[]> {
  const rows = await intervalsOf(db, key).where('id', '>', after).orderBy('id').limit(limit).execute();
  return rows.map(toInterval);
}

async function find(db: Db, key: AssetKey, id: string): Promise<Interval> {
  const row = await intervalsOf(db, key).where('id', '=', id).executeTakeFirst();
  if (row) return toInterval(row);
  throw new AppError('resource_not_found', `There is no interval ${id} of the asset ${key.assetId}.`);
}

function intervalsOf(db: Db, { workspaceId, assetId }: AssetKey) {
  return db
    .selectFrom('asset_intervals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId);
}

function toInterval(row: Selectable<Tables['asset_intervals']>): Interval {
  return {
    id: row.id,
    name: row.name,
    every: { days: row.every_days, hours: row.every_hours, cycles: row.every_cycles },
    lastDone: { at: row.done_at, hours: row.done_hours, cycles: row.done_cycles },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Of all of them the due list is made at once. */
async function refuseTooMany(db: Db, key: AssetKey): Promise<void> {
  const known = await intervalsOf(db, key).orderBy('id').limit(maxIntervals).execute();
  if (known.length < maxIntervals) return;
  throw new AppError(
    'conflict',
    `The asset ${key.assetId} has ${maxIntervals} intervals, which is the most there can be.`,
  );
}

type Stated = Pick<Interval, 'name' | 'every' | 'lastDone'>;

function checked({ name, every, lastDone }: GivenInterval): Stated {
  const { days = null, hours = null, cycles = null } = every;
  if (days === null && hours === null && cycles === null) {
    throw new AppError('invalid_request', 'every must have days, hours or cycles.');
  }
  for (const counter of ['hours', 'cycles'] as const) {
    if ((every[counter] ?? null) !== null && (lastDone[counter] ?? null) === null) {
      throw new AppError(
        'invalid_request',
        `lastDone.${counter} is required when every.${counter} is given.`,
      );
    }
  }
  if (lastDone.at > new Date()) {
    throw new AppError('invalid_request', 'lastDone.at must not lie in the future.');
  }
  return {
    name,
    every: { days, hours, cycles },
    lastDone: { at: lastDone.at, hours: lastDone.hours ?? null, cycles: lastDone.cycles ?? null },
  };
}

function columnsOf({ name, every, lastDone }: Stated) {
  return {
    name,
    every_days: every.days,
    every_hours: every.hours,
    every_cycles: every.cycles,
    done_at: lastDone.at,
    done_hours: lastDone.hours,
    done_cycles: lastDone.cycles,
  };
}

function detailsOf({ id, name, every, lastDone }: Interval): Record<string, unknown> {
  return { intervalId: id, name, every, lastDone: { ...lastDone, at: lastDone.at.toISOString() } };
}
