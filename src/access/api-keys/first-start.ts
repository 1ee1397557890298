/** The initial content of a new database: the default workspace and its first API key. */

import { locks, withLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { createWorkspace, defaultSlug, findWorkspace, operatorIn } from '../workspaces/workspaces.ts';
import type { ApiKeys } from './api-keys.ts';

export async function ensureWorkspace(db: Db): Promise<void> {
  await withLock(db, locks.firstStart, async () => {
    const any = await db.selectFrom('workspaces').select('id').limit(1).executeTakeFirst();
    if (!any) await createWorkspace(db, { name: 'Default', slug: defaultSlug });
  });
}

/** The text of the first key; null if the default workspace has or had one. */
export async function ensureFirstKey(db: Db, apiKeys: ApiKeys): Promise<string | null> {
  return withLock(db, locks.firstStart, async () => {
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
