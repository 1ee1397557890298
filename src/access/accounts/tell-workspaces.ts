/** The audit log of everything that happens to an account: each workspace of the person has it. */
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { type AuditedChange, auditWrite } from '../audit/audit.ts';
import { listWorkspacesOf } from '../workspaces/workspaces.ts';

/** Writes to the audit log of each of the person's workspaces: a sign-in gives access to all of them. */
export async function tellWorkspacesOf(
  db: Db,
  { userId, requestId }: { userId: string; requestId: string | null },
  change: AuditedChange,
): Promise<void> {
  const actor = { kind: 'user', id: userId } as const;
  const workspaces = await listWorkspacesOf(db, userId);
  await insertAll(
    db,
    workspaces.map(({ id: workspaceId }) =>
      auditWrite({ workspaceId, actor, scopes: [], requestId }, change),
    ),
  );
}
