/** Lets a request in: finds its caller by API key, checks the scope its route asks for, and counts it. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Caller, may, type Scope } from '../caller.ts';
import { AppError } from '../errors.ts';
import type { RateLimiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope a caller needs; a route without one is open to everybody. */
    scope?: Scope;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** Finds who holds an API key; null when nobody does, or no longer. */
export type FindCaller = (apiKey: string, requestId: string) => Promise<Caller | null>;

export function requireCallers(app: FastifyInstance, findCaller: FindCaller, limiter: RateLimiter): void {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    const { scope } = request.routeOptions.config;
    if (scope === undefined) return;
    const apiKey = request.headers['x-api-key'];
    const caller = typeof apiKey === 'string' && apiKey !== '' ? await findCaller(apiKey, request.id) : null;
    if (!caller) {
      // Counted by address: whoever has no key gets no more answers than a key holder.
      limiter.count(`address ${request.ip}`, reply);
      throw new AppError(
        'unauthorized',
        apiKey === undefined
          ? 'The x-api-key header is missing.'
          : 'The API key in x-api-key is not valid: malformed, unknown, revoked or expired.',
      );
    }
    request.caller = caller;
    limiter.count(caller.actor.id, reply);
    if (!may(caller, scope))
      throw new AppError('forbidden', `This API key does not have the scope ${scope}.`);
  });
}

/** The caller of a route that has a scope. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.routeOptions.url} asks for a caller but has no scope`);
  return request.caller;
}
