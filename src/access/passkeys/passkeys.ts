/** Passkeys of people who sign in (WebAuthn): registered, used to sign in or to confirm, and removed. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { forgetLostFactors } from '../accounts/ended-sessions.ts';
import { tellWorkspacesOf } from '../accounts/tell-workspaces.ts';
import type { Site } from './site.ts';

export interface Passkey {
  id: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

interface Owner {
  userId: string;
  name: string;
  email: string;
}

export interface Passkeys {
  /** Newest first. */
  list(userId: string): Promise<Passkey[]>;
  registrationOptions(site: Site, owner: Owner): Promise<PublicKeyCredentialCreationOptionsJSON>;
  register(site: Site, owner: Owner, asked: Registration): Promise<Passkey>;
  options(site: Site): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** Whose passkey answered. Throws unauthorized unless everything fits; each challenge is answered once. */
  verify(site: Site, response: AuthenticationResponseJSON): Promise<{ userId: string; passkeyId: string }>;
  remove(userId: string, id: string, requestId: string): Promise<void>;
}

export interface Registration {
  name: string;
  response: RegistrationResponseJSON;
  /** In which it is registered. Making it proves as much as using it. */
  sessionId: string;
  requestId: string;
}

const minutesValid = 5;
export const mostPasskeys = 20;

/** Loaded when first used, like the rest of signing in. */
const library = () => import('@simplewebauthn/server');

