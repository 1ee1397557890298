/**
 * Intervals: work on an asset that recurs after days, months, hours or cycles, completed through entries; and life limits,
 * which nothing completes.
 */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { requireSeen, type SeenVersions } from '../../runtime/seen-version.ts';
import { type AssetKey, findAsset, holdAsset } from '../assets/assets.store.ts';
import type { Correction } from '../entries/entry-additions.ts';
import { noMaintenance } from '../entries/maintenances.store.ts';
import { checked, columnsOf, detailsOf, type GivenInterval, type Interval, toInterval } from './interval.ts';
import { dueOf, dueThenOf } from './interval-due.ts';

export const maxIntervals = 1_000;

export interface AssetIntervals {
  /** `also`: rows to commit with the interval. */
  create(
    caller: Caller,
    input: { assetId: string; given: GivenInterval },
    also: (interval: Interval) => Write[],
  ): Promise<Interval>;
  /** Parts that are not given do not change. */
  update(
    caller: Caller,
    input: {
      assetId: string;
      id: string;
      given: Partial<Omit<GivenInterval, 'kind' | 'lastDone'>>;
      /** The entry of the asset that records the work. */
      completedBy?: string | undefined;
      /** Why a life limit changes. */
      limitCorrection?: string | undefined;
      /** Refused when the interval is at another version. */
      seen: SeenVersions;
    },
  ): Promise<Interval>;
  remove(caller: Caller, input: { assetId: string; id: string; seen: SeenVersions }): Promise<void>;
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
        const stated = checked(given);
        await requireRun(db, { workspaceId, assetId }, stated.lastDone);
        const interval: Interval = {
          id: newId('itv'),
          ...stated,
          dueThen: null,
          completedBy: null,
          version: 1,
          createdAt: at,
          updatedAt: at,
        };
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
          intervalChanged({ workspaceId, assetId, intervalId: interval.id, at }),
          ...also(interval),
        ]);
        return interval;
      }),

    update: (caller, { assetId, id, given, completedBy, limitCorrection, seen }) =>
      db.transaction().execute(async (db) => {
        const key = { workspaceId: caller.workspaceId, assetId };
        await holdAsset(db, key);
        const before = await find(db, key, id);
        requireSeen(seen, before, `The interval ${id}`);
        if (before.kind === 'life-limit') refuseLimitChange(before, { given, completedBy, limitCorrection });
        const stated = { ...before, ...given };
        const completed =
          completedBy === undefined
            ? {}
            : await completion(db, key, { ...before, every: stated.every }, completedBy);
        const interval = {
          ...before,
          ...checked({ ...stated, ...completed }, misfitOf(before, given)),
          // The same entry once more completes nothing anew.
          dueThen:
            completedBy === undefined || completedBy === before.completedBy
              ? before.dueThen
              : dueThenOf(before),
          completedBy: completedBy ?? before.completedBy,
          version: before.version + 1,
          updatedAt: new Date(),
        };
        await db
          .updateTable('asset_intervals')
          .set({ ...columnsOf(interval), version: interval.version, updated_at: interval.updatedAt })
          .where('workspace_id', '=', key.workspaceId)
          .where('asset_id', '=', assetId)
          .where('id', '=', id)
          .execute();
        await insertAll(db, [
          auditWrite(caller, {
            action: 'asset.change_interval',
            targetId: assetId,
            details: { ...detailsOf(interval), ...(limitCorrection !== undefined && { limitCorrection }) },
          }),
          intervalChanged({ ...key, intervalId: id, at: interval.updatedAt }),
        ]);
        return interval;
      }),

    remove: (caller, { assetId, id, seen }) =>
      db.transaction().execute(async (db) => {
        const key = { workspaceId: caller.workspaceId, assetId };
        await holdAsset(db, key);
        const interval = await find(db, key, id);
        requireSeen(seen, interval, `The interval ${id}`);
        if (await isReached(db, key, interval)) {
          throw new AppError(
            'conflict',
            `The life limit ${id} is reached, so it cannot be deleted. If it is wrong, correct it with limitCorrection.`,
          );
        }
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
          intervalChanged({ ...key, intervalId: id, at: new Date() }),
        ]);
      }),

    list: (key, { after = '', limit }) => listIntervals(db, key, { after, limit }),
  };
}

