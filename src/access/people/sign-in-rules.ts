/** What a workspace asks of the sign-in of its members. */
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { auditWrite } from '../audit/audit.ts';

export interface SignInRules {
  /** Only sessions with a passkey, a code or the identity provider may act in the workspace. */
  requireSecondFactor: boolean;
}

export async function readSignInRules(db: Db, workspaceId: string): Promise<SignInRules> {
  const { require_second_factor } = await db
    .selectFrom('workspaces')
    .select('require_second_factor')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return { requireSecondFactor: require_second_factor };
}

/** Takes effect with the next request of each member. Nobody can lock themselves out: `hasSecondFactor` is the caller's. */
export async function saveSignInRules(
  db: Db,
  caller: Caller,
  { requireSecondFactor, hasSecondFactor }: SignInRules & { hasSecondFactor: boolean },
): Promise<SignInRules> {
  if (requireSecondFactor && !hasSecondFactor) {
    throw new AppError(
      'conflict',
      'Use a second factor yourself first: confirm with a passkey or a two-factor code, then require it.',
    );
  }
  await db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('workspaces')
      .set({ require_second_factor: requireSecondFactor })
      .where('id', '=', caller.workspaceId)
      .where('require_second_factor', '<>', requireSecondFactor)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    const details = { requireSecondFactor };
    await insertAll(db, [
      auditWrite(caller, { action: 'workspace.sign_in_rules', targetId: caller.workspaceId, details }),
    ]);
  });
  return { requireSecondFactor };
}
