/**
 * Open deferred defects: entries of type `defect` whose data have `deferred`, until an entry recorded later names them in
 * its `data.closes`. An entry that was superseded counts for nothing, neither as a defect nor as what closes one.
 */
import { sql } from 'kysely';
import { isCalendarDay, isDateTime } from '../date-time.ts';
import type { Db } from '../db/database.ts';
import type { AssetKey } from './assets.store.ts';

export interface OpenDefect {
  maintenanceId: string;
  summary: string;
  performedAt: Date;
  recordedAt: Date;
  /** By when it must be repaired: `data.deferred.until`, a day or a time. */
  deferredUntil: Date | null;
  overdue: boolean;
}

/** More than anybody works through; the oldest are given. */
const mostDefects = 1_000;

export async function findOpenDefects(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  at: Date,
): Promise<OpenDefect[]> {
  // What closes something is found by an index of its own, and read once: an asset may have a hundred thousand entries.
  const { rows } = await sql<DefectRow>`
    with closed as materialized (
      select c.id as by_id, named.value #>> '{}' as id
      from maintenances c cross join lateral jsonb_path_query(c.entry::jsonb, 'lax $.data.closes[*]') as named (value)
      where c.workspace_id = ${workspaceId} and c.asset_id = ${assetId} and c.entry like '%"closes":%'
        and ${standing('c.id', workspaceId)}
    )
    select d.id, d.summary, d.performed_at, d.created_at, d.deferred
    from (
      select m.id, m.summary, m.performed_at, m.created_at, m.entry::jsonb #> '{data,deferred}' as deferred
      from maintenances m
      where m.workspace_id = ${workspaceId} and m.asset_id = ${assetId} and m.type = 'defect'
    ) as d
    where d.deferred not in ('null', 'false') and ${standing('d.id', workspaceId)}
      and not exists (select 1 from closed where closed.id = d.id and closed.by_id > d.id)
    order by d.performed_at, d.id limit ${mostDefects}`.execute(db);
  return rows.map((row) => {
    const deferredUntil = untilOf(row.deferred);
    return {
      maintenanceId: row.id,
      summary: row.summary,
      performedAt: row.performed_at,
      recordedAt: row.created_at,
      deferredUntil,
      overdue: deferredUntil !== null && deferredUntil < at,
    };
  });
}

interface DefectRow {
  id: string;
  summary: string;
  performed_at: Date;
  created_at: Date;
  deferred: unknown;
}

/** That the entry was not superseded. */
function standing(id: string, workspaceId: string) {
  return sql`not exists (
    select 1 from maintenances s where s.workspace_id = ${workspaceId} and s.supersedes = ${sql.ref(id)}
  )`;
}

/** A day counts to its end. */
function untilOf(deferred: unknown): Date | null {
  const until = (deferred as { until?: unknown } | null)?.until;
  if (typeof until !== 'string') return null;
  if (isDateTime(until)) return new Date(until);
  return isCalendarDay(until) ? new Date(`${until}T23:59:59.999Z`) : null;
}
