/** Serves the dashboard: the same page under each of its paths, and its scripts and styles. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../runtime/errors.ts';
import type { Api } from '../api/api.ts';
import { buildIfChanged } from './built-folder.ts';
import { dashboard, dashboardFolder } from './dashboard-build.ts';
import { pageTable } from './dashboard-table.ts';

/** The first segment of each path of the dashboard; the dashboard itself interprets the rest. */
const firstParts = new Set(pageTable.map(({ path }) => path.split('/')[1]).filter(Boolean));

/** No scripts but the dashboard's own; the component library adds styles at run time. */
const policy = [
  "default-src 'none'",
  // WebAssembly hashes files in the browser, so that they need not be sent; it is embedded in the script.
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

export function dashboardPages(app: Api): void {
  const dist = createDist();
  const urls = ['/', ...[...firstParts].flatMap((part) => [`/${part}`, `/${part}/*`])];
  for (const url of urls) {
    app.get(url, { config: { sameBytes: true }, schema: { hide: true } }, async (_request, reply) =>
      reply
        .header('content-security-policy', policy)
        .header('referrer-policy', 'same-origin')
        .header('cross-origin-opener-policy', 'same-origin')
        .header('x-frame-options', 'DENY')
        .type('text/html; charset=utf-8')
        .send(await dist.read('index.html')),
    );
  }

  // Browsers request the second one when a page names no icon.
  for (const url of ['/favicon.svg', '/favicon.ico']) {
    app.get(url, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=86400')
        .type('image/svg+xml')
        .send(await readFile(join(dashboardFolder, 'favicon.svg'))),
    );
  }

  // Search engines may index the documents, but neither private data nor the pages that lead to it.
  app.get('/robots.txt', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=86400')
      .type('text/plain; charset=utf-8')
      .send('User-agent: *\nDisallow: /\nAllow: /docs/\n'),
  );

  app.get<{ Params: { name: string } }>(
    '/static/:name',
    { config: { sameBytes: true }, schema: { hide: true } },
    async ({ params: { name } }, reply) => {
      const type = types[/^[\w-]+\.(\w+)$/.exec(name)?.[1] ?? ''];
      const body = type === undefined ? null : await dist.read(`static/${name}`);
      if (!body || type === undefined) {
        throw new AppError('resource_not_found', `There is no ${name.slice(0, 100)} here.`);
      }
      // Immutable, because another version has another name.
      return reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(body);
    },
  );
}

/** Reads the output of the build, which is made now if it is missing or older than its sources. */
function createDist(): { read(name: string): Promise<Buffer | null> } {
  /** Only files that exist, so that requests for unknown names cannot fill it. */
  const kept = new Map<string, Promise<Buffer | null>>();

  async function load(name: string): Promise<Buffer | null> {
    if (name === 'index.html') await refresh();
    try {
      return await readFile(join(dashboardFolder, 'dist', name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || name === 'index.html') throw error;
      return null;
    }
  }

  return {
    read(name) {
      const present = kept.get(name);
      if (present) return present;
      const loading = load(name).then(
        (bytes) => {
          if (bytes === null) kept.delete(name);
          return bytes;
        },
        (error) => {
          kept.delete(name);
          throw error;
        },
      );
      kept.set(name, loading);
      return loading;
    },
  };
}

async function refresh(): Promise<void> {
  try {
    await buildIfChanged(dashboard);
  } catch (error) {
    // Where the service may not write, whoever installed it answers for what is there.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code) || !existsSync(join(dashboardFolder, 'dist')))
      throw error;
  }
}
