/** Operators: people who run the installation, not only a workspace in it. */

import type { Db } from '../../db/database.ts';
import { type Caller, isAtLeast, may, type Person } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { defaultSlug } from '../workspaces/workspaces.ts';

/**
 * Operators are the owners and admins of the first workspace, in whichever workspace they act, the command line, and API
 * keys of the first workspace that an operator created and that may create keys. Each privilege of operators checks this
 * explicitly; everything else is limited to workspaces.
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

/** Whether keys that the caller creates are operator keys. */
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

/** If the first workspace requires a second factor, so does what its owners and admins may do elsewhere. */
async function leadsFirstWorkspace(db: Db, { userId, hasSecondFactor }: Person): Promise<boolean> {
  const member = await db
    .selectFrom('members as m')
    .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
    .select(['m.role', 'w.require_second_factor'])
    .where('w.slug', '=', defaultSlug)
    .where('m.user_id', '=', userId)
    .executeTakeFirst();
  if (!member || (member.require_second_factor && !hasSecondFactor)) return false;
  return isAtLeast(member.role, 'admin');
}
