/** Invitations: single-use links for becoming a member, also for the first owner; they create an account if needed. */
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { locks, withLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller, Role } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { passwordAccount } from '../accounts/password-account.ts';
import { auditWrite } from '../audit/audit.ts';
import { findWorkspace, operatorIn, requireRoomFor } from '../workspaces/workspaces.ts';
import { requireRankNow } from './members.ts';
import { hashPassword } from './password.ts';
import type { PasswordRules } from './password-rules.ts';

export interface Invitation {
  id: string;
  /** Null: anybody with the link. */
  email: string | null;
  role: Role;
  /** An expired one can only be revoked. */
  status: 'open' | 'expired';
  expiresAt: Date;
  createdAt: Date;
}

export interface OpenInvitation extends Invitation {
  workspaceId: string;
  workspaceName: string;
  /** Null: the service itself. */
  invitedBy: string | null;
  /** Whether the email has no account yet; null if the invitation has no email. */
  newAccount: boolean | null;
}

export interface NewAccount {
  name: string;
  email: string;
  password: string;
}

export interface Invitations {
  create(
    caller: Caller,
    input: { email: string | null; role: Role },
  ): Promise<{ invitation: Invitation; token: string }>;
  /** Open invitations, and recently expired ones that nobody accepted; newest first. */
  list(workspaceId: string): Promise<Invitation[]>;
  revoke(caller: Caller, id: string): Promise<void>;
  look(token: string): Promise<OpenInvitation>;
  /** For people without an account: creates one. */
  acceptAsNew(token: string, account: NewAccount, requestId: string): Promise<OpenInvitation>;
  /** For people who are signed in. */
  acceptAs(token: string, userId: string, requestId: string): Promise<OpenInvitation>;
  /** A new link for the first owner of the default workspace, which replaces earlier ones; null once there is an owner. */
  forFirstOwner(): Promise<string | null>;
}

const dayMs = 24 * 60 * 60 * 1000;
const daysValid = 7;
/**
 * Limit of members and open invitations per workspace, as their lists have no pages. Expired ones are older and come
 * last.
 */
export const mostPeople = 1_000;
/** How long an expired invitation is listed, so that the inviter sees that nobody accepted it. */
const daysListed = 90;

export interface InvitationsDeps {
  passwordRules: PasswordRules;
  /** Asks the identity provider about a person, so that what it no longer vouches for is withdrawn. */
  askAbout(userId: string): Promise<void>;
}

export function createInvitations(db: Db, { passwordRules, askAbout }: InvitationsDeps): Invitations {
  /** The person may have been removed there since the provider was last asked, which is while they are here. */
  async function askAboutInviter(token: string): Promise<void> {
    const { invitedBy } = await read(db, token, false);
    if (invitedBy !== null) await askAbout(invitedBy);
  }

  /** Marks the invitation as accepted, so that it cannot be accepted twice. */
  async function take(db: Db, token: string): Promise<OpenInvitation> {
    const invitation = await read(db, token, true);
    await db
      .updateTable('invitations')
      .set({ accepted_at: new Date() })
      .where('workspace_id', '=', invitation.workspaceId)
      .where('id', '=', invitation.id)
      .execute();
    return invitation;
  }

  async function join(db: Db, invitation: OpenInvitation, userId: string, requestId: string): Promise<void> {
    const { workspaceId, role, id } = invitation;
    const caller: Caller = { workspaceId, actor: { kind: 'user', id: userId }, scopes: [], requestId };
    await insertAll(db, [
      { table: 'members', row: { workspace_id: workspaceId, user_id: userId, role, created_at: new Date() } },
      auditWrite(caller, { action: 'member.join', targetId: userId, details: { role, invitation: id } }),
    ]);
  }

  return {
    async create(caller, { email, role }) {
      const token = newToken();
      const row = newRow({ workspaceId: caller.workspaceId, email, role, token });
      await db.transaction().execute(async (db) => {
        await requireRankNow(db, caller, [role]);
        await requireRoom(db, caller.workspaceId);
        await insertAll(db, [
          { table: 'invitations', row: { ...row, invited_by: caller.person?.userId ?? null } },
          auditWrite(caller, { action: 'invitation.create', targetId: row.id, details: { email, role } }),
        ]);
      });
      return { invitation: toInvitation(row), token };
    },

    async list(workspaceId) {
      const rows = await db
        .selectFrom('invitations')
        .select(['id', 'email', 'role', 'expires_at', 'created_at'])
        .where('workspace_id', '=', workspaceId)
        .where('accepted_at', 'is', null)
        .where('revoked_at', 'is', null)
        .where('invited_by', 'is not', null)
        .where('expires_at', '>', new Date(Date.now() - daysListed * dayMs))
        .orderBy('id', 'desc')
        .limit(mostPeople)
        .execute();
      return rows.map(toInvitation);
    },

    revoke: (caller, id) =>
      db.transaction().execute(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('invitations')
          .set({ revoked_at: new Date() })
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', id)
          .where('accepted_at', 'is', null)
          .where('revoked_at', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) {
          throw new AppError('resource_not_found', `There is no open invitation ${id}.`);
        }
        await insertAll(db, [auditWrite(caller, { action: 'invitation.revoke', targetId: id })]);
      }),

    look: (token) => read(db, token, false),

    async acceptAsNew(token, { name, email, password }, requestId) {
      // Without a valid link, the work below would be wasted.
      await askAboutInviter(token);
      await passwordRules.require(password, { name, email });
      // Before the transaction: hashing takes a while, and needs no locks.
      const hash = await hashPassword(password);
      try {
        return await db.transaction().execute(async (db) => {
          const invitation = await take(db, token);
          const address = email.trim().toLowerCase();
          if (invitation.email !== null && invitation.email !== address) {
            throw new AppError(
              'invalid_request',
              `email must be ${invitation.email}, the address that was invited.`,
            );
          }
          const userId = newId('usr');
          const now = new Date();
          await insertAll(db, [
            { table: 'users', row: { id: userId, name, email: address, created_at: now, updated_at: now } },
            { table: 'accounts', row: passwordAccount(userId, hash, now) },
          ]);
          await join(db, invitation, userId, requestId);
          return invitation;
        });
      } catch (error) {
        if (!violates(error, 'users_email_key')) throw error;
        throw new AppError(
          'conflict',
          'There is already an account with this email. Sign in, then open the link again.',
        );
      }
    },

    async acceptAs(token, userId, requestId) {
      await askAboutInviter(token);
      try {
        return await db.transaction().execute(async (db) => {
          const invitation = await take(db, token);
          const user = await db
            .selectFrom('users')
            .select('email')
            .where('id', '=', userId)
            .executeTakeFirst();
          if (invitation.email !== null && invitation.email !== user?.email) {
            throw new AppError(
              'forbidden',
              `This invitation is for ${invitation.email}. Sign in as that person to accept it.`,
            );
          }
          await requireRoomFor(db, userId);
          await join(db, invitation, userId, requestId);
          return invitation;
        });
      } catch (error) {
        if (!violates(error, 'members_pkey')) throw error;
        throw new AppError('conflict', 'You are already a member of this workspace.');
      }
    },

    forFirstOwner: () =>
      withLock(db, locks.firstStart, async (db) => {
        // Must come first: it waits for anybody accepting an earlier link, so that the query below sees that owner.
        await db
          .updateTable('invitations')
          .set({ revoked_at: new Date() })
          .where('invited_by', 'is', null)
          .where('accepted_at', 'is', null)
          .where('revoked_at', 'is', null)
          .execute();
        const owner = await db
          .selectFrom('members')
          .select('user_id')
          .where('role', '=', 'owner')
          .limit(1)
          .execute();
        if (owner.length > 0) return null;
        const workspace = await findWorkspace(db);
        const token = newToken();
        const row = newRow({ workspaceId: workspace.id, email: null, role: 'owner', token });
        await insertAll(db, [
          { table: 'invitations', row },
          auditWrite(operatorIn(workspace.id), {
            action: 'invitation.create',
            targetId: row.id,
            details: { role: 'owner' },
          }),
        ]);
        return token;
      }),
  };
}

