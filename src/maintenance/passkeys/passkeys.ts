/** Passkeys of workers: made on an invitation, listed, refused, revoked, never edited. `registrations.ts` makes them count. */
import { createHash } from 'node:crypto';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Hex } from 'viem';
import { auditWrite } from '../../access/audit/audit.ts';
import { findUser } from '../../access/people/members.ts';
import { findWorkspace } from '../../access/workspaces/workspaces.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import { insertAll } from '../../db/writes.ts';
import { type PasskeyRevocation, revocationFormat } from '../../proof/signoff/passkey-document.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { algorithms, spkiOf } from './cose-key.ts';
import { afterSigned } from './last-signed.store.ts';
import { type Apply, changePasskey, isAlready, type PasskeyKey, setPasskey } from './passkey-change.ts';
import { codeOf } from './passkey-code.ts';
import { passkeyHost } from './passkey-host.ts';
import { invite, type MadeInvitation, openInvitation, useInvitation } from './passkey-invitations.ts';
import {
  addStatement,
  lockWorker,
  type Made,
  nextPlace,
  type Passkey,
  type PasskeyWorker,
  readPasskeys,
  vaultOfStatement,
} from './passkeys.store.ts';

export interface PasskeysDeps {
  db: Db;
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
  refuse(caller: Caller, key: WorkerPasskey): Promise<Passkey>;
  revoke(caller: Caller, key: WorkerPasskey & { reason: string }): Promise<Passkey>;
}

export interface RegistrationOffer {
  worker: PasskeyWorker;
  workspaceName: string;
  /** The name of the person who made the link, or the API key that did. */
  invitedBy: string;
  expiresAt: Date;
  options: object;
}

export interface WorkerKey {
  workspaceId: string;
  address: string;
}

type WorkerPasskey = Omit<PasskeyKey, 'workspaceId'>;

const mostPasskeys = 20;

/** Loaded when first used: 300 modules, which the start of the service does not need. */
const library = () => import('@simplewebauthn/server');

export function createPasskeys({ db, publicUrl }: PasskeysDeps): Passkeys {
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
      const { name: invitedBy } = await findUser(db, invitation.inviter.invitedBy);
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
        const { workspaceId, worker, inviter, ...invitation } = await openInvitation(db, token, {
          lock: true,
        });
        const key = { workspaceId, workerId: worker.id };
        const open = (await readPasskeys(db, key)).filter(({ state }) => isKept(state));
        if (open.length >= mostPasskeys) {
          throw new AppError('conflict', `A worker can have ${mostPasskeys} passkeys. Revoke one first.`);
        }
        await useInvitation(db, { workspaceId, id: invitation.id });
        const made: Made = { attestation, ...inviter, registeredAt: new Date().toISOString() };
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
              token_hash: null,
              token_expires_at: null,
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
        const isKnown = violates(error, 'worker_passkeys_once') || violates(error, 'worker_passkeys_by_key');
        if (!isKnown) throw error;
        throw new AppError('conflict', 'This passkey is registered already.', { cause: error });
      });
      return { id, code: codeOf(credentialId) };
    },

    async list({ workspaceId, address }, page) {
      const worker = await lockWorker(db, workspaceId, { address }, { lock: false });
      return readPasskeys(db, { workspaceId, workerId: worker.id }, page);
    },

    refuse: (caller, key) =>
      change(caller, key, async (db, worker, passkey) => {
        if (passkey.state !== 'unconfirmed' && passkey.state !== 'unsigned') throw isAlready(passkey);
        await setPasskey(db, caller.workspaceId, { id: passkey.id, change: { state: 'refused' } });
        const details = { passkeyId: passkey.id };
        await insertAll(db, [auditWrite(caller, { action: 'passkey.refuse', targetId: worker.id, details })]);
      }),

    revoke: (caller, { reason, ...key }) =>
      change(caller, key, async (db, worker, passkey) => {
        const { workspaceId } = caller;
        const { registration } = passkey;
        if (passkey.state === 'revoked') return;
        if (registration === null) throw isAlready(passkey);
        await setPasskey(db, workspaceId, { id: passkey.id, change: { state: 'revoked' } });
        const sealedBy = await vaultOfStatement(db, {
          workspaceId,
          workerId: worker.id,
          number: registration.number,
        });
        const place = await nextPlace(db, { workspaceId, workerId: worker.id, sealedBy });
        const document: PasskeyRevocation = {
          format: revocationFormat,
          ...{ workspaceId, workerId: worker.id, workerAddress: worker.address, workerName: worker.name },
          number: place.number,
          vault: place.vault.address.toLowerCase() as Hex,
          credentialId: fromBytea(passkey.credentialId),
          ...{ registration, reason, revokedBy: { ...caller.actor } },
          revokedAt: await afterSigned(
            db,
            { workspaceId, workerId: worker.id },
            passkey.made.receivedAt ?? '',
          ),
        };
        await addStatement(db, passkey, { document, place });
        const details = { passkeyId: passkey.id, reason };
        await insertAll(db, [auditWrite(caller, { action: 'passkey.revoke', targetId: worker.id, details })]);
      }),
  };

  function change(caller: Caller, key: WorkerPasskey, apply: Apply): Promise<Passkey> {
    return changePasskey(db, { workspaceId: caller.workspaceId, ...key }, apply);
  }
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

function isKept(state: Passkey['state']): boolean {
  return state === 'unconfirmed' || state === 'unsigned' || state === 'active';
}
