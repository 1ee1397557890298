/** /auth: signing in and out, and changing credentials. The library answers; errors get the same shape as everywhere. */
import type { FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { requireSameOrigin } from '../../http/admission/same-origin.ts';
import type { Api } from '../../http/api/api.ts';
import { AppError, type ErrorCode } from '../../runtime/errors.ts';
import { stepUpRequired } from '../../runtime/fresh-session.ts';
import { name } from '../../runtime/schemas.ts';
import { leftToProvider } from '../accounts/signs-in-here.ts';
import { passwordLength } from './password.ts';
import type { PasswordRules } from './password-rules.ts';
import {
  addressHeader,
  cookiePrefix,
  type SignedIn,
  type SignIn,
  type SignInPath,
  signInBase,
  signInPaths,
} from './sign-in.ts';
import type { SignInEffects } from './sign-in-effects.ts';
import type { Guess, SignInThrottle } from './sign-in-throttle.ts';

export interface SignInRoutesDeps {
  signIn: SignIn;
  signInThrottle: SignInThrottle;
  passwordRules: PasswordRules;
  signInEffects: SignInEffects;
  publicUrl(): string;
}

/** Headers passed to the library. */
const passedHeaders = ['cookie', 'origin', 'user-agent'];

type Body = Record<string, unknown>;

interface Step {
  /** Fields passed to the library, which would accept more. */
  fields: Record<string, TSchema>;
  /** What an attacker could guess here. */
  guessed?: 'password' | 'own password' | 'code';
}

const text = Type.String({ minLength: 1, maxLength: 320 });
const ownPassword: Step = { fields: { password: text }, guessed: 'own password' };

const steps: Record<SignInPath, Step> = {
  'sign-in/email': { fields: { email: text, password: text }, guessed: 'password' },
  'sign-out': { fields: {} },
  'change-password': {
    fields: {
      currentPassword: text,
      newPassword: Type.String({ minLength: passwordLength.min, maxLength: passwordLength.max }),
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    },
    guessed: 'own password',
  },
  'update-user': { fields: { name } },
  'two-factor/enable': ownPassword,
  'two-factor/disable': ownPassword,
  'two-factor/verify-totp': { fields: { code: Type.String({ pattern: '^[0-9]{6}$' }) }, guessed: 'code' },
  'two-factor/verify-backup-code': { fields: { code: text }, guessed: 'code' },
  'two-factor/generate-backup-codes': ownPassword,
};

export function signInRoutes(app: Api, deps: SignInRoutesDeps): void {
  const { signIn, signInThrottle, passwordRules, signInEffects, publicUrl } = deps;
  for (const path of signInPaths) {
    const { fields, guessed } = steps[path];
    app.post(
      `${signInBase}/${path}`,
      {
        config: { secretAnswer: true },
        schema: { hide: true, body: Type.Object(fields, { additionalProperties: false }) },
        onRequest: async (request) => requireSameOrigin(request, publicUrl()),
      },
      async (request, reply) => {
        const asked = request.body as Body;
        const before = await signIn.find(request.headers.cookie ?? '');
        requireWayIn(path, before);
        if (path === 'change-password') {
          if (before) await passwordRules.require(String(asked.newPassword), before);
          // Signs out everybody who knew the old password.
          asked.revokeOtherSessions = true;
        }
        const guess = guessed ? guessOf(guessed, request, before) : null;
        if (guess) await signInThrottle.begin(guess).catch((error) => refused(request, path, error));
        const passwordBefore = await signInEffects.passwordBefore(path, asked);
        const response = await signIn.handle(toRequest(request, `${publicUrl()}${signInBase}/${path}`));
        const answer = ((await response.json().catch(() => null)) ?? {}) as Body;
        if (!response.ok) {
          const error = toError(response.status, answer);
          if (guess && isWrong(response.status, answer)) return refused(request, path, error);
          if (guess) await signInThrottle.withdraw(guess);
          throw error;
        }
        const cookies = response.headers.getSetCookie();
        const newToken = tokenIn(cookies);
        const done = { path, before, asked, answer, newToken, passwordBefore };
        await signInEffects.after({ ...done, requestId: request.id });
        if (guess) await signInThrottle.succeeded(guess);
        if (cookies.length > 0) reply.header('set-cookie', cookies);
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(withoutToken(answer)));
      },
    );
  }
}

/** Steps that change by what somebody signs in. */
const changing: SignInPath[] = [
  'change-password',
  'two-factor/enable',
  'two-factor/disable',
  'two-factor/generate-backup-codes',
];

/**
 * Whoever has codes or a passkey changes by what they sign in only after using one: otherwise the password would be enough
 * to get around them. Without either, the password is the proof, which the library asks for.
 */
function requireWayIn(path: SignInPath, before: SignedIn | null): void {
  if (!before) return;
  const verifies = path === 'two-factor/verify-totp' || path === 'two-factor/verify-backup-code';
  // The code that turns them on; and backup codes that were made for it do not count before it.
  const enables = verifies && !before.twoFactor;
  if (!verifies && !changing.includes(path)) return;
  if (!before.signsInHere) throw leftToProvider();
  if (path === 'two-factor/verify-backup-code' && enables) {
    throw new AppError('invalid_request', 'Two-factor codes are not on.');
  }
  if (verifies && !enables) return;
  if (before.signedInBy === 'provider') {
    throw new AppError(
      'forbidden',
      'This session belongs to the identity provider. Sign in with your password to change it, or your codes.',
    );
  }
  if (before.hasFactor && !before.isFresh) throw stepUpRequired();
}

function guessOf(guessed: Step['guessed'], request: FastifyRequest, before: SignedIn | null): Guess {
  const { email } = request.body as Body;
  const signedIn = before && { userId: before.userId };
  return { of: guessed === 'password' ? { email: String(email) } : signedIn, address: request.ip };
}

/** Logs the refusal, but not the email, which may be a password typed into the wrong field. */
function refused(request: FastifyRequest, path: SignInPath, error: unknown): never {
  request.log.warn({ requestId: request.id, address: request.ip, path }, 'sign-in refused');
  throw error;
}

function isWrong(status: number, { code }: Body): boolean {
  return status === 401 || code === 'INVALID_PASSWORD';
}

function toRequest(request: FastifyRequest, url: string): Request {
  const headers = new Headers({ 'content-type': 'application/json', [addressHeader]: request.ip });
  for (const name of passedHeaders) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  // Already checked, also for a second name of this service, such as localhost, which the library does not know.
  if (headers.has('origin')) headers.set('origin', new URL(url).origin);
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(request.body ?? {}) });
}

/** The cookie is the token and its signature. */
function tokenIn(cookies: string[]): string | null {
  const start = `${cookiePrefix}.session_token=`;
  const value = cookies.find((one) => one.startsWith(start))?.slice(start.length) ?? '';
  return /^[^.;]+(?=\.)/.exec(decodeURIComponent(value.split(';')[0] ?? ''))?.[0] ?? null;
}

/** The session token is in an HttpOnly cookie, and must not be readable by scripts. */
function withoutToken({ token: _token, ...rest }: Body): Body {
  return rest;
}

const codes: Partial<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'resource_not_found',
  409: 'conflict',
  429: 'rate_limit_exceeded',
};

function toError(status: number, body: Body): AppError {
  if (status >= 500) throw new Error(`signing in failed with status ${status}`);
  const message = typeof body.message === 'string' ? body.message : 'The request was refused.';
  return new AppError(codes[status] ?? 'invalid_request', `${message.replace(/\.?$/, '.')}`);
}
