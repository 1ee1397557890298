/**
 * Sessions that the identity provider vouches for. It is asked again while a session is used, so that nobody is answered
 * whom it removed a minute ago. While it cannot be reached, sessions go on for some minutes, and then end.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { ProviderConfig } from '../../config/sign-in-settings.ts';
import type { Db } from '../../db/database.ts';
import { endSession } from '../accounts/ended-sessions.ts';
import { isSameIssuer } from '../accounts/signs-in-here.ts';
import { noteGone } from './gone.ts';
import type { ProviderClient, Tokens, Vouched } from './provider-client.ts';
import { enterPerson, NotAdmitted } from './provider-people.ts';

export interface ProviderSessions {
  begin(db: Db, sessionId: string, vouched: Vouched): Promise<void>;
  /** Whether a session of the provider may go on; ends it if not. `ageSeconds`: since the provider last vouched for it. */
  mayGoOn(sessionId: string, ageSeconds: number): Promise<boolean>;
  /** Asks the provider about a person who is not here themselves, as far as a session of theirs lets it. */
  askAbout(userId: string): Promise<void>;
}

/** Younger: nothing is asked. Older: asked beside the request, and above `mostSeconds` before it is answered. */
const askAfterSeconds = 25;
const mostSeconds = 50;
/** Longer than a request to the provider takes; only then another node may ask for the same session. */
const tryAgainSeconds = 12;

export interface ProviderSessionsDeps {
  db: Db;
  client: Pick<ProviderClient, 'askAgain'>;
  config: Pick<ProviderConfig, 'roleByGroup' | 'sessionMinutes' | 'issuer'>;
  /** 32 bytes; seals the tokens. */
  secret: Buffer;
  log: Logger;
}

interface State {
  ageSeconds: number;
  triedSeconds: number;
  isAway: boolean;
}

export function createProviderSessions(deps: ProviderSessionsDeps): ProviderSessions {
  const { db, client, config, secret, log } = deps;
  const running = new Map<string, Promise<void>>();

  /** At most one node asks for a session at a time: a refresh token works once. */
  async function ask(sessionId: string): Promise<void> {
    const row = await db
      .updateTable('provider_sessions as p')
      .set({ tried_at: sql`now()` })
      .from('sessions as s')
      .whereRef('s.id', '=', 'p.session_id')
      .where('p.session_id', '=', sessionId)
      .where(sql<boolean>`p.checked_at < now() - make_interval(secs => ${askAfterSeconds})`)
      .where(
        sql<boolean>`(p.tried_at <= p.checked_at or p.tried_at < now() - make_interval(secs => ${tryAgainSeconds}))`,
      )
      .returning(['p.subject', 'p.issuer', 'p.tokens', 'p.tried_at'])
      .executeTakeFirst();
    if (!row) return;
    const { issuer, subject } = row;
    // The provider that is configured by now knows neither the person nor the tokens.
    if (!isSameIssuer(issuer, config.issuer)) {
      return endSession(db, sessionId, 'another identity provider is configured');
    }
    const standing = await client.askAgain(subject, unsealTokens(secret, sessionId, row.tokens));
    if (standing === 'away') {
      log.warn({ sessionId }, 'the identity provider gave no usable answer');
      await db
        .updateTable('provider_sessions')
        .set({ away_since: sql`coalesce(away_since, now())` })
        .where('session_id', '=', sessionId)
        .execute();
      return;
    }
    if (standing === 'over') return endSession(db, sessionId, 'the token of the identity provider has ended');
    if (standing === 'gone') {
      const reason = 'the identity provider no longer vouches for the person';
      return db.transaction().execute((db) => noteGone(db, { issuer, subject }, { reason, requestId: null }));
    }
    try {
      const who = { ...standing, issuer };
      await enterPerson(db, config, { who, requestId: null, askedAt: row.tried_at });
    } catch (error) {
      if (!(error instanceof NotAdmitted)) throw error;
      return endSession(db, sessionId, error.message);
    }
    await db
      .updateTable('provider_sessions')
      .set({
        tokens: sealTokens(secret, sessionId, standing.tokens),
        checked_at: sql`now()`,
        away_since: null,
      })
      .where('session_id', '=', sessionId)
      .execute();
  }

  function askOnce(sessionId: string): Promise<void> {
    const asking =
      running.get(sessionId) ??
      ask(sessionId)
        .catch((error) => log.error({ err: error, sessionId }, 'could not ask the identity provider'))
        .finally(() => running.delete(sessionId));
    running.set(sessionId, asking);
    return asking;
  }

  async function read(sessionId: string): Promise<State | null> {
    const { rows } = await sql<State>`
      select extract(epoch from now() - checked_at)::float8 as "ageSeconds",
             extract(epoch from now() - tried_at)::float8 as "triedSeconds",
             away_since is not null as "isAway"
      from provider_sessions where session_id = ${sessionId}`.execute(db);
    return rows[0] ?? null;
  }

  async function mayGoOn(sessionId: string, ageSeconds: number): Promise<boolean> {
    if (ageSeconds < askAfterSeconds) return true;
    const asking = askOnce(sessionId);
    if (ageSeconds < mostSeconds) return true;
    await asking;
    for (;;) {
      const state = await read(sessionId);
      if (!state) return false;
      if (state.ageSeconds < mostSeconds) return true;
      if (state.isAway || state.triedSeconds > tryAgainSeconds) {
        if (state.ageSeconds < config.sessionMinutes * 60) return true;
        await endSession(db, sessionId, 'the identity provider could not be reached for too long');
        return false;
      }
      // Another node is asking.
      await wait(100);
    }
  }

  return {
    mayGoOn,

    async askAbout(userId) {
      const latest = await db
        .selectFrom('provider_sessions as p')
        .innerJoin('sessions as s', 's.id', 'p.session_id')
        .select('p.session_id')
        .where('s.user_id', '=', userId)
        .orderBy('p.checked_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      // As if it was used after a long time: nothing is asked twice within half a minute.
      if (latest) await mayGoOn(latest.session_id, mostSeconds);
    },

    async begin(db, sessionId, { issuer, subject, tokens }) {
      await sql`
        insert into provider_sessions (session_id, issuer, subject, tokens)
        values (${sessionId}, ${issuer}, ${subject}, ${sealTokens(secret, sessionId, tokens)})`.execute(db);
    },
  };
}

/** AES-256-GCM; bound to the session. */
function sealTokens(secret: Buffer, sessionId: string, tokens: Tokens): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(Buffer.from(sessionId));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(tokens)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function unsealTokens(secret: Buffer, sessionId: string, sealed: Buffer): Tokens {
  const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(0, 12))
    .setAAD(Buffer.from(sessionId))
    .setAuthTag(sealed.subarray(12, 28));
  return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString());
}
