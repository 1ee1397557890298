/** An entry as needed for signing: earlier sign-offs and their workers, locked while another sign-off is added. */

import { sql } from 'kysely';
import { isLeaf, leafKey } from '../../anchoring/anchored.ts';
import type { Db } from '../../db/database.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import { type MaintenanceKey, noMaintenance } from '../entries/maintenances.store.ts';
import { type Licence, licenceKey } from '../signing/licence.ts';
import { type MaintenanceEntry, requirementOf } from '../signing/maintenance-entry.ts';
import type { Signing } from '../signing/signoff-rules.ts';
import { identitiesOf } from '../workers/identities.store.ts';

export interface SignableEntry extends Pick<Signing, 'requires' | 'performers'> {
  earlier: (SignoffDocument & { identities: string[] })[];
  /** ISO 8601 in UTC: when the entry was recorded. */
  recordedAt: string;
  hash: Buffer;
  leaf: Buffer;
  supersededBy: string | null;
}

interface EntryRow {
  entry: string;
  hash: Buffer;
  leaf: Buffer;
  superseded_by: string | null;
}

/** Until the transaction ends, the worker signs as they do now: no passkey begins to count, and no key of theirs is destroyed. */
export async function holdWorker(
  db: Db,
  { workspaceId, workerId }: { workspaceId: string; workerId: string },
): Promise<void> {
  await sql`select 1 from workers where workspace_id = ${workspaceId} and id = ${workerId} for share`.execute(
    db,
  );
}

/** `lock`: locks the entry against other sign-offs and corrections until the transaction ends. */
export async function lockEntry(
  db: Db,
  { workspaceId, assetId, maintenanceId }: MaintenanceKey,
  { lock }: { lock: boolean },
): Promise<SignableEntry> {
  if (lock) {
    await sql`
      select 1 from maintenances where workspace_id = ${workspaceId} and id = ${maintenanceId}
      for no key update`.execute(db);
  }
  // A separate statement, which sees what was committed during the wait.
  const { rows } = await sql<EntryRow>`
    select m.entry, m.hash, l.leaf, correction.id as superseded_by
    from maintenances m
    join anchor_leaves l on ${sql.raw(isLeaf(leafKey('maintenance', 'm')))}
    left join maintenances correction on correction.workspace_id = m.workspace_id and correction.supersedes = m.id
    where m.workspace_id = ${workspaceId} and m.id = ${maintenanceId} and m.asset_id = ${assetId}`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw noMaintenance(maintenanceId);
  const signed = await db
    .selectFrom('signoffs')
    .select(['worker_id', 'document'])
    .where('workspace_id', '=', workspaceId)
    .where('maintenance_id', '=', maintenanceId)
    .orderBy('number')
    .execute();
  const performing = await readPerforming(db, { workspaceId, maintenanceId });
  const entry = JSON.parse(row.entry) as MaintenanceEntry;
  const workerIds = [...new Set([...signed, ...performing].map(({ worker_id }) => worker_id))];
  const known = await identitiesOf(db, { workspaceId, workerIds }, new Date(entry.recordedAt));
  const identified = (workerId: string) => known.get(workerId) ?? { identities: [], licences: [] };
  return {
    requires: requirementOf(entry),
    recordedAt: entry.recordedAt,
    earlier: signed.map(({ worker_id, document }) => ({
      ...(JSON.parse(document) as SignoffDocument),
      identities: identified(worker_id).identities,
    })),
    performers: performing.map(({ worker_id, address, licence, inherited }) => {
      const { identities, licences } = identified(worker_id);
      return {
        address,
        identities,
        licences: [...licences, ...(licence ? [licenceKey(licence)] : [])],
        inherited,
      };
    }),
    hash: row.hash,
    leaf: row.leaf,
    supersededBy: row.superseded_by,
  };
}

interface PerformingRow {
  worker_id: string;
  address: string;
  /** Used to sign. */
  licence: Licence | null;
  inherited: boolean;
}

/** Who did the work: by the entry, by what was signed, and by the entries that it corrects. */
async function readPerforming(
  db: Db,
  { workspaceId, maintenanceId }: Pick<MaintenanceKey, 'workspaceId' | 'maintenanceId'>,
): Promise<PerformingRow[]> {
  const { rows } = await sql<PerformingRow>`
    with recursive corrected as (
      select id, supersedes, worker_id, worker_address, false as inherited from maintenances
      where workspace_id = ${workspaceId} and id = ${maintenanceId}
      union all
      select m.id, m.supersedes, m.worker_id, m.worker_address, true
      from corrected join maintenances m on m.workspace_id = ${workspaceId} and m.id = corrected.supersedes
    )
    select worker_id, worker_address as address, null::jsonb as licence, inherited from corrected
    union
    select s.worker_id, s.document::jsonb ->> 'workerAddress', nullif(s.document::jsonb -> 'licence', 'null'), c.inherited
    from corrected c
    join signoffs s on s.workspace_id = ${workspaceId} and s.maintenance_id = c.id and s.role = 'performed'`.execute(
    db,
  );
  return rows;
}
