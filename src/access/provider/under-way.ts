/** Sign-ins that are under way at the identity provider: kept until the person comes back, and taken once. */
import { createHash } from 'node:crypto';
import type { Db } from '../../db/database.ts';
import type { Expected } from './provider-client.ts';

/** A sign-in that is under way. */
export interface UnderWay extends Expected {
  /** The page to go to afterwards. */
  to: string;
  /** The session to confirm, or whose account is to be linked; null: a new one begins. */
  sessionId: string | null;
  links: boolean;
}

export const minutesValid = 10;

function idOf(state: string): string {
  return `provider ${createHash('sha256').update(state).digest('base64url')}`;
}

export async function keepUnderWay(db: Db, underWay: UnderWay): Promise<void> {
  const id = idOf(underWay.state);
  const now = new Date();
  await db
    .insertInto('verifications')
    .values({
      id,
      identifier: id,
      value: JSON.stringify(underWay),
      expires_at: new Date(now.getTime() + minutesValid * 60_000),
      created_at: now,
      updated_at: now,
    })
    .execute();
}

export async function takeUnderWay(db: Db, state: string): Promise<UnderWay | null> {
  const row = await db
    .deleteFrom('verifications')
    .where('id', '=', idOf(state))
    .where('expires_at', '>', new Date())
    .returning('value')
    .executeTakeFirst();
  return row ? JSON.parse(row.value) : null;
}

/** Whose session it is; null: it has ended. */
export async function findOwner(db: Db, sessionId: string): Promise<string | null> {
  const row = await db
    .selectFrom('sessions')
    .select('user_id')
    .where('id', '=', sessionId)
    .where('expires_at', '>', new Date())
    .executeTakeFirst();
  return row?.user_id ?? null;
}
