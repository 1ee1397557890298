/**
 * Releases that were withdrawn: a certified entry that was corrected releases nothing any more, and its correction nothing until
 * it is certified, too.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import type { AssetKey } from '../assets/assets.store.ts';
import type { Correction } from './entry-additions.ts';

export interface WithdrawnRelease {
  maintenanceId: string;
  summary: string;
  /** The newest correction, which is to be certified. */
  correctedBy: string;
}

const mostWithdrawn = 100;

/** Those that no certified correction has taken the place of, the latest correction first. */
export async function findWithdrawnReleases(
  db: Db,
  { workspaceId, assetId }: AssetKey,
): Promise<WithdrawnRelease[]> {
  const isCertified = (id: string) => sql`exists (
    select 1 from signoffs s
    where s.workspace_id = ${workspaceId} and s.maintenance_id = ${sql.ref(id)} and s.role = 'certified'
  )`;
  const { rows } = await sql<{ id: string; summary: string; corrected_by: string }>`
    with recursive corrected as (
      select c.id as corrected_by, c.supersedes as id from maintenances c
      where c.workspace_id = ${workspaceId} and c.asset_id = ${assetId} and c.supersedes is not null
        and not ${isCertified('c.id')}
        and not exists (
          select 1 from maintenances n where n.workspace_id = c.workspace_id and n.supersedes = c.id
        )
      union all
      select e.corrected_by, m.supersedes from corrected e
      join maintenances m on m.workspace_id = ${workspaceId} and m.id = e.id
      where m.supersedes is not null and not ${isCertified('e.id')}
    )
    select m.id, left(m.summary, ${mostOfSummary}) as summary, e.corrected_by from corrected e
    join maintenances m on m.workspace_id = ${workspaceId} and m.id = e.id
    where ${isCertified('e.id')}
    order by e.corrected_by desc limit ${mostWithdrawn}`.execute(db);
  return rows.map(({ id, summary, corrected_by }) => ({
    maintenanceId: id,
    summary,
    correctedBy: corrected_by,
  }));
}

/** The whole one is in the entry. */
const mostOfSummary = 1_000;

/** Tells of those among the corrected entries that were certified: `maintenance.release.withdrawn`. */
export async function tellWithdrawn(db: Db, corrections: Correction[]): Promise<void> {
  const { rows } = await sql<{ workspace_id: string; asset_id: string; id: string; corrected_by: string }>`
    select m.workspace_id, m.asset_id, m.id, c.new_id as corrected_by
    from unnest(${corrections.map(({ workspaceId }) => workspaceId)}::text[],
                ${corrections.map(({ supersedes }) => supersedes)}::text[],
                ${corrections.map(({ maintenanceId }) => maintenanceId)}::text[]) as c (workspace_id, old_id, new_id)
    join maintenances m on m.workspace_id = c.workspace_id and m.id = c.old_id
    where exists (
      select 1 from signoffs s
      where s.workspace_id = m.workspace_id and s.maintenance_id = m.id and s.role = 'certified'
    )`.execute(db);
  const at = new Date();
  await insertAll(
    db,
    rows.map(({ workspace_id: workspaceId, asset_id, id: maintenance_id, corrected_by }) =>
      eventWrite({
        workspaceId,
        type: 'maintenance.release.withdrawn',
        at,
        data: { asset_id, maintenance_id, corrected_by, withdrawn_at: at.toISOString() },
      }),
    ),
  );
}
