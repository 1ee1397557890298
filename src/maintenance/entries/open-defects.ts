/**
 * Open defects: entries of type `defect`, until an entry that names them in its `data.closes` is certified. A superseded
 * entry counts neither as a defect nor as closing one.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';
import { mostPageBytes } from '../../runtime/page-budget.ts';
import type { AssetKey } from '../assets/assets.store.ts';
import { deferredUntil, isDefect } from '../signing/maintenance-entry.ts';
import { plainType } from './maintenances.store.ts';

export interface OpenDefect {
  maintenanceId: string;
  summary: string;
  performedAt: Date;
  recordedAt: Date;
  /** Whether the repair was deferred. */
  deferred: boolean;
  /** By when it must be repaired: `data.deferred.until`, a day or a time. */
  deferredUntil: Date | null;
  overdue: boolean;
  /** The newest entry that will close the defect when it is certified. */
  repairedBy: string | null;
}

/** More than anyone works through; with long summaries, as many as fit into a response. The oldest are returned. */
const mostDefects = 1_000;

export async function findOpenDefects(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  at: Date,
): Promise<OpenDefect[]> {
  // Closing entries have an index of their own and are read once: an asset may have a hundred thousand entries.
  const { rows } = await sql<DefectRow>`
    with closing as materialized (
      select named.value #>> '{}' as id, max(c.id) as by_id, bool_or(exists (
        select 1 from signoffs s
        where s.workspace_id = ${workspaceId} and s.maintenance_id = c.id and s.role = 'certified'
      )) as certified
      from maintenances c cross join lateral jsonb_path_query(c.entry::jsonb, 'lax $.data.closes[*]') as named (value)
      where c.workspace_id = ${workspaceId} and c.asset_id = ${assetId} and c.entry like '%"closes":%'
        and ${standing('c.id', workspaceId)}
      group by 1
    )
    select id, summary, performed_at, created_at, deferred, by_id from (
      select d.*, closing.by_id,
        sum(octet_length(d.summary) + coalesce(octet_length(d.deferred::text), 0)) over (order by d.performed_at, d.id) as bytes
      from (
        select m.id, m.summary, m.performed_at, m.created_at, m.entry::jsonb #> '{data,deferred}' as deferred
        from maintenances m
        where m.workspace_id = ${workspaceId} and m.asset_id = ${assetId} and ${plainType} = 'defect'
      ) as d
      left join closing on closing.id = d.id
      where ${standing('d.id', workspaceId)} and closing.certified is not true
      order by d.performed_at, d.id limit ${mostDefects}
    ) as oldest
    where bytes <= ${mostPageBytes}
    order by performed_at, id`.execute(db);
  return rows.map((row) => {
    const until = deferredUntil({ deferred: row.deferred });
    return {
      maintenanceId: row.id,
      summary: row.summary,
      performedAt: row.performed_at,
      recordedAt: row.created_at,
      deferred: (row.deferred ?? false) !== false,
      deferredUntil: until,
      overdue: until !== null && until < at,
      repairedBy: row.by_id,
    };
  });
}

/** Throws unless each id is a defect of the asset that is not superseded. */
export async function requireClosable(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string; type: string; superseded_by: string | null }>`
    select m.id, m.type, s.id as superseded_by
    from unnest(${ids}::text[]) as wanted (id)
    cross join lateral (
      select id, type from maintenances
      where workspace_id = ${workspaceId} and id = wanted.id and asset_id = ${assetId} limit 1
    ) as m
    left join maintenances s on s.workspace_id = ${workspaceId} and s.supersedes = m.id`.execute(db);
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const id of ids) {
    const entry = found.get(id);
    if (!entry)
      throw new AppError(
        'resource_not_found',
        `data.closes: there is no maintenance entry ${id} of this asset.`,
      );
    if (!isDefect(entry)) {
      throw new AppError(
        'conflict',
        `data.closes: the maintenance entry ${id} is not a defect; its type is "${entry.type}".`,
      );
    }
    if (entry.superseded_by !== null) {
      throw new AppError(
        'conflict',
        `data.closes: the maintenance entry ${id} is superseded by ${entry.superseded_by}: close that one instead.`,
      );
    }
  }
}

interface DefectRow {
  id: string;
  summary: string;
  performed_at: Date;
  created_at: Date;
  deferred: unknown;
  by_id: string | null;
}

/** A condition: the entry is not superseded. */
function standing(id: string, workspaceId: string) {
  return sql`not exists (
    select 1 from maintenances s where s.workspace_id = ${workspaceId} and s.supersedes = ${sql.ref(id)}
  )`;
}
