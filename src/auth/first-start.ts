/** What a new database is given: the default workspace and its first API key. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ApiKeys } from './api-keys.ts';
import { createWorkspace, defaultSlug, findWorkspace, operator } from './workspaces.ts';

/** Nodes that start together take turns. */
const firstStartLock = 4_801_005;

export async function ensureWorkspace(db: Db): Promise<void> {
  await inTurn(db, async () => {
    const any = await db.selectFrom('workspaces').select('id').limit(1).executeTakeFirst();
    if (!any) await createWorkspace(db, { name: 'Default', slug: defaultSlug });
  });
}

/** The text of the first key, or null when the default workspace has or had one. */
export async function ensureFirstKey(db: Db, apiKeys: ApiKeys): Promise<string | null> {
  return inTurn(db, async () => {
    const workspace = await findWorkspace(db);
    const [any] = await apiKeys.list(workspace.id, { before: undefined, limit: 1 });
    if (any) return null;
    const caller = { workspaceId: workspace.id, actor: operator, scopes: [], requestId: null };
    const { key } = await apiKeys.create(caller, { name: 'First key', scopes: [], expiresAt: null });
    return key;
  });
}

/** The work runs on other connections; this transaction only holds the lock meanwhile. */
function inTurn<T>(db: Db, work: () => Promise<T>): Promise<T> {
  return db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${firstStartLock})`.execute(db);
    return work();
  });
}
