/** Who a person of the identity provider is here: finds, links or makes the account, and gives the role that the groups say. */
import { sql } from 'kysely';
import type { ProviderConfig } from '../../config/sign-in-settings.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { type Caller, type Role, roles } from '../../runtime/caller.ts';
import { newId } from '../../runtime/ids.ts';
import type { AuditAction } from '../audit/actions.ts';
import { auditWrite } from '../audit/audit.ts';
import { mostPeople } from '../people/invitations.ts';
import { withdrawInvitations } from '../people/members.ts';
import { defaultSlug } from '../workspaces/workspaces.ts';
import { noteBack, noteGone } from './gone.ts';
import { dropOwnWays, linkAccount } from './link.ts';
import type { Vouched } from './provider-client.ts';

/** The dashboard has the words for each: `dashboard/src/sign-in/problems.ts`. */
export type Problem =
  | 'no_group'
  | 'no_email'
  | 'other_email'
  | 'other_account'
  | 'unproved_account'
  | 'no_account'
  | 'full';

export class NotAdmitted extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`the person is not admitted: ${problem}`);
    this.name = 'NotAdmitted';
    this.problem = problem;
  }
}

type Who = Pick<Vouched, 'issuer' | 'subject' | 'name' | 'email' | 'groups'>;

export interface Entering {
  who: Who;
  requestId: string | null;
  /** When the provider was asked, unless the person has just come from there. */
  askedAt?: Date;
  /** The account whose holder has proved in a session that it is theirs, and wants it linked. */
  proved?: string | undefined;
}

/**
 * The account of the person, in the role of their groups. Throws NotAdmitted if they may not sign in. An email leads to an
 * account that exists only if a provider has verified it before: whoever has an invitation has chosen it, or was sent it.
 */
export async function enterPerson(
  db: Db,
  { roleByGroup }: Pick<ProviderConfig, 'roleByGroup'>,
  { who, requestId, askedAt, proved }: Entering,
): Promise<string> {
  const { issuer, subject } = who;
  const role = roleOf(roleByGroup, who.groups);
  if (roleByGroup.size > 0 && role === null) {
    const reason = 'the identity provider puts the person into no group that has a role';
    await db.transaction().execute((db) => noteGone(db, who, { reason, requestId }));
    throw new NotAdmitted('no_group');
  }
  return db.transaction().execute(async (db) => {
    // Two first sign-ins of one person make one account.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${issuer} ${subject}`}, 52))`.execute(db);
    const known = await findIdentity(db, who);
    if (known !== null && proved !== undefined && known !== proved) throw new NotAdmitted('other_account');
    const userId =
      known ??
      (proved === undefined
        ? await findOrCreate(db, who, { mayCreate: role !== null })
        : await findProved(db, who, proved));
    const { id: workspaceId } = await db
      .selectFrom('workspaces')
      .select('id')
      .where('slug', '=', defaultSlug)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const actor = { kind: 'user', id: userId } as const;
    const caller = { workspaceId, actor, scopes: [], requestId };
    if (known === null) await linkAccount(db, { userId, workspaceId, issuer, subject, requestId });
    else await noteBack(db, who, askedAt ?? null);
    if (role) await giveRole(db, { userId, role, caller });
    if (known === null) await dropOwnWays(db, userId);
    return userId;
  });
}

/** Who is known here already; null: nobody. */
export async function findIdentity(
  db: Db,
  { issuer, subject }: Pick<Who, 'issuer' | 'subject'>,
): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

/** The highest role that the groups give; null: none. */
export function roleOf(roleByGroup: ReadonlyMap<string, Role>, groups: readonly string[]): Role | null {
  const given = groups.flatMap((group) => roleByGroup.get(group) ?? []);
  return [...roles].reverse().find((role) => given.includes(role)) ?? null;
}

async function findOrCreate(db: Db, who: Who, { mayCreate }: { mayCreate: boolean }): Promise<string> {
  if (who.email === null) throw new NotAdmitted('no_email');
  const { rows } = await sql<{ id: string; is_linked: boolean; is_proved: boolean }>`
    select u.id, exists (select 1 from identities i where i.user_id = u.id and i.issuer = ${who.issuer}) as is_linked,
           u.email_verified
             and not exists (select 1 from identities i where i.user_id = u.id and i.gone_at is not null) as is_proved
    from users u where u.email = ${who.email}`.execute(db);
  const [found] = rows;
  if (found) {
    if (found.is_linked) throw new NotAdmitted('other_account');
    if (!found.is_proved) throw new NotAdmitted('unproved_account');
    return found.id;
  }
  if (!mayCreate) throw new NotAdmitted('no_account');
  const now = new Date();
  const id = newId('usr');
  const { email, name } = who;
  await insertAll(db, [
    {
      table: 'users',
      row: { id, name: name ?? email, email, email_verified: true, created_at: now, updated_at: now },
    },
  ]);
  return id;
}

/** Only under the same email, or the account would be known here by the email of somebody else. */
async function findProved(db: Db, who: Who, userId: string): Promise<string> {
  if (who.email === null) throw new NotAdmitted('no_email');
  const { email } = await db
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  if (email !== who.email) throw new NotAdmitted('other_email');
  const other = await db
    .selectFrom('identities')
    .select('subject')
    .where('user_id', '=', userId)
    .where('issuer', '=', who.issuer)
    .executeTakeFirst();
  if (other) throw new NotAdmitted('other_account');
  return userId;
}

interface RoleChange {
  userId: string;
  role: Role;
  caller: Caller;
}

/** The workspace is locked. The last owner stays one, whatever the groups say. */
async function giveRole(db: Db, { userId, role, caller }: RoleChange): Promise<void> {
  const { workspaceId } = caller;
  const members = await db
    .selectFrom('members')
    .select(['user_id', 'role'])
    .where('workspace_id', '=', workspaceId)
    .execute();
  const present = members.find(({ user_id }) => user_id === userId);
  const by = 'groups of the identity provider';
  const write = (action: AuditAction, details: object): Write =>
    auditWrite(caller, { action, targetId: userId, details: { ...details, by } });
  if (!present) {
    if (members.length >= mostPeople) throw new NotAdmitted('full');
    const row = { workspace_id: workspaceId, user_id: userId, role, created_at: new Date() };
    await insertAll(db, [{ table: 'members', row }, write('member.join', { role })]);
    return;
  }
  if (present.role === role) return;
  const owners = members.filter((one) => one.role === 'owner');
  if (present.role === 'owner' && owners.length === 1) return;
  await db
    .updateTable('members')
    .set({ role })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .execute();
  await insertAll(db, [write('member.update', { role: { from: present.role, to: role } })]);
  await withdrawInvitations(db, caller, { of: userId, remaining: role, by });
}
