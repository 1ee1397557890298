/** /auth: signing in and out, and what people change about it. The library answers; errors get the one shape of all. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Api } from '../http/api.ts';
import { requireSameOrigin } from '../http/same-origin.ts';
import { addressHeader, type SignIn, signInBase, signInPaths } from './sign-in.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';

export interface SignInRoutesDeps {
  signIn: SignIn;
  signInThrottle: SignInThrottle;
  publicUrl(): string;
}

const bodyLimit = 16 * 1024;
/** Headers that the library looks at. */
const passedHeaders = ['cookie', 'origin', 'user-agent'];

export function signInRoutes(app: Api, { signIn, signInThrottle, publicUrl }: SignInRoutesDeps): void {
  for (const path of signInPaths) {
    app.post(
      `${signInBase}/${path}`,
      { bodyLimit, schema: { hide: true, body: Type.Record(Type.String(), Type.Unknown()) } },
      async (request, reply) => {
        requireSameOrigin(request, publicUrl());
        const attempt =
          path === 'sign-in/email' ? { email: emailIn(request.body), address: request.ip } : null;
        if (attempt) await signInThrottle.check(attempt);
        const response = await signIn.handle(toRequest(request, `${publicUrl()}${signInBase}/${path}`));
        if (attempt && response.status === 401) await signInThrottle.failed(attempt);
        if (attempt && response.ok) await signInThrottle.succeeded(attempt);
        const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
        if (!response.ok) throw toError(response.status, body);
        const cookies = response.headers.getSetCookie();
        if (cookies.length > 0) reply.header('set-cookie', cookies);
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(withoutToken(body)));
      },
    );
  }
}

function toRequest(request: FastifyRequest, url: string): Request {
  const headers = new Headers({ 'content-type': 'application/json', [addressHeader]: request.ip });
  for (const name of passedHeaders) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(request.body ?? {}) });
}

function emailIn(body: Record<string, unknown>): string {
  return typeof body.email === 'string' ? body.email : '';
}

/** The session's token is in a cookie that no script can read, and stays there. */
function withoutToken(body: Record<string, unknown> | null): Record<string, unknown> {
  const { token: _token, ...rest } = body ?? {};
  return rest;
}

const codes: Partial<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'resource_not_found',
  409: 'conflict',
  429: 'rate_limit_exceeded',
};

function toError(status: number, body: Record<string, unknown> | null): AppError {
  if (status >= 500) throw new Error(`signing in failed with status ${status}`);
  const message = typeof body?.message === 'string' ? body.message : 'The request was refused.';
  return new AppError(codes[status] ?? 'invalid_request', `${message.replace(/\.?$/, '.')}`);
}
