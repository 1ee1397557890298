/** Sets a new password for a user, as the operator. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { savePassword } from '../accounts/password-account.ts';
import { doesSignInHere, isOf } from '../accounts/signs-in-here.ts';
import { auditWrite } from '../audit/audit.ts';
import { listWorkspacesOf, operatorIn } from '../workspaces/workspaces.ts';
import { hashPassword } from './password.ts';
import { accountCounter } from './sign-in-throttle.ts';

export interface PasswordReset {
  email: string;
  password: string;
  /** Codes and passkeys: whoever had the account for a while may have registered one. */
  disableTwoFactor: boolean;
  /** Of the identity provider that is configured; null: none. */
  issuer: string | null;
}

/**
 * Null when nobody has this email. Ends all sessions, and writes to the audit log of each of the person's workspaces.
 * `passkeys`: how many still sign the person in.
 */
export async function resetPassword(
  db: Db,
  { email, password, disableTwoFactor, issuer }: PasswordReset,
): Promise<{ email: string; passkeys: number } | null> {
  const hash = await hashPassword(password);
  return db.transaction().execute(async (db) => {
    const user = await db
      .selectFrom('users')
      .select(['id', 'email'])
      .where('email', '=', email.trim().toLowerCase())
      .executeTakeFirst();
    if (!user) return null;
    // The operator answers for the person, in the place of providers that are not configured any more.
    await sql`delete from identities i where i.user_id = ${user.id} and not ${isOf(issuer)}`.execute(db);
    await db.updateTable('identities').set({ gone_at: null }).where('user_id', '=', user.id).execute();
    if (!(await doesSignInHere(db, user.id))) {
      throw new OperatorError(
        `${user.email} signs in with the identity provider, so a password would not count. Only owners of the first workspace have one beside it.`,
      );
    }
    await savePassword(db, user.id, hash);
    await db.deleteFrom('sessions').where('user_id', '=', user.id).execute();
    // Of sign-ins that wait for a two-factor code.
    await db.deleteFrom('verifications').where('value', '=', user.id).execute();
    await db.deleteFrom('sign_in_failures').where('who', '=', accountCounter(user.email)).execute();
    if (disableTwoFactor) {
      await db.deleteFrom('two_factors').where('user_id', '=', user.id).execute();
      await db.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', user.id).execute();
      await db.deleteFrom('passkeys').where('user_id', '=', user.id).execute();
    }
    const workspaces = await listWorkspacesOf(db, user.id);
    await insertAll(
      db,
      workspaces.map(({ id }) =>
        auditWrite(operatorIn(id), {
          action: 'user.reset_password',
          targetId: user.id,
          details: { disableTwoFactor },
        }),
      ),
    );
    return { email: user.email, passkeys: await countPasskeys(db, user.id) };
  });
}

async function countPasskeys(db: Db, userId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from passkeys where user_id = ${userId}`.execute(db);
  return rows[0]?.n ?? 0;
}
