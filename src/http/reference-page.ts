/**
 * The page at /docs that shows the OpenAPI document. It brings 4 MB of script, so it is loaded when somebody first asks
 * for it, on a server of its own that nothing but this file talks to.
 */
import { createHash } from 'node:crypto';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

export function addReferencePage(app: FastifyInstance): void {
  let pages: Promise<FastifyInstance> | null = null;

  async function show(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    pages ??= loadPages();
    const page = await (await pages).inject(request.url);
    const type = String(page.headers['content-type'] ?? '');
    if (page.statusCode !== 200) return reply.redirect('/docs/');
    if (type.startsWith('text/html')) reply.header('content-security-policy', policyFor(page.payload));
    return reply.type(type).send(page.rawPayload);
  }
  app.get('/docs/', { schema: { hide: true } }, show);
  app.get('/docs/js/scalar.js', { schema: { hide: true } }, show);
}

async function loadPages(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const pages = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await pages.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Holdfast API reference',
      // Nothing is fetched from or told to anybody else.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      authentication: { preferredSecurityScheme: 'apiKey' },
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  return pages;
}

/** Allows the page's own inline scripts by their hash, and no connection but to this service. */
function policyFor(html: string): string {
  const hashes = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return `default-src 'self'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'`;
}
