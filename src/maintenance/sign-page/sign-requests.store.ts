/** Requests to sign in SQL: one for each entry, worker and role, found by the hash of its token. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { StatedActor } from '../../proof/signoff/passkey-document.ts';
import type { SignoffRole } from '../signing/signoff-rules.ts';
import type { AskedMessage } from '../signoffs/asked.ts';

export interface SignRequest {
  workspaceId: string;
  id: string;
  assetId: string;
  maintenanceId: string;
  workerId: string;
  workerAddress: string;
  role: SignoffRole;
  message: AskedMessage;
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
    fields: { ...request.message },
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
        fields: JSON.stringify(request.message),
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
    message: row.fields as unknown as AskedMessage,
    requestedBy: row.requested_by as StatedActor,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    withdrawnAt: row.withdrawn_at,
  };
}

/** A request by which something can still be signed. */
export interface OpenLink extends Pick<SignRequest, 'id' | 'workerId' | 'workerAddress' | 'role'> {
  workerName: string;
  /** Null if it was a program. */
  requestedBy: string | null;
  createdAt: Date;
  expiresAt: Date;
}

export interface LinkPage {
  after: Pick<OpenLink, 'workerId' | 'role'> | null;
  limit: number;
}

/** Of an entry, by worker and role. */
export async function listOpenLinks(
  db: Db,
  { workspaceId, maintenanceId }: Pick<SignRequest, 'workspaceId' | 'maintenanceId'>,
  { after, limit }: LinkPage,
): Promise<OpenLink[]> {
  const { rows } = await sql<OpenLink>`
    select r.id, r.worker_id as "workerId", r.worker_address as "workerAddress", w.name as "workerName", r.role,
      u.name as "requestedBy", r.created_at as "createdAt", r.expires_at as "expiresAt"
    from sign_requests r
    join workers w on w.workspace_id = r.workspace_id and w.id = r.worker_id
    left join users u on r.requested_by ->> 'kind' = 'user' and u.id = r.requested_by ->> 'id'
    where r.workspace_id = ${workspaceId} and r.maintenance_id = ${maintenanceId}
      and r.withdrawn_at is null and r.expires_at > now()
      and not exists (
        select 1 from signoffs s where s.workspace_id = r.workspace_id and s.maintenance_id = r.maintenance_id
          and s.role = r.role and s.worker_id = r.worker_id
      )
      and ${after ? sql`(r.worker_id, r.role) > (${after.workerId}, ${after.role})` : sql`true`}
    order by r.worker_id, r.role limit ${limit}`.execute(db);
  return rows;
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
