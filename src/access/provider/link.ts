/**
 * Links an account with a person of the identity provider. From then on the provider alone decides about it, so that whoever
 * made it or knows its password gains nothing by what the provider gives to the person.
 */
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { endSessionsOf } from '../accounts/ended-sessions.ts';
import { doesSignInHere } from '../accounts/signs-in-here.ts';
import { auditWrite } from '../audit/audit.ts';
import { listWorkspacesOf } from '../workspaces/workspaces.ts';
import type { Identity } from './gone.ts';

export interface Link extends Identity {
  userId: string;
  /** The first one, whose audit log has every link. */
  workspaceId: string;
  requestId: string | null;
}

/** Inside a transaction; the email of the account has been found to be the one that the provider has verified. */
export async function linkAccount(
  db: Db,
  { userId, workspaceId, issuer, subject, requestId }: Link,
): Promise<void> {
  const now = new Date();
  await insertAll(db, [{ table: 'identities', row: { issuer, subject, user_id: userId, created_at: now } }]);
  await db
    .updateTable('users')
    .set({ email_verified: true, updated_at: now })
    .where('id', '=', userId)
    .execute();
  const actor = { kind: 'user', id: userId } as const;
  const told = new Set([workspaceId, ...(await listWorkspacesOf(db, userId)).map(({ id }) => id)]);
  const change = { action: 'user.link_provider', targetId: userId, details: { issuer, subject } } as const;
  await insertAll(
    db,
    [...told].map((id) => auditWrite({ workspaceId: id, actor, scopes: [], requestId }, change)),
  );
  await endSessionsOf(db, {
    ...{ userId, requestId },
    reason: 'the account was linked with the identity provider',
  });
}

/**
 * Inside the transaction of the link, once the groups have given their role: who does not sign in here any more, has no
 * password, codes or passkeys left that could.
 */
export async function dropOwnWays(db: Db, userId: string): Promise<void> {
  if (await doesSignInHere(db, userId)) return;
  await db
    .deleteFrom('accounts')
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .execute();
  await db.deleteFrom('two_factors').where('user_id', '=', userId).execute();
  await db.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', userId).execute();
  await db.deleteFrom('passkeys').where('user_id', '=', userId).execute();
}
