/** Serves the dashboard: the one page under each of its paths, and the scripts and styles that the page names. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../runtime/errors.ts';
import type { Api } from '../api/api.ts';
import { buildDashboard, dashboardFolder } from './dashboard-build.ts';
import { pageTable } from './dashboard-table.ts';

/** The first part of each path that the dashboard shows a page for; what follows it is the dashboard's to read. */
const firstParts = new Set(pageTable.map(({ path }) => path.split('/')[1]).filter(Boolean));

/** No script but the dashboard's own; the component library writes styles as it goes. */
const policy = [
  "default-src 'none'",
  // WebAssembly hashes files here, so that they need not be sent; it is inside the script.
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

  // Browsers ask for the second one where a page names none.
  for (const url of ['/favicon.svg', '/favicon.ico']) {
    app.get(url, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=86400')
        .type('image/svg+xml')
        .send(await readFile(join(dashboardFolder, 'favicon.svg'))),
    );
  }

  // What somebody keeps here is not for search engines, and neither are the pages that lead to it.
  app.get('/robots.txt', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=86400')
      .type('text/plain; charset=utf-8')
      .send('User-agent: *\nDisallow: /\n'),
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
      // Another version has another name.
      return reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(body);
    },
  );
}

/** What the build left; built now where an installation left it out. */
function createDist(): { read(name: string): Promise<Buffer | null> } {
  /** What is there; names that are not would push it out. */
  const kept = new Map<string, Promise<Buffer | null>>();
  let building: Promise<unknown> | null = null;

  async function load(name: string): Promise<Buffer | null> {
    try {
      return await readFile(join(dashboardFolder, 'dist', name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      if (name !== 'index.html') return null;
      building ??= buildDashboard();
      await building;
      return readFile(join(dashboardFolder, 'dist', name));
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
