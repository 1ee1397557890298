/** Limits of body sizes: small on open routes, large only on routes that accept data. */
import type { FastifyInstance } from 'fastify';
import { requestLimits } from '../../input/request-limits.ts';

export const bodyBytes = {
  /** Routes that are open to everybody. */
  open: 4 * 1024,
  /** All routes without another limit. */
  usual: 64 * 1024,
  /** An asset with its metadata, an entry with its data. */
  document: 256 * 1024,
  /** Record data, one or many. */
  data: requestLimits.dataBytes,
} as const;

export function limitOpenRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { scope, role } = route.config ?? {};
    if (scope === undefined && role === undefined) route.bodyLimit ??= bodyBytes.open;
  });
}
