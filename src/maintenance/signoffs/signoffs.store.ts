/** An entry as needed for signing: earlier sign-offs and their workers, locked while another sign-off is added. */

import { sql } from 'kysely';
import { isLeaf, leafKey } from '../../anchoring/anchored.ts';
import type { Db } from '../../db/database.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import { type MaintenanceKey, noMaintenance } from '../entries/maintenances.store.ts';
import type { Licence } from '../signing/licence.ts';
import { type MaintenanceEntry, scopeOf } from '../signing/maintenance-entry.ts';
import type { Signing } from '../signing/signoff-rules.ts';

export interface SignableEntry extends Pick<Signing, 'scope' | 'performers'> {
  earlier: SignoffDocument[];
  /** ISO 8601 in UTC: when the entry was recorded. */
  recordedAt: string;
  hash: Buffer;
  leaf: Buffer;
  supersededBy: string | null;
}

interface EntryRow {
  entry: string;
  worker_id: string;
  hash: Buffer;
  leaf: Buffer;
  superseded_by: string | null;
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
    select m.entry, m.worker_id, m.hash, l.leaf, correction.id as superseded_by
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
  const earlier = signed.map(({ worker_id, document }) => ({
    ...(JSON.parse(document) as SignoffDocument),
    workerId: worker_id,
  }));
  const performed = earlier.filter(({ role }) => role === 'performed');
  const held = await licencesOf(db, workspaceId, [
    ...new Set([row.worker_id, ...performed.map(({ workerId }) => workerId)]),
  ]);
  const entry = JSON.parse(row.entry) as MaintenanceEntry;
  return {
    scope: scopeOf(entry),
    recordedAt: entry.recordedAt,
    earlier,
    // Includes the licence numbers used to sign, in case the worker has lost the licence since.
    performers: [
      ...held,
      ...performed.map(({ workerAddress, licence }) => ({
        address: workerAddress,
        licenceNumbers: licence ? [licence.number] : [],
      })),
    ],
    hash: row.hash,
    leaf: row.leaf,
    supersededBy: row.superseded_by,
  };
}

async function licencesOf(
  db: Db,
  workspaceId: string,
  workerIds: string[],
): Promise<SignableEntry['performers']> {
  const rows = await db
    .selectFrom('workers')
    .select(['address', 'licences'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', workerIds)
    .execute();
  return rows.map(({ address, licences }) => ({
    address,
    licenceNumbers: (licences as Licence[]).map(({ number }) => number),
  }));
}
