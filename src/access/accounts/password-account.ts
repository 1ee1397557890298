/** The password of an account, in the row in which the sign-in library looks for it. */
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { newId } from '../../runtime/ids.ts';

export function passwordAccount(userId: string, password: string, at: Date) {
  return {
    id: newId('ses'),
    user_id: userId,
    account_id: userId,
    provider_id: 'credential',
    password,
    created_at: at,
    updated_at: at,
  };
}

/** Whom the identity provider brought here has none yet. */
export async function savePassword(db: Db, userId: string, password: string): Promise<void> {
  const now = new Date();
  const { numUpdatedRows } = await db
    .updateTable('accounts')
    .set({ password, updated_at: now })
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await insertAll(db, [{ table: 'accounts', row: passwordAccount(userId, password, now) }]);
}