/** `secret` seals the challenges of strangers, which leave no row behind. */
export function createPasskeys(db: Db, secret: Buffer): Passkeys {
  /** For the registration of somebody who is signed in. */
  async function newChallenge(of: string): Promise<string> {
    const challenge = randomBytes(32).toString('base64url');
    const now = new Date();
    await db
      .insertInto('verifications')
      .values({
        id: idOf(challenge),
        identifier: idOf(challenge),
        value: of,
        expires_at: new Date(now.getTime() + minutesValid * 60_000),
        created_at: now,
        updated_at: now,
      })
      .execute();
    return challenge;
  }

  async function takeChallenge(challenge: string, of: string): Promise<boolean> {
    const taken = await db
      .deleteFrom('verifications')
      .where('id', '=', idOf(challenge))
      .where('value', '=', of)
      .where('expires_at', '>', new Date())
      .returning('id')
      .executeTakeFirst();
    return taken !== undefined;
  }

  const ofUser = (userId: string) => `passkey of ${userId}`;

  const sealOf = (content: Buffer) =>
    createHmac('sha256', secret).update('passkey ').update(content).digest();

  /** Says itself until when it is valid. */
  function openChallenge(): Buffer {
    const content = Buffer.concat([randomBytes(24), Buffer.alloc(8)]);
    content.writeBigUInt64BE(BigInt(Date.now() + minutesValid * 60_000), 24);
    return Buffer.concat([content, sealOf(content)]);
  }

  function isOpenChallenge(challenge: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== 64 || bytes.toString('base64url') !== challenge) return false;
    const content = bytes.subarray(0, 32);
    return timingSafeEqual(sealOf(content), bytes.subarray(32)) && content.readBigUInt64BE(24) > Date.now();
  }

  /** Notes it as answered; false when it was before. */
  async function spend(db: Db, challenge: string): Promise<boolean> {
    const now = new Date();
    const noted = await db
      .insertInto('verifications')
      .values({
        ...{ id: idOf(challenge), identifier: idOf(challenge), value: 'answered' },
        ...{ expires_at: new Date(now.getTime() + minutesValid * 60_000), created_at: now, updated_at: now },
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    return noted !== undefined;
  }

  return {
    async list(userId) {
      const rows = await db
        .selectFrom('passkeys')
        .select(['id', 'name', 'created_at', 'last_used_at'])
        .where('user_id', '=', userId)
        .orderBy('id', 'desc')
        .execute();
      return rows.map(toPasskey);
    },

    async registrationOptions({ rpId }, { userId, name, email }) {
      const { generateRegistrationOptions } = await library();
      const present = await db
        .selectFrom('passkeys')
        .select(['credential_id', 'transports'])
        .where('user_id', '=', userId)
        .execute();
      if (present.length >= mostPasskeys)
        throw new AppError(
          'conflict',
          `You have ${mostPasskeys} passkeys, which is the limit. Remove one first.`,
        );
      return generateRegistrationOptions({
        rpName: 'Holdfast',
        rpID: rpId,
        userName: email,
        userDisplayName: name,
        userID: Uint8Array.from(Buffer.from(userId)),
        challenge: Uint8Array.from(Buffer.from(await newChallenge(ofUser(userId)), 'base64url')),
        attestationType: 'none',
        excludeCredentials: present.map(({ credential_id, transports }) => ({
          id: credential_id.toString('base64url'),
          transports: transports as AuthenticatorTransport[],
        })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
    },

    async register({ rpId, origin }, { userId }, { name, response, sessionId, requestId }) {
      const { verifyRegistrationResponse } = await library();
      const made = await verifyRegistrationResponse({
        response,
        expectedChallenge: (challenge) => takeChallenge(challenge, ofUser(userId)),
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: true,
      }).catch((error: unknown) => {
        throw new AppError('invalid_request', `The passkey was not accepted: ${messageOf(error)}.`);
      });
      if (!made.verified || !made.registrationInfo)
        throw new AppError('invalid_request', 'The passkey was not accepted.');
      const { credential } = made.registrationInfo;
      const passkey: Passkey = { id: newId('psk'), name, createdAt: new Date(), lastUsedAt: null };
      try {
        await db.transaction().execute(async (db) => {
          await db
            .insertInto('passkeys')
            .values({
              id: passkey.id,
              user_id: userId,
              name,
              credential_id: Buffer.from(credential.id, 'base64url'),
              public_key: Buffer.from(credential.publicKey),
              counter: credential.counter,
              transports: credential.transports ?? [],
              created_at: passkey.createdAt,
              last_used_at: null,
            })
            .execute();
          await db
            .updateTable('sessions')
            .set({ second_factor: true, confirmed_at: sql`now()` })
            .where('id', '=', sessionId)
            .execute();
          await tellWorkspacesOf(
            db,
            { userId, requestId },
            { action: 'user.add_passkey', targetId: userId, details: { passkeyId: passkey.id, name } },
          );
        });
      } catch (error) {
        if (!violates(error, 'passkeys_credential_id_key')) throw error;
        throw new AppError('conflict', 'This passkey is registered already.');
      }
      return passkey;
    },

    async options({ rpId }) {
      const { generateAuthenticationOptions } = await library();
      return generateAuthenticationOptions({
        rpID: rpId,
        challenge: Uint8Array.from(openChallenge()),
        userVerification: 'required',
      });
    },

    async verify({ rpId, origin }, response) {
      const { verifyAuthenticationResponse } = await library();
      // Two answers of one passkey wait for each other, so that its counter only rises.
      return db.transaction().execute(async (within) => {
        const row = await within
          .selectFrom('passkeys')
          .select(['id', 'user_id', 'credential_id', 'public_key', 'counter'])
          .where('credential_id', '=', Buffer.from(response.id, 'base64url'))
          .forUpdate()
          .executeTakeFirst();
        if (!row) throw refusedPasskey('it is not registered here, or was removed');
        let answered = '';
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response,
          expectedChallenge(challenge) {
            answered = challenge;
            return isOpenChallenge(challenge);
          },
          expectedOrigin: origin,
          expectedRPID: rpId,
          requireUserVerification: true,
          credential: {
            id: row.credential_id.toString('base64url'),
            publicKey: Uint8Array.from(row.public_key),
            counter: Number(row.counter),
          },
        }).catch((error: unknown) => {
          throw refusedPasskey(messageOf(error));
        });
        if (!verified) throw refusedPasskey('its signature does not fit');
        if (!(await spend(within, answered))) throw refusedPasskey('its challenge was answered before');
        await within
          .updateTable('passkeys')
          .set({ counter: authenticationInfo.newCounter, last_used_at: new Date() })
          .where('id', '=', row.id)
          .execute();
        return { userId: row.user_id, passkeyId: row.id };
      });
    },

    remove: (userId, id, requestId) =>
      db.transaction().execute(async (db) => {
        const gone = await db
          .deleteFrom('passkeys')
          .where('user_id', '=', userId)
          .where('id', '=', id)
          .returning('name')
          .executeTakeFirst();
        if (!gone) throw new AppError('resource_not_found', `You have no passkey ${id}.`);
        await forgetLostFactors(db, userId);
        await tellWorkspacesOf(
          db,
          { userId, requestId },
          { action: 'user.remove_passkey', targetId: userId, details: { passkeyId: id, name: gone.name } },
        );
      }),
  };
}

function idOf(challenge: string): string {
  return `passkey ${challenge}`;
}

function refusedPasskey(why: string): AppError {
  return new AppError('unauthorized', `The passkey was not accepted: ${why}.`);
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '').slice(0, 200);
}

function toPasskey(row: { id: string; name: string; created_at: Date; last_used_at: Date | null }): Passkey {
  return { id: row.id, name: row.name, createdAt: row.created_at, lastUsedAt: row.last_used_at };
}
