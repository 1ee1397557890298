/** Sign-in: passwords, two-factor codes and sessions, with the library better-auth on our own tables. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { SignedInBy } from '../../db/tables/people.ts';
import { freshMinutes } from '../../runtime/caller.ts';
import { newId } from '../../runtime/ids.ts';
import { endSession } from '../accounts/ended-sessions.ts';
import { signsInHere } from '../accounts/signs-in-here.ts';
import { hashPassword, isPassword, passwordLength } from './password.ts';

export interface SignedIn {
  sessionId: string;
  userId: string;
  name: string;
  email: string;
  twoFactor: boolean;
  /** Whether the person has two-factor codes or a passkey. */
  hasFactor: boolean;
  signedInBy: SignedInBy;
  confirmedAt: Date;
  /** Whether the person has proved within the last minutes who they are, and not by a password alone if they have more. */
  isFresh: boolean;
  /** Whether a second factor was used in this session. */
  hasSecondFactor: boolean;
  /** Whether password and codes of the person count; see `signs-in-here.ts`. */
  signsInHere: boolean;
}

export interface SignIn {
  /** Handles a request to one of `signInPaths` below `signInBase`. */
  handle(request: Request): Promise<Response>;
  /** The session that a request's cookies belong to; null when there is none, or it has ended. */
  find(cookies: string): Promise<SignedIn | null>;
  /** Begins a session for somebody who proved in another way who they are. `cookies`: for the answer. */
  enter(userId: string, request: { address: string; userAgent: string }): Promise<NewSession>;
}

export interface NewSession {
  sessionId: string;
  cookies: string[];
}

export const signInBase = '/auth';

export type SignInPath = (typeof signInPaths)[number];

/** The only paths of the library that browsers can reach; its other functions have routes of ours, or none. */
export const signInPaths = [
  'sign-in/email',
  'sign-out',
  'change-password',
  'update-user',
  'two-factor/enable',
  'two-factor/disable',
  'two-factor/verify-totp',
  'two-factor/verify-backup-code',
  'two-factor/generate-backup-codes',
] as const;

/** The client's address, set by us: a header of this name sent by the client is not passed on. */
export const addressHeader = 'x-holdfast-address';

/** With this prefix, browsers accept cookies only from this very host and only if they are secure. */
export const cookiePrefix = '__Host-holdfast';

const daySeconds = 24 * 60 * 60;
/** Use does not extend a session. Its last use is saved now and then; an unused session ends sooner. */
export const sessionSeconds = { kept: 7 * daySeconds, unused: 3 * daySeconds, noted: 5 * 60 };

export interface SignInDeps {
  db: Db;
  /** Signs the cookies. */
  secret: Buffer;
  publicUrl(): string;
  /** For sessions that the identity provider vouches for: whether it still does. */
  mayGoOn(sessionId: string, ageSeconds: number): Promise<boolean>;
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { db, mayGoOn } = deps;
  let opened: ReturnType<typeof open> | null = null;
  // Loaded on the first sign-in: without it, an API-only service starts a third of a second sooner.
  const auth = () => {
    opened ??= open(deps);
    return opened;
  };
  return {
    handle: async (request) => (await auth()).handler(request),
    async find(cookies) {
      if (!cookies.includes(`${cookiePrefix}.session_token=`)) return null;
      const found = await (await auth()).api.getSession({ headers: new Headers({ cookie: cookies }) });
      if (!found) return null;
      const { session, user } = found;
      const unusedSeconds = (Date.now() - session.updatedAt.getTime()) / 1000;
      if (unusedSeconds > sessionSeconds.unused) {
        await db.deleteFrom('sessions').where('id', '=', session.id).execute();
        return null;
      }
      if (unusedSeconds > sessionSeconds.noted) {
        await db
          .updateTable('sessions')
          .set({ updated_at: new Date() })
          .where('id', '=', session.id)
          .execute();
      }
      const { name, email, twoFactorEnabled } = user;
      const twoFactor = twoFactorEnabled === true;
      const state = await findState(db, session.id);
      if (!state) return null;
      const { providerAgeSeconds, ...proved } = state;
      if (providerAgeSeconds === null && !proved.signsInHere) {
        await endSession(db, session.id, 'only the identity provider vouches for the person');
        return null;
      }
      if (providerAgeSeconds !== null && !(await mayGoOn(session.id, providerAgeSeconds))) return null;
      return { sessionId: session.id, userId: session.userId, name, email, twoFactor, ...proved };
    },
    async enter(userId, { address, userAgent }) {
      const response = await (await auth()).api.enter({
        body: { userId },
        headers: new Headers({ [addressHeader]: address, 'user-agent': userAgent }),
        asResponse: true,
      } as never);
      const answer = response as unknown as Response;
      if (!answer.ok) throw new Error(`a session could not be made: ${answer.status}`);
      const { sessionId } = (await answer.json()) as { sessionId: string };
      return { sessionId, cookies: answer.headers.getSetCookie() };
    },
  };
}

