/** Serves the documents below /docs/, as VitePress built them. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../runtime/errors.ts';
import type { Api } from '../api/api.ts';
import { isUnchanged } from '../bodies/range.ts';

const dist = join(import.meta.dirname, '../../../docs/.vitepress/dist');

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Site {
  /** By path below /docs/. */
  files: Map<string, SiteFile>;
  /** For an address without a document. */
  missing: SiteFile;
  policy: string;
}

interface SiteFile {
  type: string;
  body: Buffer;
  etag: string;
}

export function sitePages(app: Api): void {
  let reading: Promise<Site | null> | null = null;

  /** Some megabytes, read when somebody first asks for a page. Whether a missing site is there by now, each request looks. */
  async function site(): Promise<Site | null> {
    reading ??= readSite();
    const found = await reading;
    if (!found) reading = null;
    return found;
  }

  for (const url of ['/docs', '/docs/*']) {
    app.get(
      url,
      { config: { sameBytes: true }, schema: { hide: true } },
      async ({ params, headers }, reply) => {
        const found = await site();
        // A checkout that was installed without development dependencies has no site.
        if (!found) return reply.redirect('/docs/api');
        const path = ((params as { '*'?: string })['*'] ?? '').replace(/\/$/, '');
        const file = found.files.get(path === '' ? 'index.html' : path) ?? found.files.get(`${path}.html`);
        if (!file && extname(path) !== '') {
          throw new AppError('resource_not_found', `There is no document at ${path.slice(0, 100)}.`);
        }
        return send(file ? reply : reply.code(404), file ?? found.missing, {
          policy: found.policy,
          ifNoneMatch: file && headers['if-none-match'],
          immutable: path.startsWith('assets/'),
        });
      },
    );
  }
}

interface Sending {
  policy: string;
  ifNoneMatch: string | undefined;
  immutable: boolean;
}

function send(reply: FastifyReply, { type, body, etag }: SiteFile, sending: Sending): FastifyReply {
  // Names of assets contain the hash of their content. The tag of a page is weak: it stands for it in any compression.
  reply
    .header('cache-control', sending.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
    .header('etag', `W/${etag}`);
  if (isUnchanged(sending.ifNoneMatch, etag)) return reply.header('vary', 'accept-encoding').code(304).send();
  return reply
    .header('content-security-policy', sending.policy)
    .header('referrer-policy', 'same-origin')
    .type(type)
    .send(body);
}

async function readSite(): Promise<Site | null> {
  const files = new Map<string, SiteFile>();
  const scripts = new Set<string>();
  const names = await readdir(dist, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const body = await readFile(join(dist, name));
    files.set(name, { type, body, etag: `"${digest(body).slice(0, 22)}"` });
    if (extname(name) !== '.html') continue;
    for (const [, script] of String(body).matchAll(/<script(?![^>]* src=)[^>]*>([\s\S]+?)<\/script>/g))
      scripts.add(
        `'sha256-${createHash('sha256')
          .update(script ?? '')
          .digest('base64')}'`,
      );
  }
  const missing = files.get('404.html');
  return missing ? { files, missing, policy: policyFor([...scripts]) } : null;
}

function digest(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64url');
}

/** The pages' own scripts, and the few lines in them by their hash. Highlighted code has its colours in attributes. */
function policyFor(scripts: string[]): string {
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
