/** The documents as a site: complete, without dead links, served under a strict policy, and usable in a real browser. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import config from '../../docs/.vitepress/config.ts';
import { sidebar } from '../../docs/.vitepress/sidebar.ts';
import { site } from '../../docs/build.ts';
import { buildIfChanged } from '../../src/http/pages/built-folder.ts';
import { startBrowser } from '../support/clients/browser.ts';
import { findFaults } from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { type Service, startService } from '../support/service/service.ts';

const inBrowser = needs('chromium');
const docs = join(import.meta.dirname, '../../docs');
const siteFolder = join(docs, '.vitepress/dist');

let service: Service;
let browser: Browser;

before(async () => {
  await buildIfChanged(site);
  service = await startService({ runLoops: false });
});
after(() => service?.close());
inBrowser.before(async () => {
  browser = await startBrowser();
});
inBrowser.after(() => browser?.close());

/** Paths on the site, by the name of the built page. */
const pages = () =>
  globSync('**/*.html', { cwd: siteFolder })
    .filter((name) => name !== '404.html')
    .map((name) => ({ path: `/docs/${name.replace(/(^|\/)index\.html$|\.html$/, '$1')}`, name }));

const read = (name: string) => readFileSync(join(siteFolder, name), 'utf8');

test('the sidebar leads to every page, and to nothing else', () => {
  const links = sidebar.flatMap(({ items }) =>
    items.filter((item) => !('target' in item)).map(({ link }) => `/docs${link}`),
  );
  assert.deepEqual(
    links.toSorted(),
    pages()
      .map(({ path }) => path)
      .filter((path) => path !== '/docs/')
      .sort(),
  );
});

test('a page is the same each time it is made, however slow the machine is', async (t) => {
  const { createMarkdownRenderer } = await import('vitepress');
  const fence = '```sh [curl]\ncurl -s "$HOLDFAST_URL/api" -H "x-api-key: $KEY" | jq .\n```\n';
  const text = `${fence}\n::: code-group\n${fence}\n${fence}\n:::\n`;
  const { render } = await createMarkdownRenderer(docs, config.markdown, '/docs/');
  const made = await render(text, {});
  const { now } = Date;
  let turns = 0;
  // Each look at the clock finds it a second later.
  t.mock.method(Date, 'now', () => now() + 1_000 * ++turns);
  assert.equal(await render(text, {}), made);
  assert.ok(turns > 0);
  assert.match(made, /<span style="[^"]+"> jq<\/span>/);
});

test('every link of every page leads somewhere, also to a heading', async () => {
  const known = new Map(pages().map(({ path, name }) => [path, new Set(ids(read(name)))]));
  for (const path of ['/docs/api', '/docs/errors', '/verify']) {
    const { status, text } = await service.call('GET', path, { key: null });
    assert.equal(status, 200, path);
    known.set(path, new Set(ids(text)));
  }
  const dead: string[] = [];
  let followed = 0;
  for (const { path, name } of pages()) {
    for (const [, href = ''] of read(name).matchAll(/<a\b[^>]*\shref="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://site${path}`);
      if (origin !== 'http://site') continue;
      followed += 1;
      const target = known.get(pathname);
      const anchor = decodeURIComponent(hash.slice(1));
      if (!target || (anchor !== '' && !target.has(anchor))) dead.push(`${path} → ${href}`);
    }
  }
  assert.deepEqual(dead, []);
  assert.ok(followed > 1000, `${followed} links`);
});

function ids(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id);
}

test('pages are served with and without a slash, checked again by their tag, and a wrong address is told', async () => {
  const get = (path: string, headers = {}) => service.call('GET', path, { key: null, headers });
  for (const path of [
    '/docs',
    '/docs/',
    '/docs/guide/concepts',
    '/docs/guide/concepts/',
    '/docs/webhooks.html',
  ]) {
    const { status, headers, text } = await get(path);
    assert.equal(status, 200, path);
    assert.match(headers.get('content-type') ?? '', /^text\/html/);
    assert.match(text, /<title>.*Holdfast<\/title>/);
  }
  const { headers } = await get('/docs/security');
  const again = await get('/docs/security', { 'if-none-match': headers.get('etag') ?? '' });
  assert.equal(again.status, 304);
  for (const path of ['/docs/nothing', '/docs/guide', '/docs/__proto__']) {
    const { status, text } = await get(path);
    assert.equal(status, 404, path);
    assert.match(text, /<title>404 · Holdfast<\/title>/);
  }
  for (const path of [
    '/docs/assets/none.js',
    '/docs/..%2fbuild.ts',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/.vitepress/config.ts',
  ]) {
    assert.equal((await get(path)).status, 404, path);
  }
});

