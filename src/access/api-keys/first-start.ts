/** What a new database is given: the default workspace and its first API key. */
import type { Db } from '../../db/database.ts';
import { inTurn, locks } from '../../db/advisory-lock.ts';
import { createWorkspace, defaultSlug, findWorkspace, operatorIn } from '../workspaces/workspaces.ts';
import type { ApiKeys } from './api-keys.ts';

export async function ensureWorkspace(db: Db): Promise<void> {
  await inTurn(db, locks.firstStart, async () => {
    const any = await db.selectFrom('workspaces').select('id').limit(1).executeTakeFirst();
    if (!any) await createWorkspace(db, { name: 'Default', slug: defaultSlug });
  });
}

/** The text of the first key, or null when the default workspace has or had one. */
export async function ensureFirstKey(db: Db, apiKeys: ApiKeys): Promise<string | null> {
  return inTurn(db, locks.firstStart, async () => {
    const workspace = await findWorkspace(db);
    const [any] = await apiKeys.list(workspace.id, { before: undefined, limit: 1 });
    if (any) return null;
    const { key } = await apiKeys.create(operatorIn(workspace.id), {
      name: 'First key',
      scopes: [],
      expiresAt: null,
    });
    return key;
  });
}
