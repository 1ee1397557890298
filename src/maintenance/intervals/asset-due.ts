/** What is due on an asset: the next due time of every interval, open defects, and parts at the end of their life. */
import type { Db } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';
import type { Usage } from '../assets/asset-document.ts';
import { type AssetKey, findAsset, readUsage } from '../assets/assets.store.ts';
import { listPartsBelow } from '../assets/installed-parts.ts';
import { findOpenDefects, type OpenDefect } from '../entries/open-defects.ts';
import { findWithdrawnReleases, type WithdrawnRelease } from '../entries/withdrawn-releases.store.ts';
import { listIntervals, maxIntervals } from './asset-intervals.ts';
import { toInterval } from './interval.ts';
import { type DueInterval, dueOf } from './interval-due.ts';

export interface DueList {
  assetId: string;
  /** The time of this list. */
  at: Date;
  usage: Usage;
  /** The part of it that its parents ran. */
  usageFromParents: Usage;
  /** Whether anything is overdue. */
  overdue: boolean;
  /** It has reached a life limit of its own. */
  retired: boolean;
  intervals: DueInterval[];
  /** Until each of them is removed and replaced. */
  retiredParts: RetiredPart[];
  openDefects: OpenDefect[];
  /** Until their corrections are certified. */
  withdrawnReleases: WithdrawnRelease[];
}

/** A part that has reached its life limit and is still installed, directly or in another part. */
interface RetiredPart {
  assetId: string;
  name: string;
  intervalId: string;
  /** Of the life limit. */
  limit: string;
}

export async function dueList(db: Db, key: AssetKey, at: Date): Promise<DueList> {
  const { assetId, usage, usageFromParents } = await findAsset(db, key);
  const known = await listIntervals(db, key, { after: '', limit: maxIntervals });
  const intervals = known.map((interval) => dueOf(interval, usage, at));
  const openDefects = await findOpenDefects(db, key, at);
  const retiredParts = await findRetiredParts(db, key, at);
  const withdrawnReleases = await findWithdrawnReleases(db, key);
  const overdue = retiredParts.length > 0 || [...intervals, ...openDefects].some(({ overdue }) => overdue);
  const retired = intervals.some((one) => one.kind === 'life-limit' && one.overdue);
  return {
    assetId,
    at,
    usage,
    usageFromParents,
    overdue,
    retired,
    intervals,
    openDefects,
    retiredParts,
    withdrawnReleases,
  };
}

/** An asset whose life is over is not installed any more; throws conflict. */
export async function refuseRetired(db: Db, key: AssetKey): Promise<void> {
  const [limit] = await reachedLimits(db, key.workspaceId, [key.assetId], new Date());
  if (!limit) return;
  throw new AppError(
    'conflict',
    `The asset ${key.assetId} has reached its life limit${limit.name && ` "${limit.name}"`} (${limit.intervalId}), so it cannot be installed.`,
  );
}

/** Whether it has reached a life limit. */
export async function isRetired(db: Db, { workspaceId, assetId }: AssetKey): Promise<boolean> {
  return (await reachedLimits(db, workspaceId, [assetId], new Date())).length > 0;
}

async function findRetiredParts(db: Db, key: AssetKey, at: Date): Promise<RetiredPart[]> {
  const parts = await listPartsBelow(db, key);
  if (parts.length === 0) return [];
  const names = new Map(parts.map(({ assetId, name }) => [assetId, name]));
  const reached = await reachedLimits(db, key.workspaceId, [...names.keys()], at);
  return reached.map(({ assetId, intervalId, name }) => ({
    assetId,
    name: names.get(assetId) ?? '',
    intervalId,
    limit: name,
  }));
}

/** The first limit that each of the assets has reached. */
async function reachedLimits(
  db: Db,
  workspaceId: string,
  assetIds: string[],
  at: Date,
): Promise<{ assetId: string; intervalId: string; name: string }[]> {
  const rows = await db
    .selectFrom('asset_intervals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', 'in', assetIds)
    .where('kind', '=', 'life-limit')
    .orderBy('asset_id')
    .orderBy('id')
    .execute();
  const limited = [...new Set(rows.map(({ asset_id }) => asset_id))].map((id) => ({ workspaceId, id }));
  const usages = new Map((await readUsage(db, limited)).map(({ assetId, usage }) => [assetId, usage]));
  const reached = new Map<string, { assetId: string; intervalId: string; name: string }>();
  for (const row of rows) {
    const usage = usages.get(row.asset_id);
    if (!usage || reached.has(row.asset_id) || !dueOf(toInterval(row), usage, at).overdue) continue;
    reached.set(row.asset_id, { assetId: row.asset_id, intervalId: row.id, name: row.name });
  }
  return [...reached.values()];
}