test('the policy allows the scripts of the pages and no other, and assets can be cached forever', async () => {
  const { headers, text } = await service.call('GET', '/docs/', { key: null });
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'; script-src 'self'( 'sha256-[^']+')+;/);
  assert.doesNotMatch(policy, /script-src[^;]*(unsafe|https?:)/);
  const [, script = ''] = /src="(\/docs\/assets\/[^"]+\.js)"/.exec(text) ?? [];
  const asset = await service.call('GET', script, { key: null });
  assert.equal(asset.status, 200);
  assert.match(asset.headers.get('cache-control') ?? '', /immutable/);
});

/** Of what a first visit loads, compressed. */
const mostBytes = { '/docs/': 120_000, '/docs/guide/quick-start': 130_000, '/docs/api': 70_000 };

for (const [path, most] of Object.entries(mostBytes)) {
  test(`${path} is small, compressed, cached, and says what it is`, async () => {
    const page = await transfer(path);
    const html = brotliDecompressSync(page.body).toString();
    assert.match(html, /<html lang="en"/);
    assert.match(html, /<main|role="main"/);
    assert.match(html, /<title>[^<]{5,60}<\/title>/);
    assert.match(html, /<meta name="description" content="[^"]{25,160}"/);
    assert.match(html, /<meta name="viewport" content="width=device-width/);
    const parts = [...html.matchAll(/(?:href|src)="(\/docs\/[^"]+\.(?:js|css|svg))"/g)].map(
      ([, part = '']) => part,
    );
    let bytes = page.body.length;
    for (const part of new Set(parts)) {
      const { body, encoding, caching } = await transfer(part);
      bytes += body.length;
      assert.ok(encoding === 'br' || body.length < 1_024, `${part} is not compressed`);
      if (part.includes('/assets/')) assert.match(caching, /max-age=31536000, immutable/, part);
    }
    assert.ok(bytes < most, `${bytes} bytes`);
    assert.equal(page.encoding, 'br');
    assert.match(page.caching, /no-cache/);
  });
}

/** As it is on the wire. */
function transfer(path: string): Promise<{ body: Buffer; encoding: string | undefined; caching: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': 'br' };
    request(new URL(path, service.url), { headers }, async (response) => {
      assert.equal(response.statusCode, 200, path);
      const { 'content-encoding': encoding, 'cache-control': caching = '' } = response.headers;
      resolve({ body: await buffer(response), encoding, caching });
    })
      .on('error', reject)
      .end();
  });
}

for (const colorScheme of ['light', 'dark'] as const) {
  inBrowser.test(
    `the site works in a browser in ${colorScheme} colours, wide and narrow, without a fault`,
    async () => {
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 360, height: 720 },
      ]) {
        const context = await browser.newContext({ baseURL: service.url, colorScheme, viewport });
        const page = await context.newPage();
        const said = complaints(page);
        for (const path of ['/docs/', '/docs/guide/concepts', '/docs/webhooks', '/docs/guide/costs']) {
          await page.goto(path);
          await page.locator('h1').first().waitFor();
          const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
          assert.ok(width <= viewport.width, `${path} is ${width} pixels wide`);
          assert.deepEqual(await findFaults(page), [], `${path} ${viewport.width}`);
        }
        assert.deepEqual(said, []);
        await context.close();
      }
    },
  );
}

inBrowser.test('the search finds a page by its words', async () => {
  const context = await browser.newContext({ baseURL: service.url });
  const page = await context.newPage();
  const said = complaints(page);
  await page.goto('/docs/');
  await page.getByRole('button', { name: 'Search' }).first().click();
  await page.getByRole('searchbox').fill('earlier reorganisation');
  await page.locator('.result').first().waitFor();
  await page.getByRole('searchbox').fill('rotate the secret');
  await page.locator('.result', { hasText: 'Rotate the secret' }).first().click();
  await page.waitForURL(/\/docs\/webhooks(\.html)?#rotate-the-secret$/);
  assert.deepEqual(said, []);
  await context.close();
});

/** What the browser reports as an error: a script that the policy refuses, a missing file, an exception. */
function complaints(page: Page): string[] {
  const said: string[] = [];
  page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  return said;
}

test('no build is left beside the one that is served', () => {
  assert.ok(existsSync(siteFolder));
  assert.deepEqual(globSync('.vitepress/dist.*', { cwd: docs }), []);
});
