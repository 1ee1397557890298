/** The public page that checks proofs in the browser, and the relay through which it may query this service's chain. */
import { join } from 'node:path';
import { Type } from 'typebox';
import { createRateLimiter } from '../../http/admission/rate-limit.ts';
import type { Api } from '../../http/api/api.ts';
import { bundledPage } from '../../http/pages/bundled-page.ts';
import type { PageSources } from '../../http/pages/page-bundle.ts';
import type { ChainRelay } from './chain-relay.ts';

/** A verification makes about ten requests. */
const relayLimit = { requests: 300, windowSeconds: 60 };

/** The page connects where the visitor chooses: to any node over https, or to a node on the visitor's own machine. */
const policy = [
  "default-src 'none'",
  // WebAssembly hashes the content; it is embedded in the script.
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const RelayCall = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Integer({ minimum: 0 }),
    method: Type.String({ maxLength: 64 }),
    params: Type.Array(Type.Unknown(), { maxItems: 2 }),
  },
  { additionalProperties: false },
);

export const verifyPage: PageSources = {
  folder: join(import.meta.dirname, '../../../pages/verify'),
  entries: ['main.ts', 'verify.css'],
  assetPath: '/verify/assets',
};

export function verifyPageRoutes(app: Api, { chainRelay }: { chainRelay: ChainRelay }): void {
  const limiter = createRateLimiter(relayLimit);
  bundledPage(app, { sources: verifyPage, urls: ['/verify'], policy });

  app.post(
    '/verify/rpc',
    {
      schema: { hide: true, body: RelayCall },
      onRequest: (request, reply, done) => {
        limiter.countAddress(request.ip, reply);
        done();
      },
    },
    async ({ body: { id, method, params } }, reply) => {
      const answer = await chainRelay.ask(method, params);
      return reply.type('application/json; charset=utf-8').send({ jsonrpc: '2.0', id, ...answer });
    },
  );
}
