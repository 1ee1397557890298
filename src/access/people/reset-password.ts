/** Sets a new password for a user, as the operator. */
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { auditWrite } from '../audit/audit.ts';
import { listWorkspacesOf, operatorIn } from '../workspaces/workspaces.ts';
import { hashPassword } from './password.ts';
import { accountCounter } from './sign-in-throttle.ts';

export interface PasswordReset {
  email: string;
  password: string;
  disableTwoFactor: boolean;
}

/** Null when nobody has this email. Ends all sessions, and writes to the audit log of each of the person's workspaces. */
export async function resetPassword(
  db: Db,
  { email, password, disableTwoFactor }: PasswordReset,
): Promise<{ email: string } | null> {
  const hash = await hashPassword(password);
  return db.transaction().execute(async (db) => {
    const user = await db
      .selectFrom('users')
      .select(['id', 'email'])
      .where('email', '=', email.trim().toLowerCase())
      .executeTakeFirst();
    if (!user) return null;
    await db
      .updateTable('accounts')
      .set({ password: hash, updated_at: new Date() })
      .where('user_id', '=', user.id)
      .where('provider_id', '=', 'credential')
      .execute();
    await db.deleteFrom('sessions').where('user_id', '=', user.id).execute();
    // Of sign-ins that wait for a two-factor code.
    await db.deleteFrom('verifications').where('value', '=', user.id).execute();
    await db.deleteFrom('sign_in_failures').where('who', '=', accountCounter(user.email)).execute();
    if (disableTwoFactor) {
      await db.deleteFrom('two_factors').where('user_id', '=', user.id).execute();
      await db.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', user.id).execute();
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
    return { email: user.email };
  });
}
