/** Who a person of the identity provider is here: finds or makes the account, and gives the role that the groups say. */
import { sql } from 'kysely';
import type { ProviderConfig } from '../../config/sign-in-settings.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { type Role, roles } from '../../runtime/caller.ts';
import { newId } from '../../runtime/ids.ts';
import { auditWrite } from '../audit/audit.ts';
import { mostPeople } from '../people/invitations.ts';
import { defaultSlug } from '../workspaces/workspaces.ts';
import type { Vouched } from './provider-client.ts';

/** The dashboard has the words for each: `dashboard/src/sign-in/problems.ts`. */
export type Problem = 'no_group' | 'no_email' | 'other_account' | 'no_account' | 'full';

export class NotAdmitted extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`the person is not admitted: ${problem}`);
    this.name = 'NotAdmitted';
    this.problem = problem;
  }
}

type Who = Pick<Vouched, 'issuer' | 'subject' | 'name' | 'email' | 'groups'>;

/**
 * The account of the person, in the role of their groups. Throws NotAdmitted if they may not sign in. An account with the same
 * verified email is linked; there is one only if somebody of this installation invited that address.
 */
export function enterPerson(
  db: Db,
  { roleByGroup }: Pick<ProviderConfig, 'roleByGroup'>,
  { who, requestId }: { who: Who; requestId: string | null },
): Promise<string> {
  const role = roleOf(roleByGroup, who.groups);
  if (roleByGroup.size > 0 && role === null) {
    throw new NotAdmitted('no_group');
  }
  return db.transaction().execute(async (db) => {
    // Two first sign-ins of one person make one account.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${who.issuer} ${who.subject}`}, 52))`.execute(
      db,
    );
    const known = await findIdentity(db, who);
    const userId = known ?? (await linkOrCreate(db, who, { mayCreate: role !== null }));
    const { id: workspaceId } = await db
      .selectFrom('workspaces')
      .select('id')
      .where('slug', '=', defaultSlug)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const actor = { kind: 'user', id: userId } as const;
    const caller = { workspaceId, actor, scopes: [], requestId };
    const writes: Write[] = [];
    if (!known) {
      const { issuer, subject } = who;
      writes.push({ table: 'identities', row: { issuer, subject, user_id: userId, created_at: new Date() } });
      writes.push(
        auditWrite(caller, { action: 'user.link_provider', targetId: userId, details: { issuer, subject } }),
      );
    }
    if (role) writes.push(...(await roleWrites(db, { workspaceId, userId, role, caller })));
    await insertAll(db, writes);
    return userId;
  });
}

/** The highest role that the groups give; null: none. */
export function roleOf(roleByGroup: ReadonlyMap<string, Role>, groups: readonly string[]): Role | null {
  const given = groups.flatMap((group) => roleByGroup.get(group) ?? []);
  return [...roles].reverse().find((role) => given.includes(role)) ?? null;
}

async function findIdentity(db: Db, { issuer, subject }: Who): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

async function linkOrCreate(db: Db, who: Who, { mayCreate }: { mayCreate: boolean }): Promise<string> {
  if (who.email === null) {
    throw new NotAdmitted('no_email');
  }
  const found = await db.selectFrom('users').select('id').where('email', '=', who.email).executeTakeFirst();
  if (found) {
    const other = await db
      .selectFrom('identities')
      .select('subject')
      .where('user_id', '=', found.id)
      .where('issuer', '=', who.issuer)
      .executeTakeFirst();
    if (!other) return found.id;
    throw new NotAdmitted('other_account');
  }
  if (!mayCreate) {
    throw new NotAdmitted('no_account');
  }
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

interface RoleChange {
  workspaceId: string;
  userId: string;
  role: Role;
  caller: Parameters<typeof auditWrite>[0];
}

/** The workspace is locked. The last owner stays one, whatever the groups say. */
async function roleWrites(db: Db, { workspaceId, userId, role, caller }: RoleChange): Promise<Write[]> {
  const members = await db
    .selectFrom('members')
    .select(['user_id', 'role'])
    .where('workspace_id', '=', workspaceId)
    .execute();
  const present = members.find(({ user_id }) => user_id === userId);
  const by = 'groups of the identity provider';
  if (!present) {
    if (members.length >= mostPeople) throw new NotAdmitted('full');
    const row = { workspace_id: workspaceId, user_id: userId, role, created_at: new Date() };
    return [
      { table: 'members', row },
      auditWrite(caller, { action: 'member.join', targetId: userId, details: { role, by } }),
    ];
  }
  if (present.role === role) return [];
  const owners = members.filter((one) => one.role === 'owner');
  if (present.role === 'owner' && owners.length === 1) return [];
  await db
    .updateTable('members')
    .set({ role })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .execute();
  const details = { role: { from: present.role, to: role }, by };
  return [auditWrite(caller, { action: 'member.update', targetId: userId, details })];
}
