/** Sessions that the service ends by itself, with the reason in the audit log. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { tellWorkspacesOf } from './tell-workspaces.ts';

export function endSession(db: Db, sessionId: string, reason: string): Promise<void> {
  return db.transaction().execute(async (db) => {
    const gone = await db
      .deleteFrom('sessions')
      .where('id', '=', sessionId)
      .returning('user_id')
      .executeTakeFirst();
    if (!gone) return;
    await tellWorkspacesOf(
      db,
      { userId: gone.user_id, requestId: null },
      { action: 'session.end', targetId: sessionId, details: { reason } },
    );
  });
}

/** Inside a transaction: all sessions of the person, and sign-ins that wait for a code. */
export async function endSessionsOf(
  db: Db,
  { userId, requestId, reason }: { userId: string; requestId: string | null; reason: string },
): Promise<void> {
  await db.deleteFrom('verifications').where('value', '=', userId).execute();
  const ended = await db.deleteFrom('sessions').where('user_id', '=', userId).returning('id').execute();
  if (ended.length === 0) return;
  await tellWorkspacesOf(
    db,
    { userId, requestId },
    { action: 'session.end_all', targetId: userId, details: { reason } },
  );
}

/** A second factor that was used in a session counts no longer than the person has one. */
export async function forgetLostFactors(db: Db, userId: string): Promise<void> {
  await sql`
    update sessions set second_factor = false
    where user_id = ${userId} and second_factor and signed_in_by <> 'provider'
      and not exists (select 1 from users where id = ${userId} and two_factor_enabled)
      and not exists (select 1 from passkeys where user_id = ${userId})`.execute(db);
}
