/** A write that is authenticated by a cookie must prove that it comes from a page of this service. */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../runtime/errors.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Throws forbidden for requests that a page of another site may have sent. */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  if (safeMethods.has(request.method)) return;
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  // Current browsers send both, and scripts cannot set them. If either is wrong, the request is refused.
  const proven = site === 'same-origin' || (origin !== undefined && isOwn(origin, request, publicUrl));
  const denied =
    (site !== undefined && site !== 'same-origin') ||
    (origin !== undefined && !isOwn(origin, request, publicUrl));
  if (proven && !denied) return;
  throw new AppError(
    'forbidden',
    'Changes made with a session must come from a page of this service, and the Origin or Sec-Fetch-Site header does not show that. Use the dashboard, or send an API key.',
  );
}

function isOwn(origin: string, request: FastifyRequest, publicUrl: string): boolean {
  return origin === new URL(publicUrl).origin || origin === `${request.protocol}://${request.host}`;
}
