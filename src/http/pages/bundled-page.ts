/** Serves a page that is bundled from its sources: the page itself, and its script and style sheet. */
import { Type } from 'typebox';
import { AppError } from '../../runtime/errors.ts';
import type { Api } from '../api/api.ts';
import { createPageBundle, type PageBundle, type PageSources } from './page-bundle.ts';

export interface BundledPage {
  sources: PageSources;
  /** All of them answer with the same page. */
  urls: readonly string[];
  /** The content security policy. */
  policy: string;
  /** Search engines must not list it. */
  unlisted?: boolean;
}

export function bundledPage(
  app: Api,
  { sources, urls, policy, unlisted }: BundledPage,
): () => Promise<PageBundle> {
  const bundle = createPageBundle(sources);

  for (const url of urls) {
    app.get(url, { schema: { hide: true } }, async (_request, reply) => {
      const { html } = await bundle();
      if (unlisted) reply.header('x-robots-tag', 'noindex, nofollow');
      return reply
        .header('content-security-policy', policy)
        .header('referrer-policy', 'no-referrer')
        .header('cross-origin-opener-policy', 'same-origin')
        .type('text/html; charset=utf-8')
        .send(html);
    });
  }

  app.get(
    `${sources.assetPath}/:name`,
    {
      config: { sameBytes: true },
      schema: { hide: true, params: Type.Object({ name: Type.String({ maxLength: 100 }) }) },
    },
    async ({ params: { name } }, reply) => {
      const asset = (await bundle()).assets.get(name);
      if (!asset) throw new AppError('resource_not_found', `There is no ${name} here.`);
      // Every version has its own name.
      return reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .type(asset.type)
        .send(asset.body);
    },
  );
  const { worker } = sources;
  if (worker) {
    app.get(worker.url, { schema: { hide: true } }, async (_request, reply) => {
      // Looked for anew each time that the page opens, so that no old version stays.
      return reply
        .header('cache-control', 'no-cache')
        .header('content-security-policy', "default-src 'none'; connect-src 'self'")
        .type('text/javascript; charset=utf-8')
        .send((await bundle()).worker);
    });
  }
  return bundle;
}
