/**
 * The chain of an asset's entries. Each entry has a number, counted from 1 without a gap, and its claims name that number and
 * the leaf of the entry before, so that nobody can remove or reorder entries unnoticed.
 */
import { sql } from 'kysely';
import { isLeaf, leafKey } from '../../anchoring/anchored.ts';
import { firstLeaf } from '../../anchoring/batching/pending.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { AssetKey } from '../assets/assets.store.ts';

/** Where an entry is in the chain. */
export interface EntryPlace {
  number: number;
  /** The leaf of the entry before; `firstLeaf` for the first. */
  previousEntry: Buffer;
}

/** What the leaf of an entry claims. */
export function entryClaims(assetId: string, { number, previousEntry }: EntryPlace) {
  return { assetId, number, previousEntry: fromBytea(previousEntry) };
}

/** The newest entry of an asset; number 0 and `firstLeaf` if there is none. */
export interface ChainHead {
  number: number;
  leaf: Buffer;
}

/**
 * Locks the assets until the transaction ends, so that nobody else adds an entry to them, and returns the heads of their
 * chains. Without `wait`, assets that somebody else has locked are left out.
 */
export async function lockChains(
  db: Db,
  assets: AssetKey[],
  { wait }: { wait: boolean },
): Promise<Map<string, ChainHead>> {
  const keys = [...new Map(assets.map((key) => [chainKey(key), key])).values()];
  // A common order, so that two groups never deadlock.
  const { rows: locked } = await sql<{ workspace_id: string; asset_id: string }>`
    select a.workspace_id, a.asset_id
    from unnest(${keys.map(({ workspaceId }) => workspaceId)}::text[],
                ${keys.map(({ assetId }) => assetId)}::text[]) as wanted (workspace_id, asset_id)
    join assets a on a.workspace_id = wanted.workspace_id and a.asset_id = wanted.asset_id
    order by a.workspace_id, a.asset_id for no key update of a ${wait ? sql`` : sql`skip locked`}`.execute(
    db,
  );
  // A separate statement, which sees what was committed until the lock was free.
  const { rows } = await sql<HeadRow>`
    select locked.workspace_id, locked.asset_id, m.id, m.number, l.leaf
    from unnest(${locked.map((row) => row.workspace_id)}::text[],
                ${locked.map((row) => row.asset_id)}::text[]) as locked (workspace_id, asset_id)
    left join lateral (
      select workspace_id, id, number from maintenances
      where workspace_id = locked.workspace_id and asset_id = locked.asset_id order by number desc limit 1
    ) as m on true
    left join lateral (
      select l.leaf from anchor_leaves l where ${sql.raw(isLeaf(leafKey('maintenance', 'm')))} limit 1
    ) as l on true`.execute(db);
  return new Map(
    rows.map((row) => [chainKey({ workspaceId: row.workspace_id, assetId: row.asset_id }), headOf(row)]),
  );
}

export function chainKey({ workspaceId, assetId }: AssetKey): string {
  return `${workspaceId} ${assetId}`;
}

interface HeadRow {
  workspace_id: string;
  asset_id: string;
  /** Of the newest entry; all null if there is none. */
  id: string | null;
  number: number | null;
  leaf: Buffer | null;
}

function headOf({ id, number, leaf }: HeadRow): ChainHead {
  if (number === null) return { number: 0, leaf: firstLeaf };
  if (leaf === null) throw new Error(`the maintenance entry ${id} has no leaf that another could follow`);
  return { number, leaf };
}

/** Where entries are in the chains of their assets, in the given order; null for one that does not exist. */
export async function findEntryPlaces(
  db: Db,
  entries: { workspaceId: string; maintenanceId: string }[],
): Promise<(FoundPlace | null)[]> {
  const { rows } = await sql<{ asset_id: string | null; number: number; previous: string | null }>`
    select m.asset_id, m.number, p.id as previous
    from unnest(${entries.map(({ workspaceId }) => workspaceId)}::text[],
                ${entries.map(({ maintenanceId }) => maintenanceId)}::text[])
      with ordinality as wanted (workspace_id, id, place)
    left join lateral (
      select workspace_id, asset_id, number from maintenances
      where workspace_id = wanted.workspace_id and id = wanted.id limit 1
    ) as m on true
    left join lateral (
      select id from maintenances
      where workspace_id = m.workspace_id and asset_id = m.asset_id and number = m.number - 1 limit 1
    ) as p on true
    order by wanted.place`.execute(db);
  return rows.map(({ asset_id, number, previous }) =>
    asset_id === null ? null : { assetId: asset_id, number, previousId: previous },
  );
}

export interface FoundPlace {
  assetId: string;
  number: number;
  /** The id of the entry before; null for the first. */
  previousId: string | null;
}
