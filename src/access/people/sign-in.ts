/** Signing in: passwords, two-factor codes and sessions, by the library better-auth on our own tables. */
import type { Db } from '../../db/database.ts';
import { newId } from '../../runtime/ids.ts';
import { hashPassword, isPassword, passwordLength } from './password.ts';

export interface SignedIn {
  sessionId: string;
  userId: string;
  name: string;
  email: string;
  twoFactor: boolean;
}

export interface SignIn {
  /** Answers a request whose path is one of `signInPaths` below `signInBase`. */
  handle(request: Request): Promise<Response>;
  /** Whose session the cookies of a request belong to; null when it is nobody's, or no longer. */
  find(cookies: string): Promise<SignedIn | null>;
}

export const signInBase = '/auth';

export type SignInPath = (typeof signInPaths)[number];

/** All that the library may be asked by a browser; what else it offers has routes of ours, or none. */
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

/** The client's address, given by us: what the client itself says of it is not passed on. */
export const addressHeader = 'x-holdfast-address';

/** With this prefix a browser takes cookies only from this very host, and only when they are secure. */
export const cookiePrefix = '__Host-holdfast';

const daySeconds = 24 * 60 * 60;
/** Use does not make a session longer; its last use is written down now and then, and without any it ends sooner. */
export const sessionSeconds = { kept: 7 * daySeconds, unused: 3 * daySeconds, noted: 5 * 60 };

export interface SignInDeps {
  db: Db;
  /** Signs the cookies. */
  secret: Buffer;
  publicUrl(): string;
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { db } = deps;
  let opened: ReturnType<typeof open> | null = null;
  // Loaded when somebody signs in: an API on its own does without it, and starts a third of a second sooner.
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
      return { sessionId: session.id, userId: session.userId, name, email, twoFactor };
    },
  };
}

async function open({ db, secret, publicUrl }: SignInDeps) {
  const [{ betterAuth }, { twoFactor }] = await Promise.all([
    import('better-auth'),
    import('better-auth/plugins/two-factor'),
  ]);
  const times = { createdAt: 'created_at', updatedAt: 'updated_at' };
  return betterAuth({
    appName: 'Holdfast',
    baseURL: publicUrl(),
    basePath: signInBase,
    // Named both ways: what the environment may say of either is not looked at then.
    secret: secret.toString('base64url'),
    secrets: [{ version: 1, value: secret.toString('base64url') }],
    database: { db, type: 'postgres', transaction: true },
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Who may have an account is decided by invitations.
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
    // Ours counts failures by account and address, for all nodes together.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix,
      // It would put another prefix before ours.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: true, httpOnly: true, sameSite: 'strict', path: '/' },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: { generateId: ({ model }) => newId(model === 'user' ? 'usr' : 'ses') },
    },
    plugins: [
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
