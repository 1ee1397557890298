/** Workspaces: the tenants. Name, slug and metadata match those of an organisation of the sign-in library. */

import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller, Role } from '../../runtime/caller.ts';
import { AppError, OperatorError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { auditWrite } from '../audit/audit.ts';

export interface Workspace {
  id: string;
  name: string;
  slug: string;
}

export const defaultSlug = 'default';

/** Per person, as their list comes whole with the signed-in user. */
export const mostWorkspaces = 1_000;

/** For the operator: on the command line, or at the first start. */
export async function createWorkspace(
  db: Db,
  { name, slug }: { name: string; slug?: string },
): Promise<Workspace> {
  const workspace = { id: newId('ws'), name, slug: slug ?? slugOf(name) };
  const caller = operatorIn(workspace.id);
  try {
    await db
      .transaction()
      .execute((db) =>
        insertAll(db, [
          { table: 'workspaces', row: { ...workspace, metadata: {}, created_at: new Date() } },
          auditWrite(caller, { action: 'workspace.create', targetId: workspace.id, details: { name } }),
        ]),
      );
  } catch (error) {
    if (violates(error, 'workspaces_slug_key')) {
      throw new OperatorError(`There is already a workspace "${workspace.slug}". Choose another name.`, {
        cause: error,
      });
    }
    throw error;
  }
  return workspace;
}

/** For a person, who becomes its owner. */
export async function createWorkspaceAs(
  db: Db,
  { actor, requestId }: Caller,
  { userId, name }: { userId: string; name: string },
): Promise<Workspace> {
  // Names need not be unique, so the slug ends with a few characters of the id.
  const id = newId('ws');
  const slug = `${slugOf(name)}-${id.slice(-6).toLowerCase()}`;
  const caller = { workspaceId: id, actor, scopes: [], requestId };
  const now = new Date();
  await db.transaction().execute(async (db) => {
    await requireRoomFor(db, userId);
    await insertAll(db, [
      { table: 'workspaces', row: { id, name, slug, metadata: {}, created_at: now } },
      { table: 'members', row: { workspace_id: id, user_id: userId, role: 'owner', created_at: now } },
      auditWrite(caller, { action: 'workspace.create', targetId: id, details: { name } }),
    ]);
  });
  return { id, name, slug };
}

/** Locks the user until the transaction ends, so that no two workspaces take the last place. */
export async function requireRoomFor(db: Db, userId: string): Promise<void> {
  await db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute();
  const { joined } = await db
    .selectFrom('members')
    .select((select) => select.fn.countAll<number>().as('joined'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (Number(joined) < mostWorkspaces) return;
  throw new AppError(
    'conflict',
    `You have reached the limit of ${mostWorkspaces} workspaces. Leave one first.`,
  );
}

/** The workspaces of a person, in order of joining. */
export function listWorkspacesOf(db: Db, userId: string): Promise<(Workspace & { role: Role })[]> {
  return db
    .selectFrom('members as m')
    .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
    .select(['w.id', 'w.name', 'w.slug', 'm.role'])
    .where('m.user_id', '=', userId)
    .orderBy('m.created_at')
    .orderBy('w.id')
    .limit(mostWorkspaces)
    .execute();
}

const operator = { kind: 'command', id: 'command-line' } as const;

/** The caller on the command line, and at the first start of the service. */
export function operatorIn(workspaceId: string): Caller {
  return { workspaceId, actor: operator, scopes: [], requestId: null };
}

/** By id or slug; the default workspace if none is named. */
export async function findWorkspace(db: Db, idOrSlug: string = defaultSlug): Promise<Workspace> {
  const row = await db
    .selectFrom('workspaces')
    .select(['id', 'name', 'slug'])
    .where((where) => where.or([where('id', '=', idOrSlug), where('slug', '=', idOrSlug)]))
    .executeTakeFirst();
  if (row) return row;
  throw new OperatorError(
    `There is no workspace ${idOrSlug}. Create one with "holdfast workspaces create --name NAME".`,
  );
}

export function listWorkspaces(db: Db): Promise<Workspace[]> {
  return db.selectFrom('workspaces').select(['id', 'name', 'slug']).orderBy('id').execute();
}

function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return slug === '' ? newId('ws').slice(3).toLowerCase() : slug;
}
