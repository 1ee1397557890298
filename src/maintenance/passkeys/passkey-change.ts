/** Changes one passkey of a worker: both are locked, and the answer is the passkey as it is then. */
import type { Db } from '../../db/database.ts';
import { explainRefusedSeal } from '../../holdings/vaults/refused-seal.ts';
import { AppError } from '../../runtime/errors.ts';
import { lockWorker, type Passkey, type PasskeyWorker, readPasskeys } from './passkeys.store.ts';

export interface PasskeyKey {
  workspaceId: string;
  address: string;
  id: string;
}

export type Apply = (db: Db, worker: PasskeyWorker, passkey: Passkey) => Promise<void>;

export function changePasskey(
  db: Db,
  { workspaceId, address, id }: PasskeyKey,
  apply: Apply,
): Promise<Passkey> {
  return db
    .transaction()
    .execute(async (db) => {
      const worker = await lockWorker(db, workspaceId, { address });
      const passkey = await findPasskey(db, worker, { workspaceId, id, lock: true });
      await apply(db, worker, passkey);
      return findPasskey(db, worker, { workspaceId, id });
    })
    .catch(explainRefusedSeal);
}

export async function findPasskey(
  db: Db,
  worker: PasskeyWorker,
  { workspaceId, ...which }: { workspaceId: string; id: string; lock?: boolean },
): Promise<Passkey> {
  const [passkey] = await readPasskeys(db, { workspaceId, workerId: worker.id }, which);
  if (passkey) return passkey;
  throw new AppError('resource_not_found', `The worker ${worker.address} has no passkey ${which.id}.`);
}

export interface PasskeyChange {
  state?: Passkey['state'];
  number?: number;
  hash?: Buffer;
  made?: string;
  token_hash?: Buffer;
  token_expires_at?: Date;
}

export async function setPasskey(
  db: Db,
  workspaceId: string,
  { id, change }: { id: string; change: PasskeyChange },
): Promise<void> {
  await db
    .updateTable('worker_passkeys')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export function isAlready({ id, state }: Passkey): AppError {
  return new AppError('conflict', `The passkey ${id} is ${state}.`);
}
