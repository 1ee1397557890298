/** How long and how often an asset was used: counted up, never down. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { AppError } from '../errors.ts';
import type { Usage } from './asset-document.ts';
import type { AssetKey } from './assets.store.ts';

/** The usage from now on; throws conflict when it would go down. */
export function raisedUsage(before: Usage, given: Partial<Usage>): Usage {
  for (const counter of ['hours', 'cycles'] as const) {
    const value = given[counter];
    if (value !== undefined && value < before[counter]) {
      throw new AppError(
        'conflict',
        `usage.${counter} is ${before[counter]} already and cannot go down to ${value}.`,
      );
    }
  }
  return { hours: given.hours ?? before.hours, cycles: given.cycles ?? before.cycles };
}

/**
 * What a maintenance entry says of the usage at that time. Entries are recorded late and out of order, so one that says
 * less than is known changes nothing.
 */
export async function noteUsage(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { hours = 0, cycles = 0 }: Partial<Usage>,
): Promise<void> {
  await sql`
    update assets set usage_hours = greatest(usage_hours, ${hours}::float8),
      usage_cycles = greatest(usage_cycles, ${cycles}::bigint), updated_at = now()
    where workspace_id = ${workspaceId} and asset_id = ${assetId}
      and (usage_hours < ${hours}::float8 or usage_cycles < ${cycles}::bigint)`.execute(db);
}
