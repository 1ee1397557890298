/** Requests to sign in SQL: one for each entry, worker and role, found by the hash of its token. */
import { createHash } from 'node:crypto';
import type { Db } from '../../db/database.ts';
import type { SignoffFields } from '../../proof/signoff/signoff-document.ts';
import type { StatedActor } from '../signing/passkey-document.ts';
import type { SignoffRole } from '../signing/signoff-rules.ts';

/** What is signed beside the time, which is that of the signing. */
export type RequestedFields = Omit<SignoffFields, 'signedAt'>;

export interface SignRequest {
  workspaceId: string;
  id: string;
  assetId: string;
  maintenanceId: string;
  workerId: string;
  workerAddress: string;
  role: SignoffRole;
  fields: RequestedFields;
  requestedBy: StatedActor;
  createdAt: Date;
  expiresAt: Date;
  withdrawnAt: Date | null;
}

/** Replaces an earlier request for the same. */
export async function putRequest(
  db: Db,
  token: string,
  { workspaceId, maintenanceId, workerId, role, ...request }: Omit<SignRequest, 'withdrawnAt'>,
): Promise<void> {
  const row = {
    id: request.id,
    token_hash: hashOf(token),
    asset_id: request.assetId,
    worker_address: request.workerAddress,
    fields: { ...request.fields },
    requested_by: { ...request.requestedBy },
    expires_at: request.expiresAt,
    created_at: request.createdAt,
    withdrawn_at: null,
  };
  await db
    .insertInto('sign_requests')
    .values({ workspace_id: workspaceId, maintenance_id: maintenanceId, worker_id: workerId, role, ...row })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'maintenance_id', 'worker_id', 'role']).doUpdateSet({
        ...row,
        fields: JSON.stringify(request.fields),
        requested_by: JSON.stringify(request.requestedBy),
      }),
    )
    .execute();
}

/** `lock`: until the transaction ends, so that it is neither replaced nor withdrawn before. */
export async function findRequest(db: Db, token: string, { lock = false } = {}): Promise<SignRequest | null> {
  let select = db.selectFrom('sign_requests').selectAll().where('token_hash', '=', hashOf(token));
  if (lock) select = select.forUpdate();
  const row = await select.executeTakeFirst();
  if (!row) return null;
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    assetId: row.asset_id,
    maintenanceId: row.maintenance_id,
    workerId: row.worker_id,
    workerAddress: row.worker_address,
    role: row.role,
    fields: row.fields as unknown as RequestedFields,
    requestedBy: row.requested_by as StatedActor,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    withdrawnAt: row.withdrawn_at,
  };
}

/** Null if there is none; `isNew`: it was not withdrawn before. */
export async function withdrawRequest(
  db: Db,
  { workspaceId, id }: Pick<SignRequest, 'workspaceId' | 'id'>,
): Promise<{ maintenanceId: string; isNew: boolean } | null> {
  const row = await db
    .selectFrom('sign_requests')
    .select(['maintenance_id', 'withdrawn_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return null;
  await db
    .updateTable('sign_requests')
    .set({ withdrawn_at: new Date() })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('withdrawn_at', 'is', null)
    .execute();
  return { maintenanceId: row.maintenance_id, isNew: row.withdrawn_at === null };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
