/** The page at /docs/api that shows the OpenAPI document: rendered once, with no script but its own few lines. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { PublicUrl } from '../api/error-reply.ts';
import { isUnchanged } from '../bodies/range.ts';
import { type ApiDocument, renderReference } from './reference-html.ts';

export function addReferencePage(app: FastifyInstance, publicUrl: PublicUrl): void {
  let made: { url: string; body: Buffer; etag: string; policy: string } | null = null;

  function make(url: string) {
    const { html, policy } = renderReference(app.swagger() as unknown as ApiDocument, url);
    const etag = createHash('sha256').update(html).digest('base64url').slice(0, 22);
    return { url, body: Buffer.from(html), etag: `"${etag}"`, policy };
  }

  app.get('/docs/api', { config: { sameBytes: true }, schema: { hide: true } }, async (request, reply) => {
    const url = publicUrl();
    if (made?.url !== url) made = make(url);
    // Weak: it stands for the page in any compression.
    reply.header('cache-control', 'no-cache').header('etag', `W/${made.etag}`);
    if (isUnchanged(request.headers['if-none-match'], made.etag)) {
      return reply.header('vary', 'accept-encoding').code(304).send();
    }
    return reply
      .header('content-security-policy', made.policy)
      .header('referrer-policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .send(made.body);
  });
}
