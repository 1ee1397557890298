/**
 * Passkeys of workers: registered on an invitation, confirmed by a second person, revoked, never edited. The first one that
 * is confirmed destroys the key that the service held: from then on only passkeys sign for the worker.
 */
import { createHash } from 'node:crypto';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { auditWrite } from '../../access/audit/audit.ts';
import { findUser } from '../../access/people/members.ts';
import { findWorkspace } from '../../access/workspaces/workspaces.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import { insertAll } from '../../db/writes.ts';
import { explainRefusedSeal } from '../../holdings/vaults/refused-seal.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import {
  type PasskeyRegistration,
  registrationFormat,
  revocationFormat,
  type StatedActor,
} from '../signing/passkey-document.ts';
import { algorithms, spkiOf } from './cose-key.ts';
import { requireSecondPerson } from './passkey-confirmer.ts';
import { passkeyHost } from './passkey-host.ts';
import { invite, type MadeInvitation, openInvitation, useInvitation } from './passkey-invitations.ts';
import {
  addStatement,
  lockWorker,
  type Passkey,
  type PasskeyWorker,
  readPasskeys,
} from './passkeys.store.ts';

export interface PasskeysDeps {
  db: Db;
  keyring: Pick<Keyring, 'destroySigningKey'>;
  publicUrl(): string;
}

export interface Passkeys {
  invite(caller: Caller, address: string): Promise<MadeInvitation & { link: string }>;
  /** For the worker's device: what its browser needs to make a passkey. */
  options(token: string): Promise<RegistrationOffer>;
  /** The code is shown to the worker only, who tells it to the second person. */
  register(
    token: string,
    response: RegistrationResponseJSON,
    requestId: string,
  ): Promise<{ id: string; code: string }>;
  list(worker: WorkerKey, page: { after?: string | undefined; limit: number }): Promise<Passkey[]>;
  confirm(caller: Caller, key: PasskeyKey & { code: string }): Promise<Passkey>;
  refuse(caller: Caller, key: PasskeyKey): Promise<Passkey>;
  revoke(caller: Caller, key: PasskeyKey & { reason: string }): Promise<Passkey>;
}

export interface RegistrationOffer {
  worker: PasskeyWorker;
  workspaceName: string;
  /** The name of the person; null if it was a program. */
  invitedBy: string | null;
  expiresAt: Date;
  options: object;
}

export interface WorkerKey {
  workspaceId: string;
  address: string;
}

export interface PasskeyKey {
  address: string;
  id: string;
}

/** What is known before the confirmation; the rest of the document. */
type Made = Pick<PasskeyRegistration, 'attestation' | 'invitedBy' | 'registeredAt'>;

const mostPasskeys = 20;

/** Loaded when first used: 300 modules, which the start of the service does not need. */
const library = () => import('@simplewebauthn/server');

