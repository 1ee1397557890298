/** The secrets of endpoints: the current one signs, and each replaced one signs too until it expires. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { AppError } from '../../runtime/errors.ts';
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
}

export interface RotatedSecret {
  secret: string;
  previousSecretUntil: Date;
}

export interface EndpointSecrets {
  /** The row with a new endpoint's secret, to be committed with the endpoint. */
  seal(owner: SecretOwner, secret: string): Write;
  open(owner: SecretOwner, within?: Db): Promise<string>;
  signing(owner: SecretOwner): Promise<SigningSecrets>;
  /** Must run in the transaction that has locked the endpoint's row. */
  rotate(db: Db, owner: SecretOwner): Promise<RotatedSecret>;
}

const purpose = 'webhook-secret';
const previousPurpose = 'webhook-secret-previous';
const overlap = sql`interval '24 hours'`;
/** Each of them signs every delivery, all in one header. */
const mostPrevious = 32;

export function createEndpointSecrets({ db, keyring }: { db: Db; keyring: Keyring }): EndpointSecrets {
  async function open({ workspaceId, id }: SecretOwner, within = db): Promise<string> {
    return opened(await keyring.open({ workspaceId, purpose, id }, within), id);
  }

  const previousOf = (db: Db, { workspaceId, id }: SecretOwner) =>
    db
      .selectFrom('webhook_previous_secrets')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('endpoint_id', '=', id);

  async function forgetOver(db: Db, owner: SecretOwner): Promise<void> {
    const over = await previousOf(db, owner).where('until', '<=', sql<Date>`now()`).execute();
    if (over.length === 0) return;
    const ids = over.map(({ id }) => id);
    await db
      .deleteFrom('secrets')
      .where('workspace_id', '=', owner.workspaceId)
      .where('purpose', '=', previousPurpose)
      .where('id', 'in', ids)
      .execute();
    await db
      .deleteFrom('webhook_previous_secrets')
      .where('workspace_id', '=', owner.workspaceId)
      .where('endpoint_id', '=', owner.id)
      .where('id', 'in', ids)
      .execute();
  }

  return {
    open,

    seal: ({ workspaceId, id }, secret) => keyring.seal({ workspaceId, purpose, id }, Buffer.from(secret)),

    async signing(owner) {
      const secret = await open(owner);
      const previous = await previousOf(db, owner)
        .where('until', '>', sql<Date>`now()`)
        .orderBy('until', 'desc')
        .execute();
      const { workspaceId } = owner;
      const previousSecrets = await Promise.all(
        previous.map(async ({ id }) =>
          opened(await keyring.open({ workspaceId, purpose: previousPurpose, id }), owner.id),
        ),
      );
      return { secret, previousSecrets };
    },

    async rotate(db, owner) {
      const { workspaceId, id } = owner;
      await forgetOver(db, owner);
      if ((await previousOf(db, owner).execute()).length >= mostPrevious) {
        throw new AppError(
          'conflict',
          `The secret was rotated ${mostPrevious} times within a day, and all of those secrets are still in use. Rotate it again when the oldest has expired.`,
        );
      }
      const replaced = await open(owner, db);
      await db
        .deleteFrom('secrets')
        .where('workspace_id', '=', workspaceId)
        .where('purpose', '=', purpose)
        .where('id', '=', id)
        .execute();
      const previousId = randomUUID();
      const secret = newWebhookSecret();
      await insertAll(db, [
        keyring.seal({ workspaceId, purpose, id }, Buffer.from(secret)),
        keyring.seal({ workspaceId, purpose: previousPurpose, id: previousId }, Buffer.from(replaced)),
      ]);
      const { until } = await db
        .insertInto('webhook_previous_secrets')
        .values({
          workspace_id: workspaceId,
          endpoint_id: id,
          id: previousId,
          until: sql<Date>`now() + ${overlap}`,
        })
        .returning('until')
        .executeTakeFirstOrThrow();
      return { secret, previousSecretUntil: until };
    },
  };
}

function opened(secret: Buffer | null, endpointId: string): string {
  if (!secret) throw new Error(`a secret of ${endpointId} is missing`);
  return secret.toString();
}
