/**
 * How long and how often an asset was used: the highest value stated with the asset itself or by its entries, and what its parents
 * ran while it was installed in them. It decreases
 * only to correct a mistake: of an entry by superseding it, of the asset itself with a reason.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';
import type { Usage } from './asset-document.ts';
import { type HeldAsset, mostStated } from './assets.store.ts';
import { readUsageWithParents, usageKey } from './usage-from-parents.store.ts';

export interface GivenUsage {
  usage?: Partial<Usage>;
  /** Why the value decreases. */
  usageCorrection?: string;
}

/** The usage to state with the asset; throws conflict when it would decrease by mistake. */
export async function statedUsage(
  db: Db,
  { workspaceId, assetId, fields }: HeldAsset,
  { usage: given = {}, usageCorrection }: GivenUsage,
): Promise<Usage> {
  const stated = { ...fields.usage };
  const key = { workspaceId, assetId };
  const withParents = (await readUsageWithParents(db, [key])).get(usageKey(key));
  for (const counter of ['hours', 'cycles'] as const) {
    const value = given[counter];
    if (value === undefined) continue;
    const { rows } = await sql<{ id: string; value: number }>`
      select most.id, most.value from (select ${workspaceId} as workspace_id, ${assetId} as asset_id) as a
      cross join lateral ${mostStated(counter)} as most`.execute(db);
    const [entry] = rows;
    const before = Math.max(stated[counter], entry?.value ?? 0);
    const total = Math.max(before, withParents?.[counter] ?? 0);
    // An unchanged value is not stated again: it may come from an entry, and must go if that entry is superseded.
    if (value === before || value === total) continue;
    if (value > before && value < total) {
      throw new AppError(
        'conflict',
        `usage.${counter} cannot go down to ${value}: with what its parents ran while it was installed in them, it is ${total}. If that is wrong, correct the usage of the parents.`,
      );
    }
    if (entry && value < entry.value) {
      throw new AppError(
        'conflict',
        `usage.${counter} cannot go down to ${value}: the maintenance entry ${entry.id} states ${entry.value}. If that is wrong, supersede the entry, and the asset follows.`,
      );
    }
    if (value < before && usageCorrection === undefined) {
      throw new AppError(
        'conflict',
        `usage.${counter} is already ${before} and cannot go down to ${value}. To correct a mistake, explain it in usageCorrection.`,
      );
    }
    stated[counter] = value;
  }
  return stated;
}
