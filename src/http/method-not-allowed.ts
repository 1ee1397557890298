/** 405 with Allow for a known path and a method it does not take. */
import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';

/** Call before the routes are added; after them, `close()` fills in the methods that are left. */
export function watchMethods(app: FastifyInstance): { close(): void } {
  // CONNECT asks a proxy for a tunnel and never reaches a route.
  const methods = METHODS.filter((method) => method !== 'CONNECT');
  for (const method of methods) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: false });
  }
  const taken = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const path = url === '/' ? url : url.replace(/\/$/, '');
    const present = taken.get(path) ?? new Set();
    for (const one of [method].flat()) present.add(one);
    taken.set(path, present);
  });
  return {
    close() {
      for (const [url, present] of [...taken]) {
        // A wildcard answers for paths that need not exist.
        if (url.includes('*')) continue;
        const allowed = [...present].sort().join(', ');
        app.route({
          method: methods.filter((method) => !present.has(method)),
          url,
          schema: { hide: true },
          // Before the body is read: it does not matter what it says.
          async onRequest(request, reply) {
            reply.header('allow', allowed);
            throw new AppError(
              'method_not_allowed',
              `${request.method} is not possible here; use ${allowed}.`,
            );
          },
          handler() {},
        });
      }
    },
  };
}
