/** Our own effects after each step of the sign-in library: codes work once, old sessions end, the audit log is written. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { SignedInBy } from '../../db/tables/people.ts';
import { AppError } from '../../runtime/errors.ts';
import { forgetLostFactors } from '../accounts/ended-sessions.ts';
import { doesSignInHere, leftToProvider } from '../accounts/signs-in-here.ts';
import { tellWorkspacesOf } from '../accounts/tell-workspaces.ts';
import type { AuditAction } from '../audit/actions.ts';
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
  /** What `passwordBefore` gave before the step. */
  passwordBefore: string | null;
  requestId: string;
}

export interface SignInEffects {
  /** With what the library is about to compare the password of a sign-in; null: there is nothing, or another step. */
  passwordBefore(path: SignInPath, asked: Record<string, unknown>): Promise<string | null>;
  /** Throws when the step must fail after all. */
  after(step: FinishedStep): Promise<void>;
}

/** A code is valid in its own half minute, the one before and the one after. */
const codeSeconds = 120;

export function createSignInEffects(db: Db): SignInEffects {
  async function entered({ answer, requestId }: FinishedStep, by: SignedInBy): Promise<void> {
    const session = await db
      .selectFrom('sessions')
      .select('id')
      .where('token', '=', String(answer.token))
      .executeTakeFirstOrThrow();
    await enterHere(db, { userId: userIdIn(answer), sessionId: session.id, by, requestId });
  }

  /** Some steps replace the session. What was proved in it is not more, and not less, in the new one. */
  async function sessionOf({ newToken }: FinishedStep, before: SignedIn) {
    if (newToken === null) return before;
    const { userId, sessionId, signedInBy, confirmedAt, hasSecondFactor } = before;
    const row = await db
      .updateTable('sessions')
      .set({ signed_in_by: signedInBy, confirmed_at: confirmedAt, second_factor: hasSecondFactor })
      .where('token', '=', newToken)
      .where('user_id', '=', userId)
      .returning('id')
      .executeTakeFirst();
    return { userId, sessionId: row?.id ?? sessionId };
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

  /** The password was changed while the old one was compared: what ended all sessions did not see this one yet. */
  async function refuseChanged({ asked, answer, passwordBefore }: FinishedStep): Promise<void> {
    const present = await findPassword(db, asked);
    if (present !== null && present.password === passwordBefore) return;
    await db.deleteFrom('sessions').where('token', '=', String(answer.token)).execute();
    if (present) await db.deleteFrom('verifications').where('value', '=', present.user_id).execute();
    throw new AppError('unauthorized', 'The password has just been changed. Sign in with the new one.');
  }

  return {
    passwordBefore: async (path, asked) =>
      path === 'sign-in/email' ? ((await findPassword(db, asked))?.password ?? null) : null,

    async after(step) {
      const { path, before, asked, answer } = step;
      switch (path) {
        case 'sign-in/email':
          await refuseChanged(step);
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
          if (before) {
            await sessionOf(step, before);
            await forgetLostFactors(db, before.userId);
          }
          return changed(step, 'user.two_factor', { enabled: false });
        case 'two-factor/generate-backup-codes':
          return changed(step, 'user.backup_codes');
        case 'change-password':
          if (before) {
            await sessionOf(step, before);
            // Of sign-ins that passed with the old password and wait for a code.
            await db.deleteFrom('verifications').where('value', '=', before.userId).execute();
          }
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

/** A session has begun with a password, a code or a passkey. Throws, and ends it, unless the person signs in here. */
export async function enterHere(db: Db, begun: BegunSession): Promise<void> {
  // Whoever is linked, demoted or reported gone in this moment is refused with the next request: find() asks again.
  if (!(await doesSignInHere(db, begun.userId))) {
    await db.deleteFrom('sessions').where('id', '=', begun.sessionId).execute();
    throw leftToProvider();
  }
  await noteEntry(db, begun);
}

/** Notes how a session began that the library does not know; `also` goes into the same commit. */
export function noteEntry(
  db: Db,
  { userId, sessionId, by, details, requestId }: BegunSession,
  also: (db: Db) => Promise<void> = async () => {},
): Promise<void> {
  return db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('sessions')
      .set({ signed_in_by: by, second_factor: by !== 'password' })
      .where('id', '=', sessionId)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new AppError('unauthorized', 'Your session has ended. Sign in again.');
    await also(db);
    await tellWorkspacesOf(
      db,
      { userId, requestId },
      { action: 'session.create', targetId: sessionId, details: { by, ...details } },
    );
  });
}

async function findPassword(
  db: Db,
  { email }: Record<string, unknown>,
): Promise<{ user_id: string; password: string | null } | null> {
  const row = await db
    .selectFrom('accounts as a')
    .innerJoin('users as u', 'u.id', 'a.user_id')
    .select(['a.user_id', 'a.password'])
    .where('a.provider_id', '=', 'credential')
    .where('u.email', '=', String(email).toLowerCase())
    .executeTakeFirst();
  return row ?? null;
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

function userIdIn({ user }: Record<string, unknown>): string {
  const { id } = Object(user) as { id?: unknown };
  if (typeof id !== 'string') throw new Error('the answer to a sign-in names nobody');
  return id;
}
