/** Operators: who runs the installation, and not only a workspace in it. */

import type { Db } from '../../db/database.ts';
import { type Caller, isAtLeast, may, type Person } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { defaultSlug } from '../workspaces/workspaces.ts';

/**
 * Owners and admins of the first workspace, wherever they act at the moment, the command line, and keys of the first
 * workspace that one of these made and that may make keys. What an operator may do beyond others is asked for by name;
 * everything else stays within workspaces.
 */
export async function isOperator(db: Db, caller: Caller): Promise<boolean> {
  if (caller.person) return leadsFirstWorkspace(db, caller.person);
  if (caller.actor.kind === 'command') return true;
  if (!may(caller, 'keys:write')) return false;
  const key = await db
    .selectFrom('api_keys')
    .select('of_operator')
    .where('workspace_id', '=', caller.workspaceId)
    .where('id', '=', caller.actor.id)
    .executeTakeFirst();
  return key?.of_operator ?? false;
}

/** Whether a key that the caller makes is an operator's too. */
export async function makesOperatorKeys(db: Db, caller: Caller): Promise<boolean> {
  const workspace = await db
    .selectFrom('workspaces')
    .select('slug')
    .where('id', '=', caller.workspaceId)
    .executeTakeFirst();
  return workspace?.slug === defaultSlug && isOperator(db, caller);
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
    'Only operators may create workspaces. Ask an owner or admin of the first workspace of this installation to create one and invite you. (The operator can set HOLDFAST_WORKSPACE_CREATION=everyone to let everyone create workspaces.)',
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
