/** Workspaces: the tenants. Name, slug and metadata are those an organisation of the sign-in library has too. */
import type { Caller } from '../caller.ts';
import type { Db } from '../db/database.ts';
import { violates } from '../db/faults.ts';
import { insertAll } from '../db/writes.ts';
import { OperatorError } from '../errors.ts';
import { newId } from '../ids.ts';
import { auditWrite } from './audit.ts';

export interface Workspace {
  id: string;
  name: string;
  slug: string;
}

export const defaultSlug = 'default';

/** Made by the operator: on the command line, or by the first start. */
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

const operator = { kind: 'command', id: 'command-line' } as const;

/** Who acts when somebody works on the command line, or starts the service for the first time. */
export function operatorIn(workspaceId: string): Caller {
  return { workspaceId, actor: operator, scopes: [], requestId: null };
}

/** By id or slug; the default one when nothing is named. */
export async function findWorkspace(db: Db, idOrSlug: string = defaultSlug): Promise<Workspace> {
  const row = await db
    .selectFrom('workspaces')
    .select(['id', 'name', 'slug'])
    .where((where) => where.or([where('id', '=', idOrSlug), where('slug', '=', idOrSlug)]))
    .executeTakeFirst();
  if (row) return row;
  throw new OperatorError(
    `There is no workspace ${idOrSlug}. Make one with "holdfast workspaces create --name NAME".`,
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
