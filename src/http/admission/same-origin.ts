/** A write that comes with a cookie has to prove that it was made by a page of this very service. */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../runtime/errors.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Throws forbidden for what another site's page may have sent. */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  if (safeMethods.has(request.method)) return;
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  // Browsers of today send both and let no script set them. One that is wrong refuses, whatever the other says.
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
