/** Admits a request: finds its caller by API key or session, checks the route's scope or role, and counts the request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, isAtLeast, may, type Role, type Scope } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { requireFreshSession, requireSecondFactor } from '../../runtime/fresh-session.ts';
import { endsWithHeaders } from '../bodies/line.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { RequestBudget } from './request-budget.ts';
import { requireSameOrigin } from './same-origin.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope a caller needs; a route with neither scope nor role is open to everybody. */
    scope?: Scope;
    /** For signed-in people, not for keys: the minimum role. */
    role?: Role;
    /**
     * A person must have proved within the last minutes who they are; keys are not affected. Every route that changes
     * something says whether: true for whatever widens who can see or do something, or takes that from somebody.
     * `own`: some requests need it, and the route asks for it itself.
     */
    freshSession?: boolean | 'own';
    /** Also for people whose session lacks the second factor that their workspace requires. */
    withoutSecondFactor?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Finds the caller of a request; null when it has neither a valid key nor a session. */
export type FindCaller = (headers: IncomingHttpHeaders, requestId: string) => Promise<Caller | null>;

export interface AuthenticationDeps {
  findCaller: FindCaller;
  limiter: RateLimiter;
  requestBudget: Pick<RequestBudget, 'count'>;
  publicUrl(): string;
}

/**
 * Returns the function that counts requests to open routes that found nothing, such as a file by name; it throws at the
 * limit.
 */
export function requireCallers(
  app: FastifyInstance,
  { findCaller, limiter, requestBudget, publicUrl }: AuthenticationDeps,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  app.decorateRequest('caller', null);
  app.addHook('onRoute', ({ method, url, config = {} }) => {
    const { scope, role, freshSession } = config;
    if ((scope === undefined && role === undefined) || freshSession !== undefined) return;
    if ([method].flat().every((one) => reading.has(one))) return;
    throw new Error(`${method} ${url} does not say whether it needs a fresh session`);
  });
  app.addHook('onRequest', async (request, reply) => {
    const { scope, role, freshSession } = request.routeOptions.config;
    if (scope === undefined && role === undefined) {
      // Counted before the body is read: reading it is work that a stranger could cause.
      if (request.is404 || !endsWithHeaders(request)) countAddress(request, reply, limiter);
      return;
    }
    let caller: Caller | null;
    try {
      caller = await findCaller(request.headers, request.id);
    } catch (error) {
      if (error instanceof AppError) countAddress(request, reply, limiter);
      throw error;
    }
    if (!caller) throw refuse(request, reply, limiter);
    if (caller.person) requireSameOrigin(request, publicUrl());
    request.caller = caller;
    limiter.count(caller.actor.id, reply);
    requestBudget.count(caller);
    requireRights(caller, request.routeOptions.config);
    if (freshSession === true) requireFreshSession(caller);
  });
  return (error, request, reply) => {
    const { scope, role } = request.routeOptions.config;
    const isOpen = scope === undefined && role === undefined;
    const wasCounted = !isOpen || request.is404 || !endsWithHeaders(request);
    if (wasCounted || !(error instanceof AppError) || error.code !== 'resource_not_found') return;
    countAddress(request, reply, limiter);
  };
}

/** What the caller of a route needs, for as long as it is answered. */
export function requireRights(
  caller: Caller,
  { scope, role, withoutSecondFactor }: FastifyContextConfig,
): void {
  if (scope !== undefined && !may(caller, scope)) throw new AppError('forbidden', lacks(caller, scope));
  if (role !== undefined) requireRole(caller, role);
  if (!withoutSecondFactor) requireSecondFactor(caller);
}

/** The caller on a route with a scope or a role. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.routeOptions.url} asks for a caller but has no scope`);
  return request.caller;
}

function refuse(request: FastifyRequest, reply: FastifyReply, limiter: RateLimiter): AppError {
  countAddress(request, reply, limiter);
  if (request.headers['x-api-key'] !== undefined) {
    return new AppError(
      'unauthorized',
      'The API key in x-api-key is malformed, unknown, revoked or expired. Send a valid key.',
    );
  }
  return new AppError(
    'unauthorized',
    'The x-api-key header is missing, and there is no session. Send a key, or sign in.',
  );
}

/** Clients without a key get the same limit as a key. */
function countAddress(request: FastifyRequest, reply: FastifyReply, limiter: RateLimiter): void {
  limiter.countAddress(request.ip, reply);
}

function lacks({ person }: Caller, scope: Scope): string {
  return person
    ? `Your role ${person.role} in this workspace does not include the scope ${scope}.`
    : `This API key does not have the scope ${scope}. Use a key that has it.`;
}

function requireRole({ person }: Caller, role: Role): void {
  if (!person)
    throw new AppError(
      'forbidden',
      'This route is for people who are signed in. It does not accept API keys.',
    );
  if (isAtLeast(person.role, role)) return;
  throw new AppError(
    'forbidden',
    `This needs the role ${role} in the workspace; your role is ${person.role}.`,
  );
}
