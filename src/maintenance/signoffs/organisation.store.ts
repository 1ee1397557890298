/** The organisation in whose name a workspace releases work, and what a sign-off as certified keeps of it. */
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Organisation, Release } from '../../proof/signoff/signoff-document.ts';
import type { Caller } from '../../runtime/caller.ts';
import { type AssetKey, findAsset } from '../assets/assets.store.ts';

/** All of it is empty where nothing was stated. */
export async function readOrganisation(db: Db, workspaceId: string): Promise<Organisation> {
  const row = await db
    .selectFrom('organisations')
    .select(['name', 'address', 'authority', 'approval_number', 'regulation'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  if (!row) return { name: '', address: '', authority: '', approvalNumber: '', regulation: '' };
  const { approval_number: approvalNumber, ...rest } = row;
  return { ...rest, approvalNumber };
}

/** Sign-offs that exist keep what was stated when they were made. */
export async function changeOrganisation(
  db: Db,
  caller: Caller,
  organisation: Organisation,
): Promise<Organisation> {
  const { workspaceId } = caller;
  const { name, address, authority, approvalNumber, regulation } = organisation;
  const row = {
    name,
    address,
    authority,
    approval_number: approvalNumber,
    regulation,
    updated_at: new Date(),
  };
  return db.transaction().execute(async (db) => {
    const from = await readOrganisation(db, workspaceId);
    await db
      .insertInto('organisations')
      .values({ workspace_id: workspaceId, ...row })
      .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
      .execute();
    await insertAll(db, [
      auditWrite(caller, {
        action: 'organisation.change',
        targetId: workspaceId,
        details: { from, to: organisation },
      }),
    ]);
    return organisation;
  });
}

/** As they are at this moment. */
export async function readRelease(db: Db, key: AssetKey): Promise<Release> {
  const organisation = await readOrganisation(db, key.workspaceId);
  const { version, name, partNumber, serialNumber } = await findAsset(db, key);
  return {
    organisation: Object.values(organisation).every((stated) => stated === '') ? null : organisation,
    asset: { version, name, partNumber, serialNumber },
  };
}