type Proved = 'hasFactor' | 'signedInBy' | 'confirmedAt' | 'isFresh' | 'hasSecondFactor' | 'signsInHere';

interface SessionState extends Pick<SignedIn, Proved> {
  /** Since the identity provider last vouched for it; null: it is none of the provider's. */
  providerAgeSeconds: number | null;
}

/** Null when the session has ended just now. */
async function findState(db: Db, sessionId: string): Promise<SessionState | null> {
  const { rows } = await sql<SessionState>`
    select s.second_factor as "hasSecondFactor", s.signed_in_by as "signedInBy", s.confirmed_at as "confirmedAt",
           f.has_factor as "hasFactor",
           s.confirmed_at > now() - make_interval(mins => ${freshMinutes})
             and (s.second_factor or not f.has_factor) as "isFresh",
           ${signsInHere(sql`s.user_id`)} as "signsInHere",
           extract(epoch from now() - p.checked_at)::float8 as "providerAgeSeconds"
    from sessions s
    join users u on u.id = s.user_id
    cross join lateral (
      select u.two_factor_enabled or exists (select 1 from passkeys k where k.user_id = u.id) as has_factor) as f
    left join provider_sessions p on p.session_id = s.id
    where s.id = ${sessionId}`.execute(db);
  return rows[0] ?? null;
}

/** Not among the paths that browsers reach. */
function enterPlugin(
  createAuthEndpoint: typeof import('better-auth/api').createAuthEndpoint,
  setSessionCookie: typeof import('better-auth/cookies').setSessionCookie,
) {
  return {
    id: 'holdfast-enter',
    endpoints: {
      enter: createAuthEndpoint(
        '/holdfast/enter',
        { method: 'POST', metadata: { scope: 'server' } },
        async (ctx) => {
          const { userId } = ctx.body as unknown as { userId: string };
          const user = await ctx.context.internalAdapter.findUserById(userId);
          if (!user) throw new Error('nobody has this id');
          const session = await ctx.context.internalAdapter.createSession(userId);
          await setSessionCookie(ctx, { session, user });
          return ctx.json({ sessionId: session.id });
        },
      ),
    },
  } as const;
}

async function open({ db, secret, publicUrl }: SignInDeps) {
  const [{ betterAuth }, { createAuthEndpoint }, { setSessionCookie }, { twoFactor }] = await Promise.all([
    import('better-auth'),
    import('better-auth/api'),
    import('better-auth/cookies'),
    import('better-auth/plugins/two-factor'),
  ]);
  const times = { createdAt: 'created_at', updatedAt: 'updated_at' };
  return betterAuth({
    appName: 'Holdfast',
    baseURL: publicUrl(),
    basePath: signInBase,
    // Both are set, so that the library reads neither from the environment.
    secret: secret.toString('base64url'),
    secrets: [{ version: 1, value: secret.toString('base64url') }],
    database: { db, type: 'postgres', transaction: true },
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Accounts are created through invitations only.
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
      password: { hash: hashPassword, verify: ({ hash, password }) => isPassword(password, hash) },
    },
    user: { modelName: 'users', fields: { ...times, emailVerified: 'email_verified' } },
    session: {
      modelName: 'sessions',
      fields: {
        ...times,
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
      expiresIn: sessionSeconds.kept,
      disableSessionRefresh: true,
    },
    account: {
      modelName: 'accounts',
      fields: {
        ...times,
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
      },
    },
    verification: { modelName: 'verifications', fields: { ...times, expiresAt: 'expires_at' } },
    // Our own throttle counts failures by account and address, across all nodes.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix,
      // Otherwise the library would prepend its own prefix.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: true, httpOnly: true, sameSite: 'strict', path: '/' },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: { generateId: ({ model }) => newId(model === 'user' ? 'usr' : 'ses') },
    },
    plugins: [
      enterPlugin(createAuthEndpoint, setSessionCookie),
      twoFactor({
        issuer: 'Holdfast',
        twoFactorTable: 'two_factors',
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
          twoFactor: {
            modelName: 'two_factors',
            fields: {
              userId: 'user_id',
              backupCodes: 'backup_codes',
              failedVerificationCount: 'failed_verification_count',
              lockedUntil: 'locked_until',
            },
          },
        },
      }),
    ],
  });
}
