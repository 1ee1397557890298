/** In which roles a workspace accepts no sign-offs by keys that the service holds. */
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { type SignoffRole, signoffRoles } from '../signing/signoff-rules.ts';

/** In the order of signing. */
export async function readOwnKeyRoles(db: Db, workspaceId: string): Promise<SignoffRole[]> {
  const row = await db
    .selectFrom('signoff_rules')
    .select('own_key')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return signoffRoles.filter((role) => row?.own_key.includes(role));
}

export async function changeOwnKeyRoles(
  db: Db,
  caller: Caller,
  roles: SignoffRole[],
): Promise<SignoffRole[]> {
  const { workspaceId } = caller;
  const row = { own_key: signoffRoles.filter((role) => roles.includes(role)), updated_at: new Date() };
  return db.transaction().execute(async (db) => {
    const from = await readOwnKeyRoles(db, workspaceId);
    await db
      .insertInto('signoff_rules')
      .values({ workspace_id: workspaceId, ...row })
      .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
      .execute();
    await insertAll(db, [
      auditWrite(caller, {
        action: 'signoffs.change_rules',
        targetId: workspaceId,
        details: { ownKey: { from, to: row.own_key } },
      }),
    ]);
    return row.own_key;
  });
}
