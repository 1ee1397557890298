/**
 * The secrets of endpoints, and the key pairs of those that sign with one: the current one signs, and each replaced one signs
 * too until it expires.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { AppError } from '../../runtime/errors.ts';
import { newKeyPair } from '../exchange/key-pair.ts';
import { newWebhookSecret } from '../exchange/signature.ts';

export interface SecretOwner {
  workspaceId: string;
  /** The endpoint's id. */
  id: string;
}

export interface SigningSecrets {
  secret: string;
  /** Newest first. */
  previousSecrets: string[];
  /** Of Ed25519, newest first; empty when the endpoint signs with none. */
  privateKeys: string[];
}

export interface RotatedSecret {
  secret: string;
  previousSecretUntil: Date;
}

export interface RotatedKeyPair {
  publicKey: string;
  previousPublicKeyUntil: Date;
}

/** A key that verifies deliveries; `until` of one that was replaced. */
export interface PublicKey {
  publicKey: string;
  until: Date | null;
}

export interface EndpointSecrets {
  /** The row with a new endpoint's secret, to be committed with the endpoint. */
  seal(owner: SecretOwner, secret: string): Write;
  /** Likewise with its private key. */
  sealKey(owner: SecretOwner, privateKey: string): Write;
  open(owner: SecretOwner, within?: Db): Promise<string>;
  signing(owner: SecretOwner, withKeys: boolean): Promise<SigningSecrets>;
  /** Must run in the transaction that has locked the endpoint's row. */
  rotate(db: Db, owner: SecretOwner): Promise<RotatedSecret>;
  /** Likewise. `publicKey`: of the current key pair. */
  rotateKeyPair(db: Db, owner: SecretOwner, publicKey: string): Promise<RotatedKeyPair>;
  /** Replaced keys that still sign, newest first. */
  previousKeys(owner: SecretOwner): Promise<PublicKey[]>;
}

interface Kind {
  purpose: string;
  previousPurpose: string;
  isKeyPair: boolean;
}

const hmac: Kind = {
  purpose: 'webhook-secret',
  previousPurpose: 'webhook-secret-previous',
  isKeyPair: false,
};
const keyPair: Kind = { purpose: 'webhook-key', previousPurpose: 'webhook-key-previous', isKeyPair: true };
const overlap = sql`interval '24 hours'`;
/** Each of them signs every delivery, all in one header. */
const mostPrevious = { hmac: 32, keyPair: 4 };

export function createEndpointSecrets({ db, keyring }: { db: Db; keyring: Keyring }): EndpointSecrets {
  async function open({ workspaceId, id }: SecretOwner, { purpose }: Kind, within = db): Promise<string> {
    return opened(await keyring.open({ workspaceId, purpose, id }, within), id);
  }

  const sealed = ({ workspaceId, id }: SecretOwner, { purpose }: Kind, value: string): Write =>
    keyring.seal({ workspaceId, purpose, id }, Buffer.from(value));

  const previousOf = (db: Db, { workspaceId, id }: SecretOwner, { isKeyPair }: Kind) =>
    db
      .selectFrom('webhook_previous_secrets')
      .select(['id', 'public_key', 'until'])
      .where('workspace_id', '=', workspaceId)
      .where('endpoint_id', '=', id)
      .where('public_key', isKeyPair ? 'is not' : 'is', null);

  const stillSigning = (owner: SecretOwner, kind: Kind) =>
    previousOf(db, owner, kind).where('until', '>', sql<Date>`now()`).orderBy('until', 'desc').execute();

  async function openPrevious(owner: SecretOwner, kind: Kind): Promise<string[]> {
    const previous = await stillSigning(owner, kind);
    const { workspaceId } = owner;
    return Promise.all(
      previous.map(async ({ id }) =>
        opened(await keyring.open({ workspaceId, purpose: kind.previousPurpose, id }), owner.id),
      ),
    );
  }

  async function forgetOver(db: Db, owner: SecretOwner, kind: Kind): Promise<void> {
    const over = await previousOf(db, owner, kind).where('until', '<=', sql<Date>`now()`).execute();
    if (over.length === 0) return;
    const ids = over.map(({ id }) => id);
    await db
      .deleteFrom('secrets')
      .where('workspace_id', '=', owner.workspaceId)
      .where('purpose', '=', kind.previousPurpose)
      .where('id', 'in', ids)
      .execute();
    await db
      .deleteFrom('webhook_previous_secrets')
      .where('workspace_id', '=', owner.workspaceId)
      .where('endpoint_id', '=', owner.id)
      .where('id', 'in', ids)
      .execute();
  }

  /** Returns until when the old one signs too. */
  async function replace(
    db: Db,
    owner: SecretOwner,
    { kind, value, publicKey }: { kind: Kind; value: string; publicKey: string | null },
  ): Promise<Date> {
    const { workspaceId, id } = owner;
    const most = kind.isKeyPair ? mostPrevious.keyPair : mostPrevious.hmac;
    await forgetOver(db, owner, kind);
    if ((await previousOf(db, owner, kind).execute()).length >= most) {
      throw new AppError(
        'conflict',
        kind.isKeyPair
          ? `The key pair was rotated ${most} times within a day, and all of those keys are still in use. Rotate it again when the oldest has expired.`
          : `The secret was rotated ${most} times within a day, and all of those secrets are still in use. Rotate it again when the oldest has expired.`,
      );
    }
    const replaced = await open(owner, kind, db);
    await db
      .deleteFrom('secrets')
      .where('workspace_id', '=', workspaceId)
      .where('purpose', '=', kind.purpose)
      .where('id', '=', id)
      .execute();
    const previousId = randomUUID();
    await insertAll(db, [
      sealed(owner, kind, value),
      keyring.seal({ workspaceId, purpose: kind.previousPurpose, id: previousId }, Buffer.from(replaced)),
    ]);
    const { until } = await db
      .insertInto('webhook_previous_secrets')
      .values({
        workspace_id: workspaceId,
        endpoint_id: id,
        id: previousId,
        public_key: publicKey,
        until: sql<Date>`now() + ${overlap}`,
      })
      .returning('until')
      .executeTakeFirstOrThrow();
    return until;
  }

  return {
    open: (owner, within) => open(owner, hmac, within),

    seal: (owner, secret) => sealed(owner, hmac, secret),

    sealKey: (owner, privateKey) => sealed(owner, keyPair, privateKey),

    async signing(owner, withKeys) {
      return {
        secret: await open(owner, hmac),
        previousSecrets: await openPrevious(owner, hmac),
        privateKeys: withKeys ? [await open(owner, keyPair), ...(await openPrevious(owner, keyPair))] : [],
      };
    },

    async rotate(db, owner) {
      const secret = newWebhookSecret();
      const until = await replace(db, owner, { kind: hmac, value: secret, publicKey: null });
      return { secret, previousSecretUntil: until };
    },

    async rotateKeyPair(db, owner, publicKey) {
      const made = newKeyPair();
      const until = await replace(db, owner, { kind: keyPair, value: made.privateKey, publicKey });
      return { publicKey: made.publicKey, previousPublicKeyUntil: until };
    },

    async previousKeys(owner) {
      const rows = await stillSigning(owner, keyPair);
      return rows.flatMap(({ public_key: publicKey, until }) =>
        publicKey === null ? [] : { publicKey, until },
      );
    },
  };
}

function opened(secret: Buffer | null, endpointId: string): string {
  if (!secret) throw new Error(`a secret of ${endpointId} is missing`);
  return secret.toString();
}
