/** A person's own sessions: list them, and end them. */

import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller, Person } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { auditWrite } from '../audit/audit.ts';
import { sessionSeconds } from './sign-in.ts';
import { createSignInThrottle } from './sign-in-throttle.ts';

export interface Session {
  id: string;
  /** The session of this request. */
  current: boolean;
  address: string | null;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

export interface Sessions {
  /** Newest first; beyond a hundred the oldest are left out. */
  list(person: Person): Promise<Session[]>;
  end(caller: Caller, person: Person, id: string): Promise<void>;
  /** Signs the person out everywhere, including this session. */
  endAll(caller: Caller, person: Person): Promise<void>;
}

/** Each session has a user agent of up to 16 KB. Signing out everywhere ends the unlisted ones too. */
const mostListed = 100;

export function createSessions(db: Db): Sessions {
  return {
    async list({ userId, sessionId }) {
      const rows = await db
        .selectFrom('sessions')
        .select(['id', 'ip_address', 'user_agent', 'created_at', 'updated_at', 'expires_at'])
        .where('user_id', '=', userId)
        .where('expires_at', '>', new Date())
        .orderBy('created_at', 'desc')
        .limit(mostListed)
        .execute();
      return rows.map((row) => ({
        id: row.id,
        current: row.id === sessionId,
        address: row.ip_address,
        userAgent: row.user_agent,
        createdAt: row.created_at,
        lastSeenAt: row.updated_at,
        expiresAt: row.expires_at,
      }));
    },

    end: (caller, { userId }, id) =>
      db.transaction().execute(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('sessions')
          .where('user_id', '=', userId)
          .where('id', '=', id)
          .executeTakeFirst();
        if (numDeletedRows === 0n) throw new AppError('resource_not_found', `You have no session ${id}.`);
        await insertAll(db, [auditWrite(caller, { action: 'session.end', targetId: id })]);
      }),

    endAll: (caller, { userId }) =>
      db.transaction().execute(async (db) => {
        await db.deleteFrom('sessions').where('user_id', '=', userId).execute();
        await insertAll(db, [auditWrite(caller, { action: 'session.end_all', targetId: userId })]);
      }),
  };
}

/** Deletes sessions that can no longer be used, unfinished sign-ins, and old sign-in failures. */
export async function forgetOver(db: Db): Promise<void> {
  await sql`
    delete from sessions
    where expires_at < now() or updated_at < now() - make_interval(secs => ${sessionSeconds.unused})`.execute(
    db,
  );
  await sql`delete from verifications where expires_at < now()`.execute(db);
  await createSignInThrottle(db).forgetOld();
}
