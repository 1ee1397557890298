/** /auth/provider: to the identity provider and back, and what the sign-in page offers. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { RequestFault } from '../../egress/guarded-request.ts';
import type { Api } from '../../http/api/api.ts';
import { cookiePrefix, type SignIn, signInBase } from '../people/sign-in.ts';
import { confirmSession, noteEntry } from '../people/sign-in-effects.ts';
import type { ProviderClient, Vouched } from './provider-client.ts';
import { NotAdmitted, type Problem } from './provider-people.ts';
import type { ProviderSessions } from './provider-sessions.ts';
import { findSessionOf, keepUnderWay, minutesValid, takeUnderWay, type UnderWay } from './under-way.ts';

export interface Provider {
  client: ProviderClient;
  sessions: ProviderSessions;
  /** The host of the issuer, as people know it. */
  host: string;
  /** The account of a person, in the role that their groups give. */
  enterPerson(vouched: Vouched, requestId: string): Promise<string>;
}

export interface ProviderRoutesDeps {
  db: Db;
  signIn: Pick<SignIn, 'find' | 'enter'>;
  /** Null: not configured. */
  provider: Provider | null;
  publicUrl(): string;
}

type ShownProblem = Problem | 'expired' | 'away' | 'refused' | 'somebody_else';

const stateCookie = `${cookiePrefix}.provider_state`;

export function providerRoutes(app: Api, { db, signIn, provider, publicUrl }: ProviderRoutesDeps): void {
  const callbackPath = `${signInBase}/provider/callback`;

  app.get(`${signInBase}/options`, { schema: { hide: true } }, async () => ({
    provider: provider && { host: provider.host },
  }));
  if (!provider) return;
  const { client, sessions, enterPerson } = provider;

  app.get(
    `${signInBase}/provider/start`,
    {
      schema: {
        hide: true,
        querystring: Type.Object(
          { to: Type.Optional(Type.String({ maxLength: 2000 })), confirm: Type.Optional(Type.Boolean()) },
          { additionalProperties: false },
        ),
      },
    },
    async (request, reply) => {
      const { to = '/', confirm = false } = request.query;
      const session = confirm ? await signIn.find(request.headers.cookie ?? '') : null;
      if (confirm && !session) return toProblem(reply, 'expired');
      try {
        const { url, expected } = await client.begin(publicUrl() + callbackPath, confirm);
        const underWay: UnderWay = { ...expected, to: ownPath(to), sessionId: session?.sessionId ?? null };
        await keepUnderWay(db, underWay);
        reply.header('set-cookie', cookie(expected.state, minutesValid * 60));
        return reply.redirect(url.href);
      } catch (error) {
        request.log.warn({ err: error, requestId: request.id }, 'the identity provider cannot be reached');
        return toProblem(reply, 'away');
      }
    },
  );

  app.get(callbackPath, { schema: { hide: true } }, async (request, reply) => {
    reply.header('set-cookie', cookie('', 0));
    try {
      const url = new URL(publicUrl() + request.url);
      const state = url.searchParams.get('state') ?? '';
      // Without the cookie, another browser began this sign-in; each is finished once.
      const underWay = state !== '' && readCookie(request) === state ? await takeUnderWay(db, state) : null;
      if (!underWay) {
        return toProblem(reply, 'expired');
      }
      const vouched = await client.finish(url, underWay);
      const userId = await enterPerson(vouched, request.id);
      if (underWay.sessionId !== null) return await confirm(reply, { ...underWay, userId, request });
      return await enter(reply, { userId, vouched, to: underWay.to, request });
    } catch (error) {
      request.log.warn(
        { err: error, requestId: request.id, address: request.ip },
        'sign-in with the identity provider refused',
      );
      if (error instanceof NotAdmitted) return toProblem(reply, error.problem);
      return toProblem(reply, isUnreachable(error) ? 'away' : 'refused');
    }
  });

  async function enter(
    reply: FastifyReply,
    asked: { userId: string; vouched: Vouched; to: string; request: FastifyRequest },
  ) {
    const { userId, vouched, to, request } = asked;
    const userAgent = request.headers['user-agent'] ?? '';
    const { sessionId, cookies } = await signIn.enter(userId, { address: request.ip, userAgent });
    const begun = { userId, sessionId, by: 'provider', requestId: request.id } as const;
    await noteEntry(db, begun, (db) => sessions.begin(db, sessionId, vouched));
    reply.header('set-cookie', cookies);
    return reply.redirect(to);
  }

  async function confirm(
    reply: FastifyReply,
    asked: { sessionId: string | null; userId: string; request: FastifyRequest },
  ) {
    const session = await findSessionOf(db, asked.userId, String(asked.sessionId));
    if (!session) return toProblem(reply, 'somebody_else');
    const requestId = asked.request.id;
    await confirmSession(db, session, { by: 'provider', requestId });
    return reply.redirect('/sign-in?confirmed=true');
  }
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof RequestFault) return true;
  return error instanceof Error && error.cause !== undefined && isUnreachable(error.cause);
}

/** By a name, so that no link makes the sign-in page say what its sender wants. */
function toProblem(reply: FastifyReply, problem: ShownProblem): FastifyReply {
  return reply.redirect(`/sign-in?problem=${problem}`);
}

/** A page of this service, never another site: `//evil.example` would be one. */
function ownPath(to: string): string {
  const base = 'https://own.invalid';
  const url = URL.canParse(to, base) ? new URL(to, base) : null;
  return to.startsWith('/') && url?.origin === base ? url.pathname + url.search : '/';
}

/** Lax: the browser comes back from another site, and would not send a strict cookie. */
function cookie(value: string, seconds: number): string {
  return `${stateCookie}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`;
}

function readCookie(request: FastifyRequest): string | null {
  for (const pair of (request.headers.cookie ?? '').split('; ')) {
    if (pair.startsWith(`${stateCookie}=`)) return pair.slice(stateCookie.length + 1);
  }
  return null;
}
