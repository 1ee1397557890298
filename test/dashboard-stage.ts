/** What the browser tests of the dashboard start from: a service, a browser, people with accounts, and a look for faults. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from './browser.ts';
import { type Account, becomeOwner, join, type Visitor } from './browser-session.ts';
import { waitUntil } from './process.ts';
import { certificate } from './receiver.ts';
import { type Service, startService } from './service.ts';

export interface DashboardStage {
  service: Service;
  /** A page of a browser that nobody has used before. */
  open(path: string, options?: PageOptions): Promise<Page>;
  /** The first owner, who is made once. */
  owner(): Promise<Visitor>;
  /** A new person in the workspace; `account` to sign in by hand. */
  member(role: string): Promise<{ visitor: Visitor; account: Account }>;
  close(): Promise<void>;
}

export interface PageOptions extends Pick<BrowserContextOptions, 'colorScheme' | 'viewport'> {
  /** Who is signed in there. */
  as?: Visitor;
}

export const ada: Account = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };

/** A busy machine takes its time; what takes longer does not come. */
const longestMs = 30_000;

export async function openDashboardStage({ chain = false } = {}): Promise<DashboardStage> {
  const service = await startService({
    chain,
    env: {
      HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
      HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
      HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '20ms',
      HOLDFAST_ANCHOR_INTERVAL_MS: '200',
    },
  });
  const browser: Browser = await startBrowser().catch(async (error) => {
    // Left running it would keep the tests from ending.
    await service.close();
    throw error;
  });
  let first: Promise<Visitor> | null = null;
  let people = 0;
  const owner = () => {
    first ??= becomeOwner(service, ada);
    return first;
  };
  return {
    service,
    owner,
    async open(path, { as, ...options } = {}) {
      const context = await browser.newContext({ baseURL: service.url, ...options });
      const page = await context.newPage();
      if (as) await carryCookies(page, as, service.url);
      page.setDefaultTimeout(longestMs);
      failOnFaults(page);
      await page.goto(path);
      return page;
    },
    async member(role) {
      people += 1;
      const account = {
        name: `Person ${people}`,
        email: `p${people}@example.com`,
        password: 'a long enough one',
      };
      const invited = await (await owner()).call('POST', '/api-v1/platform/invitations', { body: { role } });
      assert.equal(invited.status, 201, invited.text);
      return { visitor: await join(service, invited.json.link, account), account };
    },
    async close() {
      await Promise.all([browser.close(), service.close()]);
    },
  };
}

export async function signInByHand(page: Page, { email, password }: Account): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** To another page of the dashboard as its links go there, without loading again what all share; the one before is gone then. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`{
    const { pathname } = new URL(${JSON.stringify(path)}, location);
    window.headingLeft = pathname === location.pathname ? null : document.querySelector('h1');
    history.pushState(null, '', ${JSON.stringify(path)});
  }`);
  await waitUntil(async () => !(await page.evaluate('headingLeft?.isConnected')));
}

/** Whatever the page throws, and whatever its own policy refuses, fails the test. */
function failOnFaults(page: Page): void {
  page.on('pageerror', (error) => assert.fail(error));
  page.on('console', (message) => {
    assert.doesNotMatch(message.text(), /Content Security Policy|unique "key"|Minified React error/);
  });
}

/** Playwright's own way names a domain, which cookies that begin with __Host- must not have. */
async function carryCookies(page: Page, visitor: Visitor, url: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const pair of visitor.cookies().split('; ')) {
    const [name = '', ...value] = pair.split('=');
    const kind = { path: '/', secure: true, httpOnly: true, sameSite: 'Strict' } as const;
    const { success } = await session.send('Network.setCookie', {
      name,
      value: value.join('='),
      url,
      ...kind,
    });
    assert.ok(success, `the browser does not take the cookie ${name}`);
  }
  await session.detach();
}

/** The small one: a browser needs half the time for it. */
function axeSource(): string {
  return readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
}

/** Serious and critical faults of accessibility on the page as it is now, or in one part of it, by all rules or some. */
export async function findFaults(page: Page, rules?: string[], within?: string): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeSource());
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const violations = (await page.evaluate(
    `axe.run(${within === undefined ? 'document' : JSON.stringify(within)}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as axe.Result[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
    );
}
