/** Announces routes that will be removed: Deprecation (RFC 9745) and Sunset (RFC 8594) headers, and the flag in OpenAPI. */
import type { FastifyInstance } from 'fastify';

export interface Deprecated {
  /** The day from which callers should migrate, YYYY-MM-DD. */
  since: string;
  /** The day from which the route may be gone. */
  sunset: string;
  /** URL of the migration guide. */
  guide: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecated?: Deprecated;
  }
}

export function announceDeprecations(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const deprecated = route.config?.deprecated;
    if (!deprecated) return;
    route.schema = { ...route.schema, deprecated: true };
    const since = `@${Date.parse(deprecated.since) / 1000}`;
    const sunset = new Date(deprecated.sunset).toUTCString();
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (_request, reply) => {
        reply.header('deprecation', since).header('sunset', sunset);
        const link = `<${deprecated.guide}>; rel="deprecation"`;
        const present = reply.getHeader('link');
        reply.header('link', present === undefined ? link : `${present}, ${link}`);
      },
    ];
  });
}
