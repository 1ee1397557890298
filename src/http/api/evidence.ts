/** Labels answers about anchors while these are on the embedded chain: a header, and its description in OpenAPI. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer contains anchors, proofs or transactions. */
    tellsOfChain?: boolean;
  }
}

const header = Type.String({
  enum: ['development'],
  description:
    'Sent while the service uses the embedded chain. Its operator can set the clock, so its anchors and proofs are no evidence for anyone else. Absent on any other chain.',
});

/** Call after describeApi, as it extends those headers, and before the routes are added. */
export function labelEvidence(app: FastifyInstance, { embedded }: { embedded: boolean }): void {
  app.addHook('onRoute', (route) => {
    if (!route.config?.tellsOfChain) return;
    const described = Object.entries((route.schema?.response ?? {}) as Record<string, { headers?: object }>);
    const response = described.map(([status, answer]) =>
      status.startsWith('2')
        ? [status, { ...answer, headers: { ...answer.headers, 'X-Evidence': header } }]
        : [status, answer],
    );
    route.schema = { ...route.schema, response: Object.fromEntries(response) };
    if (!embedded) return;
    route.onRequest = [
      ...[route.onRequest ?? []].flat(),
      (_request, reply, done) => {
        reply.header('x-evidence', 'development');
        done();
      },
    ];
  });
}
