/**
 * Links by which a worker signs the registration of another passkey, on the device with one that they have. Such a link shows
 * what is signed; without that passkey it does nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { auditWrite } from '../../access/audit/audit.ts';
import { findUser } from '../../access/people/members.ts';
import { findWorkspace } from '../../access/workspaces/workspaces.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { RegistrationMessage } from '../../proof/signoff/passkey-document.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { changePasskey, isAlready, type PasskeyKey, setPasskey } from './passkey-change.ts';
import { codeOf } from './passkey-code.ts';
import { passkeyHost } from './passkey-host.ts';
import type { GivenAssertion, PasskeyRequest } from './passkey-signing.ts';
import { lockWorker, type Passkey } from './passkeys.store.ts';
import type { Registrations } from './registrations.ts';

export interface MadeRegistrationLink {
  token: string;
  link: string;
  expiresAt: Date;
}

export interface OpenRegistration {
  workspaceName: string;
  workerName: string;
  /** The name of the second person. */
  confirmedBy: string;
  /** The one that the other device shows. */
  code: string;
  message: RegistrationMessage;
  passkey: Omit<PasskeyRequest, 'challenge'>;
  expiresAt: Date;
}

export interface RegistrationLinks {
  /** Replaces an earlier one for the same passkey. */
  make(caller: Caller, key: Omit<PasskeyKey, 'workspaceId'>): Promise<MadeRegistrationLink>;
  open(token: string): Promise<OpenRegistration>;
  sign(token: string, assertion: GivenAssertion, requestId: string): Promise<Passkey>;
}

export interface RegistrationLinksDeps {
  db: Db;
  registrations: Registrations;
  publicUrl(): string;
}

/** Tells these links from invitations and from those to sign work by, which have the same page. */
export const registrationToken = 'reg_';
const daysValid = 7;

export function createRegistrationLinks({
  db,
  registrations,
  publicUrl,
}: RegistrationLinksDeps): RegistrationLinks {
  async function find(token: string): Promise<PasskeyKey & { credentialId: Buffer; expiresAt: Date }> {
    const row = await db
      .selectFrom('worker_passkeys')
      .select(['workspace_id', 'worker_id', 'id', 'credential_id', 'token_expires_at'])
      .where('token_hash', '=', hashOf(token))
      .executeTakeFirst();
    if (!row?.token_expires_at) {
      throw new AppError(
        'resource_not_found',
        'There is no such link, or a newer one has replaced it. Ask for a new one.',
      );
    }
    if (row.token_expires_at.getTime() <= Date.now()) {
      throw new AppError('conflict', 'This link has expired. Ask for a new one.');
    }
    const workspaceId = row.workspace_id;
    const { address } = await lockWorker(db, workspaceId, { id: row.worker_id }, { lock: false });
    return {
      workspaceId,
      address,
      id: row.id,
      credentialId: row.credential_id,
      expiresAt: row.token_expires_at,
    };
  }

  return {
    async make(caller, which) {
      const { origin } = passkeyHost(publicUrl());
      const token = registrationToken + randomBytes(24).toString('base64url');
      const expiresAt = new Date(Date.now() + daysValid * 24 * 60 * 60 * 1000);
      const { workspaceId } = caller;
      await changePasskey(db, { workspaceId, ...which }, async (db, worker, passkey) => {
        if (passkey.state !== 'unsigned') throw isAlready(passkey);
        if (worker.keyHolder !== 'passkey') {
          throw new AppError(
            'conflict',
            `The worker ${worker.address} has no other passkey: GET …/sign gives what they sign with their own key.`,
          );
        }
        const change = { token_hash: hashOf(token), token_expires_at: expiresAt };
        await setPasskey(db, workspaceId, { id: passkey.id, change });
        const details = { passkeyId: passkey.id };
        await insertAll(db, [auditWrite(caller, { action: 'passkey.link', targetId: worker.id, details })]);
      });
      return { token, link: `${origin}/sign/${token}`, expiresAt };
    },

    async open(token) {
      const { credentialId, expiresAt, ...key } = await find(token);
      const { typedData, passkey } = await registrations.prepare(key);
      if (!passkey) throw new Error('a link is for a worker with a passkey');
      const { challenge: _, ...options } = passkey;
      const { message } = typedData;
      const [workspace, confirmer] = await Promise.all([
        findWorkspace(db, key.workspaceId),
        findUser(db, message.confirmedBy),
      ]);
      return {
        ...{ workspaceName: workspace.name, workerName: message.workerName, confirmedBy: confirmer.name },
        ...{ code: codeOf(credentialId), message, passkey: options, expiresAt },
      };
    },

    async sign(token, assertion, requestId) {
      const { workspaceId, address, id } = await find(token);
      // Nobody is signed in: in the audit log, the passkey acts.
      const caller: Caller = { workspaceId, actor: { kind: 'system', id }, scopes: [], requestId };
      return registrations.sign(caller, { address, id }, { assertion });
    },
  };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
