/**
 * For what a stolen cookie must not be enough for: the session must have begun with a password, and the second factor where
 * there is one, not long ago.
 */
import type { Db } from '../../db/database.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';

/** Throws step_up_required unless the caller has just shown who they are. */
export type RequireFreshSession = (caller: Caller) => Promise<void>;

export const freshMinutes = 10;

export function createFreshSession(db: Db): RequireFreshSession {
  return async ({ person }) => {
    if (!person) throw new AppError('forbidden', 'This is for people who are signed in, not for API keys.');
    const session = await db
      .selectFrom('sessions')
      .select('created_at')
      .where('user_id', '=', person.userId)
      .where('id', '=', person.sessionId)
      .executeTakeFirst();
    if (session && session.created_at.getTime() > Date.now() - freshMinutes * 60_000) return;
    throw new AppError(
      'step_up_required',
      `You signed in more than ${freshMinutes} minutes ago. Sign in again and repeat this, so that a stolen session is not enough for it.`,
    );
  };
}
