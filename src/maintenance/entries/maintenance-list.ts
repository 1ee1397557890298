/** Lists and counts the entries of an asset, possibly a hundred thousand, with a bounded amount of work per page. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { AnchorStatus } from '../../proof/anchor-status.ts';
import { bytesOf, createPageBudget, largeRowsAtOnce } from '../../runtime/page-budget.ts';
import { type Maintenance, plainType, readMaintenances } from './maintenances.store.ts';

export interface EntryFilters {
  type?: string | undefined;
  /** When the work was done: `from` is inclusive, `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface EntryQuery extends EntryFilters {
  status?: AnchorStatus | undefined;
  /** The page begins after this position. */
  after?: EntryPlace | undefined;
  limit: number;
}

export interface EntryPlace {
  performedAt: Date;
  maintenanceId: string;
}

export interface EntryPage {
  items: Maintenance[];
  /** The next page begins after this position; null on the last page. */
  next: EntryPlace | null;
}

interface OfAsset {
  workspaceId: string;
  assetId: string;
}

/** Entries whose status is read for one page: after that the page is returned even if it is not full. */
const usualWalkLength = 10_000;

/** Latest work first. Reads in steps and limits by bytes, because summaries can be long. */
export async function listMaintenances(
  db: Db,
  query: OfAsset & EntryQuery,
  walkLength = usualWalkLength,
): Promise<EntryPage> {
  const items: Maintenance[] = [];
  const hasRoom = createPageBudget();
  for (let { after } = query; ; ) {
    const limit = Math.min(query.limit - items.length, largeRowsAtOnce);
    const page = await listStep(db, { ...query, after, limit }, walkLength);
    for (const item of page.items) {
      if (!hasRoom(bytesOf(item))) return { items, next: placeOf(items.at(-1)) };
      items.push(item);
    }
    // A step that is not full, although there are more entries, has reached the walk limit of a page.
    if (page.next === null || items.length === query.limit || page.items.length < limit) {
      return { items, next: page.next };
    }
    after = page.next;
  }
}

async function listStep(
  db: Db,
  { workspaceId, assetId, ...query }: OfAsset & EntryQuery,
  walkLength: number,
): Promise<EntryPage> {
  const { status, limit } = query;
  const ahead = entriesWithin({ workspaceId, assetId }, query);
  if (status === undefined) {
    const entries = sql`${ahead} order by performed_at desc, id desc limit ${limit + 1}`;
    return toPage(await readMaintenances(db, workspaceId, { entries, limit: limit + 1 }), limit);
  }
  // The end of the walk is read first, so that entries recorded meanwhile are included.
  const { rows } = await sql<{ performed_at: Date; id: string }>`
    select performed_at, id from (${ahead}) as m order by performed_at desc, id desc
    offset ${walkLength - 1} limit 1`.execute(db);
  const [last] = rows;
  const entries = last
    ? sql`${ahead} and (performed_at, id) >= (${last.performed_at}::timestamptz, ${last.id})`
    : ahead;
  const page = toPage(await readMaintenances(db, workspaceId, { entries, status, limit: limit + 1 }), limit);
  if (page.next !== null || !last) return page;
  return { ...page, next: { performedAt: last.performed_at, maintenanceId: last.id } };
}

/** Uses only the index. */
export async function countMaintenances(
  db: Db,
  { workspaceId, assetId, ...filters }: OfAsset & EntryFilters,
) {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (${entriesWithin({ workspaceId, assetId }, filters, 'id')}) as m`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

function toPage(found: Maintenance[], limit: number): EntryPage {
  const items = found.slice(0, limit);
  return { items, next: found.length <= limit ? null : placeOf(items.at(-1)) };
}

function placeOf(entry: Maintenance | undefined): EntryPlace | null {
  return entry ? { performedAt: entry.performedAt, maintenanceId: entry.maintenanceId } : null;
}

/** A select without an order, to which conditions may be added. */
function entriesWithin(
  { workspaceId, assetId }: OfAsset,
  { type, from, to, after }: EntryFilters & Pick<EntryQuery, 'after'>,
  columns = '*',
): RawBuilder<unknown> {
  const conditions = [sql`workspace_id = ${workspaceId}`, sql`asset_id = ${assetId}`];
  if (type !== undefined) conditions.push(sql`${plainType} = lower(${type.trim()}::text)`);
  if (from !== undefined) conditions.push(sql`performed_at >= ${from}::timestamptz`);
  if (to !== undefined) conditions.push(sql`performed_at < ${to}::timestamptz`);
  if (after) {
    conditions.push(
      sql`(performed_at, id) < (${after.performedAt}::timestamptz, ${after.maintenanceId}::text)`,
    );
  }
  return sql`select ${sql.raw(columns)} from maintenances where ${sql.join(conditions, sql` and `)}`;
}