export function createPasskeys({ db, keyring, publicUrl }: PasskeysDeps): Passkeys {
  /** Changes one passkey of a worker; both are locked. */
  const change = (
    caller: Caller,
    { address, id }: PasskeyKey,
    apply: (db: Db, worker: PasskeyWorker, passkey: Passkey) => Promise<void>,
  ) =>
    db
      .transaction()
      .execute(async (db) => {
        const { workspaceId } = caller;
        const worker = await lockWorker(db, workspaceId, { address });
        const key = { workspaceId, workerId: worker.id };
        const [passkey] = await readPasskeys(db, key, { id, lock: true });
        if (!passkey) {
          throw new AppError('resource_not_found', `The worker ${worker.address} has no passkey ${id}.`);
        }
        await apply(db, worker, passkey);
        const [changed = passkey] = await readPasskeys(db, key, { id });
        return changed;
      })
      .catch(explainRefusedSeal);

  return {
    async invite(caller, address) {
      const { origin } = passkeyHost(publicUrl());
      const made = await invite(db, caller, address);
      return { ...made, link: `${origin}/sign/${made.token}` };
    },

    async options(token) {
      const { rpId } = passkeyHost(publicUrl());
      const { workspaceId, worker, challenge, expiresAt, ...invitation } = await openInvitation(db, token);
      const known = await readPasskeys(db, { workspaceId, workerId: worker.id });
      const { generateRegistrationOptions } = await library();
      const options = await generateRegistrationOptions({
        rpName: 'Holdfast',
        rpID: rpId,
        userID: new Uint8Array(createHash('sha256').update(`${workspaceId}/${worker.id}`).digest()),
        userName: worker.address,
        userDisplayName: worker.name,
        challenge: new Uint8Array(challenge),
        attestationType: 'direct',
        excludeCredentials: known
          .filter(({ state }) => state === 'active')
          .map(({ credentialId }) => ({ id: credentialId.toString('base64url') })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        supportedAlgorithmIDs: Object.values(algorithms),
      });
      const { name: workspaceName } = await findWorkspace(db, workspaceId);
      const { kind, id } = invitation.invitedBy;
      const invitedBy = kind === 'user' ? (await findUser(db, id)).name : null;
      return { worker, workspaceName, invitedBy, expiresAt, options };
    },

    async register(token, response, requestId) {
      const { rpId, origin } = passkeyHost(publicUrl());
      const { challenge } = await openInvitation(db, token);
      const { spki, credentialId, counter, attestation } = await readRegistration(response, {
        challenge,
        rpId,
        origin,
      });
      const id = newId('psk');
      const register = db.transaction().execute(async (db) => {
        const { workspaceId, worker, invitedBy, ...invitation } = await openInvitation(db, token, {
          lock: true,
        });
        const key = { workspaceId, workerId: worker.id };
        const open = (await readPasskeys(db, key)).filter(({ state }) => isKept(state));
        if (open.length >= mostPasskeys) {
          throw new AppError('conflict', `A worker can have ${mostPasskeys} passkeys. Revoke one first.`);
        }
        await useInvitation(db, { workspaceId, id: invitation.id });
        const made: Made = { attestation, invitedBy, registeredAt: new Date().toISOString() };
        await insertAll(db, [
          {
            table: 'worker_passkeys',
            row: {
              workspace_id: workspaceId,
              id,
              worker_id: worker.id,
              state: 'unconfirmed',
              credential_id: credentialId,
              public_key: spki,
              rp_id: rpId,
              counter,
              made: { ...made },
              number: null,
              hash: null,
              created_at: new Date(),
            },
          },
          auditWrite(
            { workspaceId, actor: { kind: 'system', id: invitation.id }, scopes: [], requestId },
            { action: 'passkey.register', targetId: worker.id, details: { passkeyId: id } },
          ),
        ]);
      });
      await register.catch((error) => {
        if (!violates(error, 'worker_passkeys_once')) throw error;
        throw new AppError('conflict', 'This passkey is registered already.', { cause: error });
      });
      return { id, code: codeOf(credentialId) };
    },

    async list({ workspaceId, address }, page) {
      const worker = await lockWorker(db, workspaceId, { address }, { lock: false });
      return readPasskeys(db, { workspaceId, workerId: worker.id }, page);
    },

    async confirm(caller, { code, ...key }) {
      return change(caller, key, async (db, worker, passkey) => {
        if (passkey.state !== 'unconfirmed') throw isAlready(passkey);
        const { invitedBy, ...made } = passkey.made as unknown as Made;
        await requireSecondPerson(db, caller, { invitedBy, workerUserId: worker.userId });
        if (code.toUpperCase() !== codeOf(passkey.credentialId)) {
          throw new AppError(
            'invalid_request',
            'code is not the one that the worker sees on their device. If it should be, somebody else has used the link: refuse this registration.',
          );
        }
        const confirmedAt = new Date().toISOString();
        const registration = await addStatement(db, passkey, (number) => ({
          format: registrationFormat,
          workspaceId: caller.workspaceId,
          workerId: worker.id,
          workerAddress: worker.address,
          workerName: worker.name,
          number,
          credentialId: fromBytea(passkey.credentialId),
          publicKey: fromBytea(passkey.publicKey),
          rpId: passkey.rpId,
          ...made,
          invitedBy,
          confirmedBy: { ...caller.actor },
          confirmedAt,
        }));
        await setState(db, caller, passkey, {
          state: 'active',
          made: JSON.stringify({ ...passkey.made, confirmedAt }),
          number: registration.number,
          hash: Buffer.from(registration.hash.slice(2), 'hex'),
        });
        await db
          .updateTable('workers')
          .set({ key_holder: 'passkey', updated_at: new Date() })
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', worker.id)
          .execute();
        if (worker.keyHolder === 'service') {
          await keyring.destroySigningKey(db, { workspaceId: caller.workspaceId, id: worker.id });
        }
        const details = {
          passkeyId: passkey.id,
          ...registration,
          destroyedKey: worker.keyHolder === 'service',
        };
        await insertAll(db, [
          auditWrite(caller, { action: 'passkey.confirm', targetId: worker.id, details }),
        ]);
      });
    },

    refuse: (caller, key) =>
      change(caller, key, async (db, worker, passkey) => {
        if (passkey.state !== 'unconfirmed') throw isAlready(passkey);
        await setState(db, caller, passkey, { state: 'refused' });
        const details = { passkeyId: passkey.id };
        await insertAll(db, [auditWrite(caller, { action: 'passkey.refuse', targetId: worker.id, details })]);
      }),

    revoke: (caller, { reason, ...key }) =>
      change(caller, key, async (db, worker, passkey) => {
        const { registration } = passkey;
        if (passkey.state === 'revoked') return;
        if (registration === null) throw isAlready(passkey);
        await setState(db, caller, passkey, { state: 'revoked' });
        await addStatement(db, passkey, (number) => ({
          format: revocationFormat,
          workspaceId: caller.workspaceId,
          workerId: worker.id,
          workerAddress: worker.address,
          workerName: worker.name,
          number,
          credentialId: fromBytea(passkey.credentialId),
          registration,
          reason,
          revokedBy: { ...caller.actor } as StatedActor,
          revokedAt: new Date().toISOString(),
        }));
        const details = { passkeyId: passkey.id, reason };
        await insertAll(db, [auditWrite(caller, { action: 'passkey.revoke', targetId: worker.id, details })]);
      }),
  };
}

/** Checked by the library, with what only counts here: the page, the algorithm, and that the user was verified. */
async function readRegistration(
  response: RegistrationResponseJSON,
  { challenge, rpId, origin }: { challenge: Buffer; rpId: string; origin: string },
) {
  try {
    const { verifyRegistrationResponse } = await library();
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: Object.values(algorithms),
    });
    const spki = verified ? await spkiOf(registrationInfo.credential.publicKey) : null;
    if (!registrationInfo || spki === null) throw new Error('it is not signed as it should be');
    const { credential, fmt, aaguid, attestationObject } = registrationInfo;
    return {
      spki,
      credentialId: Buffer.from(credential.id, 'base64url'),
      counter: credential.counter,
      attestation: {
        format: fmt,
        aaguid,
        object: fromBytea(Buffer.from(attestationObject)),
        clientDataJSON: Buffer.from(response.response.clientDataJSON, 'base64url').toString('utf8'),
      },
    };
  } catch (error) {
    const { message } = error as Error;
    throw new AppError('assertion_invalid', `The passkey was not registered: ${message}`, { cause: error });
  }
}

async function setState(
  db: Db,
  { workspaceId }: Caller,
  { id }: Passkey,
  change: { state: Passkey['state']; number?: number; hash?: Buffer; made?: string },
): Promise<void> {
  await db
    .updateTable('worker_passkeys')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Short enough to be read aloud; made from what the API does not show before the confirmation. */
function codeOf(credentialId: Buffer): string {
  const hex = createHash('sha256').update(credentialId).digest('hex').slice(0, 8).toUpperCase();
  return `${hex.slice(0, 4)}-${hex.slice(4)}`;
}

function isKept(state: Passkey['state']): boolean {
  return state === 'unconfirmed' || state === 'active';
}

function isAlready({ id, state }: Passkey): AppError {
  return new AppError('conflict', `The passkey ${id} is ${state}.`);
}
