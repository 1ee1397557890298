/** A person's own sessions: where they are signed in, and an end to it. */

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
  /** The one that asks. */
  current: boolean;
  address: string | null;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

export interface Sessions {
  /** The last one that began comes first, and of more than a hundred the oldest are left out. */
  list(person: Person): Promise<Session[]>;
  end(caller: Caller, person: Person, id: string): Promise<void>;
  /** Signs the person out everywhere, here too. */
  endAll(caller: Caller, person: Person): Promise<void>;
}

/** Each has what its browser calls itself, of up to 16 KB. More are ended by signing out everywhere. */
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

/** Forgets sessions that nobody may use any more, sign-ins that were not finished, and failures of long ago. */
export async function forgetOver(db: Db): Promise<void> {
  await sql`
    delete from sessions
    where expires_at < now() or updated_at < now() - make_interval(secs => ${sessionSeconds.unused})`.execute(
    db,
  );
  await sql`delete from verifications where expires_at < now()`.execute(db);
  await createSignInThrottle(db).forgetOld();
}
