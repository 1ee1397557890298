/** What follows when the identity provider no longer vouches for somebody, and when it does again. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { endSessionsOf } from '../accounts/ended-sessions.ts';
import { withdrawInvitations } from '../people/members.ts';
import { listWorkspacesOf } from '../workspaces/workspaces.ts';

/** What the provider calls a person. */
export interface Identity {
  issuer: string;
  subject: string;
}

/**
 * Inside a transaction. All sessions end, open invitations are withdrawn, and nothing but the provider, or the operator, lets
 * the person in again.
 */
export async function noteGone(
  db: Db,
  { issuer, subject }: Identity,
  { reason, requestId }: { reason: string; requestId: string | null },
): Promise<void> {
  const found = await db
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  if (!found) return;
  const userId = found.user_id;
  await db
    .updateTable('identities')
    .set({ gone_at: sql`now()` })
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('gone_at', 'is', null)
    .execute();
  await endSessionsOf(db, { userId, requestId, reason });
  for (const { id: workspaceId } of await listWorkspacesOf(db, userId)) {
    const caller = { workspaceId, actor: { kind: 'user', id: userId } as const, scopes: [], requestId };
    await withdrawInvitations(db, caller, { of: userId, remaining: null, by: 'identity provider' });
  }
}

/** `askedAt`: an answer that was on its way when another one said gone takes nothing back. */
export async function noteBack(db: Db, { issuer, subject }: Identity, askedAt: Date | null): Promise<void> {
  await db
    .updateTable('identities')
    .set({ gone_at: null })
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('gone_at', '<', askedAt === null ? sql<Date>`now()` : askedAt)
    .execute();
}