/** `asset.intervals.changed`: an interval was created, changed, completed or deleted. */
function intervalChanged(change: AssetKey & { intervalId: string; at: Date }): Write {
  const { workspaceId, assetId, intervalId, at } = change;
  const data = { asset_id: assetId, interval_id: intervalId, changed_at: at.toISOString() };
  return eventWrite({ workspaceId, type: 'asset.intervals.changed', at, data });
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

/** The due list is built from all intervals at once. */
async function refuseTooMany(db: Db, key: AssetKey): Promise<void> {
  const known = await intervalsOf(db, key).orderBy('id').limit(maxIntervals).execute();
  if (known.length < maxIntervals) return;
  throw new AppError(
    'conflict',
    `The asset ${key.assetId} has reached the limit of ${maxIntervals} intervals. Delete one first.`,
  );
}

async function isReached(db: Db, key: AssetKey, interval: Interval): Promise<boolean> {
  if (interval.kind !== 'life-limit') return false;
  const { usage } = await findAsset(db, key);
  return dueOf(interval, usage, new Date()).overdue;
}

/** If not all is given, then it conflicts with what is stored. */
function misfitOf(
  { kind }: Interval,
  { every, tolerance }: Partial<Pick<GivenInterval, 'every' | 'tolerance'>>,
): 'invalid_request' | 'conflict' {
  const allGiven = kind === 'recurring' && every !== undefined && tolerance !== undefined;
  return allGiven ? 'invalid_request' : 'conflict';
}

/** No work starts a life anew: only a mistake in the limit itself is corrected, with a reason. */
function refuseLimitChange(
  { id }: Interval,
  change: {
    given: Partial<Pick<GivenInterval, 'every'>>;
    completedBy: string | undefined;
    limitCorrection: string | undefined;
  },
): void {
  if (change.completedBy !== undefined) {
    throw new AppError(
      'conflict',
      `${id} is a life limit, which no work and no sign-off extends. Replace the asset when it is reached.`,
    );
  }
  if (change.given.every !== undefined && change.limitCorrection === undefined) {
    throw new AppError(
      'conflict',
      `${id} is a life limit. To correct a mistake in it, explain the correction in limitCorrection.`,
    );
  }
}

/** Work cannot have been done at hours or cycles that the asset has not reached yet. */
async function requireRun(db: Db, key: AssetKey, lastDone: Interval['lastDone']): Promise<void> {
  const { usage } = await findAsset(db, key);
  for (const counter of ['hours', 'cycles'] as const) {
    const done = lastDone[counter];
    if (done !== null && done > usage[counter]) {
      throw new AppError(
        'conflict',
        `lastDone.${counter} is ${done}, but the asset ${key.assetId} has run only ${usage[counter]} in total. Set its usage first.`,
      );
    }
  }
}

/** The new `lastDone`, from an entry that is not superseded; it may not go back in time or usage. */
async function completion(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { every, lastDone }: { every: Partial<Interval['every']>; lastDone: Interval['lastDone'] },
  maintenanceId: string,
): Promise<Pick<Interval, 'lastDone'>> {
  const { rows } = await sql<CompletingRow>`
    select m.performed_at, m.usage_hours as hours, m.usage_cycles as cycles, s.id as superseded_by
    from maintenances m left join maintenances s on s.workspace_id = m.workspace_id and s.supersedes = m.id
    where m.workspace_id = ${workspaceId} and m.id = ${maintenanceId} and m.asset_id = ${assetId}`.execute(
    db,
  );
  const [entry] = rows;
  if (!entry) throw noMaintenance(maintenanceId);
  const refuse = (why: string) => new AppError('conflict', `The maintenance entry ${maintenanceId} ${why}`);
  if (entry.superseded_by !== null)
    throw refuse(`is superseded by ${entry.superseded_by}: use that one instead.`);
  if (entry.performed_at < lastDone.at) {
    throw refuse(`records work from before ${lastDone.at.toISOString()}, when it was last done.`);
  }
  for (const counter of ['hours', 'cycles'] as const) {
    if ((every[counter] ?? null) === null) continue;
    if (entry[counter] === null)
      throw refuse(`does not state data.usage.${counter}, which the interval depends on.`);
    if (entry[counter] < (lastDone[counter] ?? 0)) {
      throw refuse(`states fewer ${counter} than when the work was last done.`);
    }
  }
  const { performed_at: at, hours, cycles } = entry;
  return { lastDone: { at, hours: hours ?? lastDone.hours, cycles: cycles ?? lastDone.cycles } };
}

interface CompletingRow {
  performed_at: Date;
  hours: number | null;
  cycles: number | null;
  superseded_by: string | null;
}

/** Intervals that were completed by a corrected entry are updated from the correction. */
export async function followCorrections(db: Db, corrections: Correction[]): Promise<void> {
  const { rows } = await sql<{ workspace_id: string; asset_id: string; id: string }>`
    update asset_intervals i
    set completed_by = m.id, version = i.version + 1, done_at = m.performed_at, done_hours = coalesce(m.usage_hours, i.done_hours),
        done_cycles = coalesce(m.usage_cycles, i.done_cycles), updated_at = now()
    from unnest(${corrections.map(({ workspaceId }) => workspaceId)}::text[],
                ${corrections.map(({ supersedes }) => supersedes)}::text[],
                ${corrections.map(({ maintenanceId }) => maintenanceId)}::text[]) as c (workspace_id, old_id, new_id)
    join maintenances m on m.workspace_id = c.workspace_id and m.id = c.new_id
    where i.workspace_id = c.workspace_id and i.completed_by = c.old_id
    returning i.workspace_id, i.asset_id, i.id`.execute(db);
  const at = new Date();
  await insertAll(
    db,
    rows.map(({ workspace_id: workspaceId, asset_id: assetId, id: intervalId }) =>
      intervalChanged({ workspaceId, assetId, intervalId, at }),
    ),
  );
}
