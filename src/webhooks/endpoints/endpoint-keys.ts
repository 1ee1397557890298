/** Shows and rotates what signs the deliveries of an endpoint: its secret and its key pair. */
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { EndpointSecrets, PublicKey, RotatedKeyPair, RotatedSecret } from './endpoint-secrets.ts';
import { findEndpoint } from './endpoints.store.ts';

export interface EndpointKeys {
  secret(caller: Caller, id: string): Promise<string>;
  /** The old secret also signs for one more day. `also`: rows to commit with it. */
  rotateSecret(caller: Caller, id: string, also: (rotated: RotatedSecret) => Write[]): Promise<RotatedSecret>;
  /** The old key also signs for one more day. `also`: rows to commit with it. */
  rotateKeyPair(caller: Caller, id: string, also: (rotated: RotatedKeyPair) => Write[]): Promise<void>;
  /** The keys that verify its deliveries, the current one first. */
  publicKeys(workspaceId: string, id: string): Promise<PublicKey[]>;
}

export function createEndpointKeys({ db, secrets }: { db: Db; secrets: EndpointSecrets }): EndpointKeys {
  return {
    async secret(caller, id) {
      const { workspaceId } = caller;
      await findEndpoint(db, { workspaceId, id });
      const secret = await secrets.open({ workspaceId, id });
      await insertAll(db, [auditWrite(caller, { action: 'webhook_endpoint.read_secret', targetId: id })]);
      return secret;
    },

    async rotateSecret(caller, id, also) {
      const { workspaceId } = caller;
      return db.transaction().execute(async (db) => {
        const row = await findEndpoint(db, { workspaceId, id, lock: true });
        const rotated = await secrets.rotate(db, { workspaceId, id });
        await db
          .updateTable('webhook_endpoints')
          .set({ revision: row.revision + 1, updated_at: new Date() })
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', id)
          .execute();
        await insertAll(db, [
          auditWrite(caller, { action: 'webhook_endpoint.rotate_secret', targetId: id }),
          ...also(rotated),
        ]);
        return rotated;
      });
    },

    async rotateKeyPair(caller, id, also) {
      const { workspaceId } = caller;
      await db.transaction().execute(async (db) => {
        const row = await findEndpoint(db, { workspaceId, id, lock: true });
        if (!row.ed25519 || row.public_key === null) throw signsWithNoKey(id);
        const rotated = await secrets.rotateKeyPair(db, { workspaceId, id }, row.public_key);
        await db
          .updateTable('webhook_endpoints')
          .set({ public_key: rotated.publicKey, revision: row.revision + 1, updated_at: new Date() })
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', id)
          .execute();
        const details = { publicKey: rotated.publicKey };
        await insertAll(db, [
          auditWrite(caller, { action: 'webhook_endpoint.rotate_key_pair', targetId: id, details }),
          ...also(rotated),
        ]);
      });
    },

    async publicKeys(workspaceId, id) {
      const row = await findEndpoint(db, { workspaceId, id });
      if (!row.ed25519 || row.public_key === null) return [];
      const previous = await secrets.previousKeys({ workspaceId, id });
      return [{ publicKey: row.public_key, until: null }, ...previous];
    },
  };
}

function signsWithNoKey(id: string): AppError {
  return new AppError('conflict', `The endpoint ${id} has no key pair. Set ed25519 to true first.`);
}
