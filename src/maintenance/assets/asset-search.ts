/** Searches assets by words, with a bounded amount of work per page, however many assets the workspace has. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { createPageBudget, largeRowsAtOnce } from '../../runtime/page-budget.ts';
import { type AssetQuery, bytesOfAsset, readAssets, type StoredAsset, whichOf } from './assets.store.ts';

export interface AssetSearch extends AssetQuery {
  /** All of its words must occur in the id, name, serial number or part number, in any case. */
  q: string;
}

export interface FoundAssets {
  items: StoredAsset[];
  /** Where the search continues; null at the end. There may be more even if nothing was found yet. */
  next: AssetPosition | null;
}

interface AssetPosition {
  createdAt: Date;
  assetId: string;
}

/** Assets examined per page: reading their few short columns takes some 20 ms. */
const mostExamined = 10_000;

/** Newest first. */
export async function searchAssets(
  db: Db,
  workspaceId: string,
  query: AssetSearch,
  examinedAtMost = mostExamined,
): Promise<FoundAssets> {
  const { q, limit } = query;
  const words = q.split(/\s+/).filter(Boolean);
  const { rows } = await sql<{ asset_id: string; created_at: Date; fits: boolean; place: number }>`
    with examined as materialized (
      select a.asset_id, a.created_at, not exists (
          select 1 from unnest(${words}::text[]) as word
          where strpos(
            lower(concat_ws(E'\n', a.asset_id, a.name, a.serial_number, a.part_number) collate "default"), lower(word)
          ) = 0
        ) as fits,
        row_number() over (order by a.created_at desc, a.asset_id desc) as place
      from assets a where ${whichOf(workspaceId, query)}
      order by a.created_at desc, a.asset_id desc limit ${examinedAtMost}
    )
    select asset_id, created_at, fits, place from examined where fits or place = ${examinedAtMost}
    order by place limit ${limit + 1}`.execute(db);
  const found = rows.filter(({ fits }) => fits).slice(0, limit);
  const items = await readWithin(
    db,
    workspaceId,
    found.map(({ asset_id }) => asset_id),
  );
  if (items.length < found.length || rows.length > limit) return { items, next: items.at(-1) ?? null };
  // The last examined asset, whether it matches or not: those after it have not been examined yet.
  const end = rows.at(-1);
  const more = end?.place === examinedAtMost;
  return { items, next: more ? { createdAt: end.created_at, assetId: end.asset_id } : null };
}

/** In this order, as many as fit into a page. */
async function readWithin(db: Db, workspaceId: string, assetIds: string[]): Promise<StoredAsset[]> {
  const items: StoredAsset[] = [];
  const hasRoom = createPageBudget();
  for (let at = 0; at < assetIds.length; at += largeRowsAtOnce) {
    const some = assetIds.slice(at, at + largeRowsAtOnce);
    const assets = await readAssets(
      db,
      sql`a.workspace_id = ${workspaceId} and a.asset_id = any(${some}::text[])
        order by a.created_at desc, a.asset_id desc`,
    );
    for (const asset of assets) {
      if (!hasRoom(bytesOfAsset(asset))) return items;
      items.push(asset);
    }
  }
  return items;
}
