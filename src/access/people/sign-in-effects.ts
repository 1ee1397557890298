/** Our own effects after each step of the sign-in library: codes work once, old sessions end, the audit log is written. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { SignedInBy } from '../../db/tables/people.ts';
import { insertAll } from '../../db/writes.ts';
import { AppError } from '../../runtime/errors.ts';
import type { AuditAction } from '../audit/actions.ts';
import { type AuditedChange, auditWrite } from '../audit/audit.ts';
import { listWorkspacesOf } from '../workspaces/workspaces.ts';
import { isPassword } from './password.ts';
import type { SignedIn, SignInPath } from './sign-in.ts';

export interface FinishedStep {
  path: SignInPath;
  /** The session that the request came with. */
  before: SignedIn | null;
  asked: Record<string, unknown>;
  answer: Record<string, unknown>;
  /** Of the session whose cookie the answer sets; null: none. */
  newToken: string | null;
  requestId: string;
}

export interface SignInEffects {
  /** Throws when the step must fail after all. */
  after(step: FinishedStep): Promise<void>;
}

/** A code is valid in its own half minute, the one before and the one after. */
const codeSeconds = 120;

/** `hasProvider`: people whom the identity provider knows sign in there, except owners. */
export function createSignInEffects(db: Db, { hasProvider }: { hasProvider: boolean }): SignInEffects {
  async function entered({ answer, requestId }: FinishedStep, by: SignedInBy): Promise<void> {
    const userId = userIdIn(answer);
    if (hasProvider && (await belongsToProvider(db, userId))) {
      await db.deleteFrom('sessions').where('token', '=', String(answer.token)).execute();
      throw leftToProvider();
    }
    const session = await db
      .updateTable('sessions')
      .set({ signed_in_by: by, second_factor: by !== 'password' })
      .where('token', '=', String(answer.token))
      .returning('id')
      .executeTakeFirstOrThrow();
    await tellWorkspacesOf(
      db,
      { userId, requestId },
      { action: 'session.create', targetId: session.id, details: { by } },
    );
  }

  /** Turning two-factor on replaces the session; only the new cookie says by which. */
  async function sessionOf({ newToken }: FinishedStep, before: SignedIn) {
    if (newToken === null) return before;
    const row = await db
      .selectFrom('sessions')
      .select('id')
      .where('token', '=', newToken)
      .where('user_id', '=', before.userId)
      .executeTakeFirst();
    return { userId: before.userId, sessionId: row?.id ?? before.sessionId };
  }

  async function useCode({ asked, answer }: FinishedStep): Promise<void> {
    if (await isFirstUse(db, userIdIn(answer), String(asked.code))) return;
    await db.deleteFrom('sessions').where('token', '=', String(answer.token)).execute();
    throw usedCode();
  }

  async function changed(step: FinishedStep, action: AuditAction, details = {}): Promise<void> {
    const { before, requestId } = step;
    if (!before) return;
    await tellWorkspacesOf(
      db,
      { userId: before.userId, requestId },
      { action, targetId: before.userId, details },
    );
  }

  async function left({ before, requestId }: FinishedStep): Promise<void> {
    if (!before) return;
    const { userId, sessionId } = before;
    await db.deleteFrom('sessions').where('id', '=', sessionId).execute();
    await tellWorkspacesOf(db, { userId, requestId }, { action: 'session.end', targetId: sessionId });
  }

  return {
    async after(step) {
      const { path, before, asked, answer } = step;
      switch (path) {
        case 'sign-in/email':
          // One session per browser: the previous one ends.
          await left(step);
          return answer.twoFactorRedirect === true ? undefined : entered(step, 'password');
        case 'two-factor/verify-totp':
          if (before) {
            // Used up, so that anybody who saw it typed cannot sign in or confirm with it.
            const isFirst = await isFirstUse(db, before.userId, String(asked.code));
            if (before.twoFactor && !isFirst) throw usedCode();
            if (!before.twoFactor) await changed(step, 'user.two_factor', { enabled: true });
            return confirmSession(db, await sessionOf(step, before), {
              by: 'code',
              requestId: step.requestId,
            });
          }
          await useCode(step);
          return entered(step, 'code');
        case 'two-factor/verify-backup-code':
          if (before) return confirmSession(db, before, { by: 'backup code', requestId: step.requestId });
          return entered(step, 'backup code');
        case 'two-factor/enable':
          // Takes effect only with the first code.
          return;
        case 'two-factor/disable':
          return changed(step, 'user.two_factor', { enabled: false });
        case 'two-factor/generate-backup-codes':
          return changed(step, 'user.backup_codes');
        case 'change-password':
          // Of sign-ins that passed with the old password and wait for a code.
          if (before) await db.deleteFrom('verifications').where('value', '=', before.userId).execute();
          return changed(step, 'user.change_password');
        case 'update-user':
          return changed(step, 'user.update', { name: asked.name });
        case 'sign-out':
          return left(step);
      }
    },
  };
}

