/** Members of a workspace: who they are, their roles, and the rule that at least one owner remains. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { type Caller, isAtLeast, type Role, roles } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { auditWrite } from '../audit/audit.ts';

export interface Member {
  userId: string;
  name: string;
  email: string;
  role: Role;
  twoFactor: boolean;
  joinedAt: Date;
}

export interface Members {
  /** In order of joining. */
  list(workspaceId: string): Promise<Member[]>;
  changeRole(caller: Caller, userId: string, role: Role): Promise<Member>;
  remove(caller: Caller, userId: string): Promise<void>;
}

export async function isMember(db: Db, workspaceId: string, userId: string): Promise<boolean> {
  const member = await db
    .selectFrom('members')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return member !== undefined;
}

/** The role of a person; it cannot change until the transaction ends. Null: not a member. */
export async function roleNow(db: Db, workspaceId: string, userId: string): Promise<Role | null> {
  // Changes of roles take the full lock of the row.
  await sql`select 1 from workspaces where id = ${workspaceId} for key share`.execute(db);
  const member = await db
    .selectFrom('members')
    .select('role')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return member?.role ?? null;
}

/** How many members have this role or a higher one. */
export async function countAtLeast(db: Db, workspaceId: string, needed: Role): Promise<number> {
  const { people } = await db
    .selectFrom('members')
    .select((select) => select.fn.countAll<number>().as('people'))
    .where('workspace_id', '=', workspaceId)
    .where(
      'role',
      'in',
      roles.filter((role) => isAtLeast(role, needed)),
    )
    .executeTakeFirstOrThrow();
  return Number(people);
}

export function createMembers(db: Db): Members {
  return {
    list: (workspaceId) => readMembers(db, workspaceId),

    changeRole: (caller, userId, role) =>
      db.transaction().execute(async (db) => {
        const members = await holdMembers(db, caller.workspaceId);
        const member = requireMember(members, userId);
        requireRank(presentRole(members, caller), [member.role, role]);
        if (member.role === role) return member;
        if (member.role === 'owner') requireOtherOwner(members, userId);
        await db
          .updateTable('members')
          .set({ role })
          .where('workspace_id', '=', caller.workspaceId)
          .where('user_id', '=', userId)
          .execute();
        const details = { role: { from: member.role, to: role } };
        await insertAll(db, [auditWrite(caller, { action: 'member.update', targetId: userId, details })]);
        await withdrawInvitations(db, caller, { of: userId, remaining: role });
        return { ...member, role };
      }),

    remove: (caller, userId) =>
      db.transaction().execute(async (db) => {
        const members = await holdMembers(db, caller.workspaceId);
        const member = requireMember(members, userId);
        // Everybody may leave by themselves.
        if (caller.person?.userId !== userId) requireRank(presentRole(members, caller), [member.role]);
        if (member.role === 'owner') requireOtherOwner(members, userId);
        await db
          .deleteFrom('members')
          .where('workspace_id', '=', caller.workspaceId)
          .where('user_id', '=', userId)
          .execute();
        const details = { email: member.email, role: member.role };
        await insertAll(db, [auditWrite(caller, { action: 'member.remove', targetId: userId, details })]);
        await withdrawInvitations(db, caller, { of: userId, remaining: null });
      }),
  };
}

/** Only owners may touch owners; admins may touch the others. Locks the members until the transaction ends. */
export async function requireRankNow(db: Db, caller: Caller, touched: Role[]): Promise<void> {
  requireRank(presentRole(await holdMembers(db, caller.workspaceId), caller), touched);
}

function requireRank(role: Role | null, touched: Role[]): void {
  if (touched.every((one) => mayTouch(role, one))) return;
  const needed = touched.includes('owner') ? 'owner' : 'admin';
  throw new AppError('forbidden', `This needs the role ${needed} in the workspace.`);
}

function mayTouch(role: Role | null, touched: Role): boolean {
  return role !== null && isAtLeast(role, touched === 'owner' ? 'owner' : 'admin');
}

/** Not the role at the start of the request: it may have changed since. */
function presentRole(members: Member[], { person }: Caller): Role | null {
  return members.find(({ userId }) => userId === person?.userId)?.role ?? null;
}

/** Revokes open invitations that a person may no longer issue, so that nobody returns through a link of their own. */
export async function withdrawInvitations(
  db: Db,
  caller: Caller,
  { of, remaining, by }: { of: string; remaining: Role | null; by?: string },
): Promise<void> {
  const gone = roles.filter((role) => !mayTouch(remaining, role));
  if (gone.length === 0) return;
  const withdrawn = await db
    .updateTable('invitations')
    .set({ revoked_at: new Date() })
    .where('workspace_id', '=', caller.workspaceId)
    .where('invited_by', '=', of)
    .where('role', 'in', gone)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  await insertAll(
    db,
    withdrawn.map(({ id }) =>
      auditWrite(caller, { action: 'invitation.revoke', targetId: id, ...(by && { details: { by } }) }),
    ),
  );
}

/** Locks the workspace until the transaction ends, so that two owners cannot remove each other at the same time. */
async function holdMembers(db: Db, workspaceId: string): Promise<Member[]> {
  await sql`select 1 from workspaces where id = ${workspaceId} for update`.execute(db);
  return readMembers(db, workspaceId);
}

async function readMembers(db: Db, workspaceId: string): Promise<Member[]> {
  const rows = await db
    .selectFrom('members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['m.user_id', 'u.name', 'u.email', 'm.role', 'u.two_factor_enabled', 'm.created_at'])
    .where('m.workspace_id', '=', workspaceId)
    .orderBy('m.created_at')
    .orderBy('m.user_id')
    .execute();
  return rows.map((row) => ({
    userId: row.user_id,
    name: row.name,
    email: row.email,
    role: row.role,
    twoFactor: row.two_factor_enabled,
    joinedAt: row.created_at,
  }));
}

function requireMember(members: Member[], userId: string): Member {
  const member = members.find((member) => member.userId === userId);
  if (member) return member;
  throw new AppError('resource_not_found', `There is no member ${userId}.`);
}

function requireOtherOwner(members: Member[], userId: string): void {
  if (members.some((member) => member.role === 'owner' && member.userId !== userId)) return;
  throw new AppError(
    'conflict',
    'A workspace must have at least one owner. Make somebody else an owner first.',
  );
}

/** A user, regardless of workspace. */
export async function findUser(
  db: Db,
  userId: string,
): Promise<{ id: string; name: string; email: string; twoFactor: boolean }> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'name', 'email', 'two_factor_enabled'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return { id: user.id, name: user.name, email: user.email, twoFactor: user.two_factor_enabled };
}
