/** Links by which workers register a passkey on their own device: for one registration, and for some days. */
import { createHash, randomBytes } from 'node:crypto';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { type Inviter, requireInviter } from './passkey-confirmer.ts';
import { lockWorker, type PasskeyWorker, readPasskeys } from './passkeys.store.ts';

export interface MadeInvitation {
  id: string;
  token: string;
  expiresAt: Date;
}

export interface OpenInvitation {
  workspaceId: string;
  id: string;
  worker: PasskeyWorker;
  challenge: Buffer;
  inviter: Inviter;
  expiresAt: Date;
}

const daysValid = 7;

/** Replaces earlier links of the worker that were not used: the newest is the only one that works. */
export function invite(db: Db, caller: Caller, address: string): Promise<MadeInvitation> {
  return db.transaction().execute(async (db) => {
    const { workspaceId } = caller;
    const worker = await lockWorker(db, workspaceId, { address });
    const inviter = await requireInviter(db, caller);
    await requireSigner(db, worker, workspaceId);
    const token = randomBytes(24).toString('base64url');
    const id = newId('win');
    const now = new Date();
    const expiresAt = new Date(now.getTime() + daysValid * 24 * 60 * 60 * 1000);
    await db
      .updateTable('worker_invitations')
      .set({ expires_at: now })
      .where('workspace_id', '=', workspaceId)
      .where('worker_id', '=', worker.id)
      .where('used_at', 'is', null)
      .where('expires_at', '>', now)
      .execute();
    await insertAll(db, [
      {
        table: 'worker_invitations',
        row: {
          workspace_id: workspaceId,
          id,
          worker_id: worker.id,
          token_hash: hashOf(token),
          challenge: randomBytes(32),
          invited_by: { ...inviter },
          expires_at: expiresAt,
          used_at: null,
          created_at: now,
        },
      },
      auditWrite(caller, { action: 'worker.invite', targetId: worker.id, details: { invitationId: id } }),
    ]);
    return { id, token, expiresAt };
  });
}

/** Throws if nothing is left that could sign the registration: the key is gone, and all passkeys are revoked. */
async function requireSigner(
  db: Db,
  { id, address, keyHolder }: PasskeyWorker,
  workspaceId: string,
): Promise<void> {
  if (keyHolder !== 'passkey') return;
  const passkeys = await readPasskeys(db, { workspaceId, workerId: id });
  if (passkeys.some(({ state }) => state === 'active')) return;
  throw new AppError(
    'passkey_revoked',
    `The worker ${address} has no passkey any more, and nothing else may sign for this address: create a new worker for them.`,
  );
}

/** Throws for a link that is unknown, used or expired. `lock`: until the transaction ends. */
export async function openInvitation(db: Db, token: string, { lock = false } = {}): Promise<OpenInvitation> {
  let select = db
    .selectFrom('worker_invitations')
    .select(['workspace_id', 'id', 'worker_id', 'challenge', 'invited_by', 'expires_at', 'used_at'])
    .where('token_hash', '=', hashOf(token));
  if (lock) select = select.forUpdate();
  const row = await select.executeTakeFirst();
  if (!row) throw new AppError('resource_not_found', 'There is no such invitation. Check the link.');
  if (row.used_at !== null || row.expires_at.getTime() <= Date.now()) {
    throw new AppError(
      'conflict',
      row.used_at === null
        ? 'This invitation has expired or was replaced by a newer one. Ask for a new link.'
        : 'This invitation was used already. Ask for a new link.',
    );
  }
  const worker = await lockWorker(db, row.workspace_id, { id: row.worker_id }, { lock: false });
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    worker,
    challenge: row.challenge,
    inviter: row.invited_by as unknown as Inviter,
    expiresAt: row.expires_at,
  };
}

export async function useInvitation(
  db: Db,
  { workspaceId, id }: Pick<OpenInvitation, 'workspaceId' | 'id'>,
): Promise<void> {
  await db
    .updateTable('worker_invitations')
    .set({ used_at: new Date() })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