export interface BegunSession {
  userId: string;
  sessionId: string;
  by: SignedInBy;
  details?: Record<string, unknown>;
  requestId: string;
}

/** Notes how a session began that the library does not know; `also` goes into the same commit. */
export function noteEntry(
  db: Db,
  { userId, sessionId, by, details, requestId }: BegunSession,
  also: (db: Db) => Promise<void> = async () => {},
): Promise<void> {
  return db.transaction().execute(async (db) => {
    await db
      .updateTable('sessions')
      .set({ signed_in_by: by, second_factor: true })
      .where('id', '=', sessionId)
      .execute();
    await also(db);
    await tellWorkspacesOf(
      db,
      { userId, requestId },
      { action: 'session.create', targetId: sessionId, details: { by, ...details } },
    );
  });
}

export async function isPasswordOf(db: Db, userId: string, password: string): Promise<boolean> {
  const account = await db
    .selectFrom('accounts')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .executeTakeFirst();
  return account?.password != null && isPassword(password, account.password);
}

/** The person has proved in this session who they are: what needs that is open to it for some minutes. */
export function confirmSession(
  db: Db,
  { userId, sessionId }: Pick<SignedIn, 'userId' | 'sessionId'>,
  { by, requestId }: { by: SignedInBy; requestId: string },
): Promise<void> {
  return db.transaction().execute(async (db) => {
    await db
      .updateTable('sessions')
      .set({ confirmed_at: sql`now()`, ...(by !== 'password' && { second_factor: true }) })
      .where('id', '=', sessionId)
      .execute();
    await tellWorkspacesOf(
      db,
      { userId, requestId },
      { action: 'session.confirm', targetId: sessionId, details: { by } },
    );
  });
}

/**
 * Whether the identity provider decides alone whether this person may sign in. Otherwise, somebody whom it removed would
 * come back with an old password. Owners keep theirs, for when the provider is away.
 */
export async function belongsToProvider(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from identities i where i.user_id = ${userId}
    and not exists (select 1 from members m where m.user_id = i.user_id and m.role = 'owner')`.execute(db);
  return rows.length > 0;
}

export function leftToProvider(): AppError {
  return new AppError('forbidden', 'Your account belongs to the identity provider: sign in with it.');
}

function usedCode(): AppError {
  return new AppError('unauthorized', 'This code has already been used. Wait for the next one.');
}

/** Uses up a code. If it is used twice at once, the second use waits for the row of the first. */
async function isFirstUse(db: Db, userId: string, code: string): Promise<boolean> {
  const id = `code ${userId} ${createHash('sha256').update(code).digest('base64url')}`;
  const { rows } = await sql`
    insert into verifications as v (id, identifier, value, expires_at)
    values (${id}, ${id}, 'used', now() + make_interval(secs => ${codeSeconds}))
    on conflict (id) do update set expires_at = excluded.expires_at where v.expires_at < now()
    returning 1`.execute(db);
  return rows.length > 0;
}

/** Writes to the audit log of each of the person's workspaces: a sign-in gives access to all of them. */
export async function tellWorkspacesOf(
  db: Db,
  { userId, requestId }: { userId: string; requestId: string | null },
  change: AuditedChange,
): Promise<void> {
  const actor = { kind: 'user', id: userId } as const;
  const workspaces = await listWorkspacesOf(db, userId);
  await insertAll(
    db,
    workspaces.map(({ id: workspaceId }) =>
      auditWrite({ workspaceId, actor, scopes: [], requestId }, change),
    ),
  );
}

function userIdIn({ user }: Record<string, unknown>): string {
  const { id } = Object(user) as { id?: unknown };
  if (typeof id !== 'string') throw new Error('the answer to a sign-in names nobody');
  return id;
}
