/** Operators: who runs the installation, and not only a workspace in it. */
import { type Caller, isAtLeast, may, type Person } from '../caller.ts';
import type { Db } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { defaultSlug } from './workspaces.ts';

/**
 * Owners and admins of the first workspace, wherever they act at the moment, and keys of that workspace that may make
 * keys. What an operator may do beyond others is asked for by name; everything else stays within workspaces.
 */
export async function isOperator(db: Db, caller: Caller): Promise<boolean> {
  if (caller.person) return leadsFirstWorkspace(db, caller.person);
  if (!may(caller, 'keys:write')) return false;
  const first = await db
    .selectFrom('workspaces')
    .select('id')
    .where('slug', '=', defaultSlug)
    .executeTakeFirst();
  return first?.id === caller.workspaceId;
}

export type WorkspaceCreation = 'operators' | 'everyone';

export async function mayCreateWorkspaces(
  db: Db,
  caller: Caller,
  creation: WorkspaceCreation,
): Promise<boolean> {
  return creation === 'everyone' || (await isOperator(db, caller));
}

export function noWorkspaceCreation(): AppError {
  return new AppError(
    'forbidden',
    'Workspaces are made by operators: ask an owner or admin of the first workspace of this installation to make one and to invite you. (With HOLDFAST_WORKSPACE_CREATION=everyone the operator lets everybody make them.)',
  );
}

async function leadsFirstWorkspace(db: Db, { userId }: Person): Promise<boolean> {
  const member = await db
    .selectFrom('members as m')
    .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
    .select('m.role')
    .where('w.slug', '=', defaultSlug)
    .where('m.user_id', '=', userId)
    .executeTakeFirst();
  return member !== undefined && isAtLeast(member.role, 'admin');
}