/** The workspace must be locked, so that no two invitations take the last place. */
async function requireRoom(db: Db, workspaceId: string): Promise<void> {
  const { rows } = await sql<{ people: number }>`
    select (select count(*) from members where workspace_id = ${workspaceId})
      + (select count(*) from invitations where workspace_id = ${workspaceId} and accepted_at is null
           and revoked_at is null and expires_at > now()) as people`.execute(db);
  if ((rows[0]?.people ?? 0) < mostPeople) return;
  throw new AppError(
    'conflict',
    `The workspace has reached the limit of ${mostPeople} members and open invitations. Withdraw an invitation or remove a member first.`,
  );
}

/** `held` locks the row until the transaction ends, for accepting it. */
async function read(db: Db, token: string, held: boolean): Promise<OpenInvitation> {
  const { rows } = await sql<OpenRow>`
    select i.workspace_id, w.name as workspace_name, i.id, i.email, i.role, i.expires_at, i.created_at, i.invited_by,
           case when i.email is null then null
                else not exists (select 1 from users u where u.email = i.email) end as new_account
    from invitations i join workspaces w on w.id = i.workspace_id
    where i.token_hash = ${hashToken(token)} and i.accepted_at is null and i.revoked_at is null
      and i.expires_at > now()
    ${held ? sql`for update of i` : sql``}`.execute(db);
  const [row] = rows;
  if (!row) {
    throw new AppError(
      'resource_not_found',
      'This link is not valid: it was used, withdrawn or replaced, or it has expired. Ask for a new one.',
    );
  }
  return {
    ...toInvitation(row),
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    invitedBy: row.invited_by,
    newAccount: row.new_account,
  };
}

interface InvitationRow {
  id: string;
  email: string | null;
  role: Role;
  expires_at: Date;
  created_at: Date;
}

interface OpenRow extends InvitationRow {
  workspace_id: string;
  workspace_name: string;
  invited_by: string | null;
  new_account: boolean | null;
}

function newRow(of: { workspaceId: string; email: string | null; role: Role; token: string }) {
  const now = new Date();
  return {
    workspace_id: of.workspaceId,
    id: newId('inv'),
    email: of.email?.trim().toLowerCase() ?? null,
    role: of.role,
    token_hash: hashToken(of.token),
    expires_at: new Date(now.getTime() + daysValid * dayMs),
    created_at: now,
  };
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    status: row.expires_at > new Date() ? 'open' : 'expired',
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  };
}

function newToken(): string {
  return randomBytes(24).toString('base64url');
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
