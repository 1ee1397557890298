/** /auth/provider: to the identity provider and back, to sign in, to confirm or to link; and what the sign-in page offers. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { RequestFault } from '../../egress/guarded-request.ts';
import type { RateLimiter } from '../../http/admission/rate-limit.ts';
import { requireSameOrigin } from '../../http/admission/same-origin.ts';
import type { Api } from '../../http/api/api.ts';
import { AppError } from '../../runtime/errors.ts';
import { stepUpRequired } from '../../runtime/fresh-session.ts';
import { cookiePrefix, type SignIn, signInBase } from '../people/sign-in.ts';
import { confirmSession, noteEntry } from '../people/sign-in-effects.ts';
import type { ProviderClient, Vouched } from './provider-client.ts';
import { type Entering, findIdentity, NotAdmitted, type Problem } from './provider-people.ts';
import type { ProviderSessions } from './provider-sessions.ts';
import { findOwner, keepUnderWay, minutesValid, takeUnderWay, type UnderWay } from './under-way.ts';

export interface Provider {
  client: ProviderClient;
  sessions: ProviderSessions;
  /** The host of the issuer, as people know it. */
  host: string;
  /** The account of a person, in the role that their groups give. */
  enterPerson(entering: Entering): Promise<string>;
}

export interface ProviderRoutesDeps {
  db: Db;
  signIn: Pick<SignIn, 'find' | 'enter'>;
  /** Of sign-ins by anybody. */
  beginnings: RateLimiter;
  /** Null: not configured. */
  provider: Provider | null;
  publicUrl(): string;
}

type ShownProblem = Problem | 'expired' | 'away' | 'refused' | 'somebody_else';

const accountPage = '/settings';
const stateCookie = `${cookiePrefix}.provider_state`;

export function providerRoutes(
  app: Api,
  { db, signIn, provider, beginnings, publicUrl }: ProviderRoutesDeps,
): void {
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
      beginnings.countAddress(request.ip, reply);
      const { to = '/', confirm = false } = request.query;
      const session = confirm ? await signIn.find(request.headers.cookie ?? '') : null;
      if (confirm && !session) return toProblem(reply, 'expired');
      try {
        const asked = { to: ownPath(to), sessionId: session?.sessionId ?? null, links: false };
        return reply.redirect(await begin(reply, asked, { anew: confirm }));
      } catch (error) {
        request.log.warn({ err: error, requestId: request.id }, 'the identity provider cannot be reached');
        return toProblem(reply, 'away');
      }
    },
  );

  app.post(
    `${signInBase}/provider/link`,
    { schema: { hide: true }, onRequest: async (request) => requireSameOrigin(request, publicUrl()) },
    async (request, reply) => {
      const session = await signIn.find(request.headers.cookie ?? '');
      if (!session) throw new AppError('unauthorized', 'Your session has ended. Sign in again.');
      if (!session.isFresh) throw stepUpRequired();
      const asked = { to: accountPage, sessionId: session.sessionId, links: true };
      try {
        return { url: await begin(reply, asked, { anew: false }) };
      } catch (error) {
        request.log.warn({ err: error, requestId: request.id }, 'the identity provider cannot be reached');
        throw new AppError(
          'service_unavailable',
          'The identity provider cannot be reached just now. Try again shortly.',
        );
      }
    },
  );

  app.get(callbackPath, { schema: { hide: true } }, async (request, reply) => {
    reply.header('set-cookie', cookie('', 0));
    let links = false;
    try {
      const url = new URL(publicUrl() + request.url);
      const state = url.searchParams.get('state') ?? '';
      // Without the cookie, another browser began this sign-in; each is finished once.
      const underWay = state !== '' && readCookie(request) === state ? await takeUnderWay(db, state) : null;
      if (!underWay) {
        return toProblem(reply, 'expired');
      }
      links = underWay.links;
      const vouched = await client.finish(url, underWay);
      if (underWay.sessionId !== null && !links) {
        return await confirm(reply, { sessionId: underWay.sessionId, vouched, request });
      }
      const proved = underWay.sessionId === null ? undefined : await findOwner(db, underWay.sessionId);
      if (proved === null) return toProblem(reply, 'expired');
      const userId = await enterPerson({ who: vouched, requestId: request.id, proved });
      return await enter(reply, { userId, vouched, to: underWay.to, request });
    } catch (error) {
      request.log.warn(
        { err: error, requestId: request.id, address: request.ip },
        'sign-in with the identity provider refused',
      );
      const problem = isUnreachable(error) ? 'away' : 'refused';
      return toProblem(reply, error instanceof NotAdmitted ? error.problem : problem, links);
    }
  });

  /** Where to send the browser. */
  async function begin(
    reply: FastifyReply,
    asked: Pick<UnderWay, 'to' | 'sessionId' | 'links'>,
    { anew }: { anew: boolean },
  ): Promise<string> {
    const { url, expected } = await client.begin(publicUrl() + callbackPath, anew);
    await keepUnderWay(db, { ...expected, ...asked });
    reply.header('set-cookie', cookie(expected.state, minutesValid * 60));
    return url.href;
  }

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

  /** Only of somebody who is known, and linked with the account of the session. */
  async function confirm(
    reply: FastifyReply,
    asked: { sessionId: string; vouched: Vouched; request: FastifyRequest },
  ) {
    const { sessionId, vouched, request } = asked;
    const known = await findIdentity(db, vouched);
    if (known === null || known !== (await findOwner(db, sessionId)))
      return toProblem(reply, 'somebody_else');
    const userId = await enterPerson({ who: vouched, requestId: request.id });
    await confirmSession(db, { userId, sessionId }, { by: 'provider', requestId: request.id });
    return reply.redirect('/sign-in?confirmed=true');
  }
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof RequestFault) return true;
  return error instanceof Error && error.cause !== undefined && isUnreachable(error.cause);
}

/** By a name, so that no link makes the page say what its sender wants. Who wanted to link is signed in as before. */
function toProblem(reply: FastifyReply, problem: ShownProblem, links = false): FastifyReply {
  return reply.redirect(`${links ? accountPage : '/sign-in'}?problem=${problem}`);
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
