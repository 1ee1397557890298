/** Every page of the dashboard with data, in a real browser: usable by all, in both colour schemes, and smooth when long. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { fromNow, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { type Dialog, type DialogPlaces, dialogsAt } from '../support/fixtures/dashboard-dialogs.ts';
import {
  type DashboardFixture,
  findFaults,
  follow,
  openDashboardFixture,
  type PageOptions,
} from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { withClient } from '../support/service/database.ts';
import { longOnly } from '../support/service/long.ts';
import { waitUntil } from '../support/service/process.ts';

const { after, before, test } = needs('chromium');
const platform = '/api-v1/platform';
const phone = { width: 360, height: 720 };
const manyDeliveries = 3_000;

let fixture: DashboardFixture;
let receiver: Receiver;
/** Path and title of every page. */
let pages: [path: string, title: string | RegExp][];
let endpointId: string;
let places: DialogPlaces;

before(async () => {
  fixture = await openDashboardFixture();
  receiver = await startReceiver();
  pages = await makeData();
});
after(async () => {
  await fixture?.close();
  await receiver?.close();
});

async function makeData(): Promise<typeof pages> {
  const { service } = fixture;
  await fixture.owner();
  await fixture.member('viewer');
  const make = async (path: string, body: object) => {
    const answer = await service.call('POST', `${platform}${path}`, { body });
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  };
  const { address } = await make('/vaults', { name: 'Contracts', description: 'Signed ones' });
  const eventTypes = ['vault.deactivated', 'vault.reactivated'];
  endpointId = (await make('/webhooks/endpoints', { url: receiver.url, eventTypes })).id;
  const record = await make('/records', {
    vaultAddress: address,
    externalId: 'reading-1',
    data: { celsius: 4 },
  });
  const file = await make('/files', {
    vaultAddress: address,
    name: 'lease.pdf',
    contentHash: `0x${'5'.repeat(64)}`,
  });
  await make('/api-keys', { name: 'Importer' });
  const assets = openAssetFixture(service);
  const assetId = await assets.newAsset();
  const worker = await assets.newWorker();
  await assets.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  const work = {
    workerAddress: worker,
    type: 'repair',
    summary: 'Seal replaced',
    performedAt: fromNow(-1_000),
  };
  const entry = await assets.call('POST', assetId, 'maintenances/', { body: work });
  assert.equal(entry.status, 202, entry.text);
  places = {
    endpoint: `/webhooks/${endpointId}`,
    asset: `/assets/${encodeURIComponent(assetId)}`,
    worker: `/workers/${worker}`,
    maintenanceId: entry.json.maintenanceId,
  };
  for (const action of ['deactivate', 'reactivate']) {
    await service.call('PATCH', `${platform}/vaults/${address}/${action}`);
  }
  return [
    ['/', 'Overview'],
    ['/vaults', 'Vaults'],
    [`/vaults/${address}`, 'Contracts'],
    ['/files', 'Files'],
    [`/files/${file.id}`, 'lease.pdf'],
    ['/records', 'Records'],
    [`/records/${record.id}`, /reading-1|rec_/],
    ['/import', 'Import'],
    ['/assets', 'Assets'],
    [`/assets/${encodeURIComponent(assetId)}`, 'Pump'],
    ['/workers', 'Workers'],
    [`/workers/${worker}`, 'Ada'],
    ['/webhooks', 'Webhooks'],
    [`/webhooks/${endpointId}`, receiver.url],
    ['/webhooks?tab=deliveries', 'Webhooks'],
    ['/events', 'Events'],
    ['/keys', 'API keys'],
    ['/members', 'Members'],
    ['/approvals', 'Approvals'],
    ['/audit-log', 'Audit log'],
    ['/settings', 'Settings'],
    ['/settings?tab=maintenance', 'Settings'],
  ];
}

/** Pages of the owner that nothing happens on, by their options: to open one takes longer than to go from page to page. */
const quiet = new Map<string, Page>();

/** Where it begins is any page, but for the first time one with little on it. */
async function withPage(options: PageOptions, work: (page: Page) => Promise<void>): Promise<void> {
  const key = JSON.stringify(options);
  const page = quiet.get(key) ?? (await fixture.open('/keys', { as: await fixture.owner(), ...options }));
  // What a failure leaves behind is not used again.
  quiet.delete(key);
  await work(page);
  quiet.set(key, page);
}

/** Goes there, and waits until all of it is there. */
async function settle(page: Page, path: string, title: string | RegExp): Promise<void> {
  await follow(page, path);
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
}

/** The rules take seconds of processor time for each page. */
const walk = { timeout: 600_000 };

for (const colorScheme of ['light', 'dark'] as const) {
  // What is not about colours is the same in both.
  const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
  const skip = colorScheme === 'dark' && longOnly;

  for (const half of [0, 1]) {
    const name = `${half === 0 ? 'no page has' : 'no other page has'} a serious accessibility fault`;
    test(`${name} in ${colorScheme} colours`, { skip, ...walk }, async () => {
      const faults: string[] = [];
      await withPage({ colorScheme }, async (page) => {
        for (const [path, title] of pages.filter((_, place) => place % 2 === half)) {
          // The address alone leads there too.
          assert.equal((await fixture.service.call('GET', path, { key: null })).status, 200, path);
          await settle(page, path, title);
          faults.push(...(await findFaults(page, rules)).map((fault) => `${path} ${fault}`));
        }
      });
      assert.deepEqual(faults, []);
    });
  }

  test(`no public page has a serious fault in ${colorScheme} colours`, { skip, ...walk }, async () => {
    const faults: string[] = [];
    const link = await (await fixture.owner()).call('POST', `${platform}/invitations`, {
      body: { role: 'viewer' },
    });
    const page = await fixture.open('/sign-in', { colorScheme });
    const shown: [path: string, title: string | RegExp][] = [
      ['/sign-in', 'Sign in'],
      ['/join#wrong', 'This link does not work'],
      // Between the two links, of which the second alone would not be loaded anew.
      ['/verify', 'Check a proof'],
      ['/docs/api', /^Holdfast API/],
      [link.json.link, 'You are invited'],
    ];
    for (const [path, title] of shown) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      // Closed, most of the reference would be passed over.
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      faults.push(...(await findFaults(page, rules)).map((fault) => `${path} ${fault}`));
    }
    await page.context().close();
    assert.deepEqual(faults, []);
  });
}

test('the reference finds operations by all words, and opens the one in its address', async () => {
  const page = await fixture.open('/docs/api#post-api-v1-platform-vaults');
  assert.equal(await page.locator('details[open]').count(), 1);
  await page.getByLabel('Search').fill('vaults transactions');
  const found = page.locator('details:not([hidden])');
  await waitUntil(async () => (await found.count()) < 5);
  assert.match((await found.allInnerTexts()).join(), /\/vaults\/\{vaultAddress\}\/transactions/);
  assert.equal(
    await page.locator('output').innerText(),
    `${await found.count()} operation${(await found.count()) === 1 ? '' : 's'}`,
  );
  await page.context().close();
});

test('reference and error list fit a phone with everything open, and have no serious fault there', async () => {
  const page = await fixture.open('/docs/api', { viewport: phone });
  for (const path of ['/docs/api', '/docs/errors']) {
    await page.goto(path);
    // What is opened holds no further target, and with everything open this rule takes eight times as long.
    assert.deepEqual(await findFaults(page, ['target-size']), [], path);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(width) <= phone.width, `${path} is ${width} pixels wide`);
    // All of a page with everything open takes long: what depends on the width is enough here.
    const rules = ['scrollable-region-focusable', 'meta-viewport'];
    assert.deepEqual(await findFaults(page, rules), [], path);
  }
  await page.context().close();
});

/** How far a dialog has come in: colours and places are right when it is there. */
const lookOfDialog = `(({ opacity, transform }) => opacity + transform)(
  getComputedStyle(document.querySelector('[role=dialog]')))`;
const atRest: unknown[] = ['1none', '1matrix(1, 0, 0, 1, 0, 0)'];

/** Opens it, looks at it, and closes it again. */
async function faultsOf({ title, path, open }: Dialog, page: Page): Promise<string[]> {
  await follow(page, path);
  await open?.(page);
  const dialog = page.getByRole('dialog', { name: title });
  await dialog.waitFor();
  await dialog.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  await waitUntil(async () => atRest.includes(await page.evaluate(lookOfDialog)));
  const faults = await findFaults(page, undefined, '[role=dialog]');
  const box = await dialog.boundingBox();
  if (!box || box.x < 0 || box.x + box.width > phone.width) faults.push('is wider than a phone');
  await dialog.getByRole('button', { name: 'Close', exact: true }).first().click();
  await dialog.waitFor({ state: 'detached' });
  return faults;
}

for (const half of [0, 1]) {
  const name = half === 0 ? 'dialogs fit a phone, and have no serious fault' : 'so do the other dialogs';
  test(name, async () => {
    const faults: string[] = [];
    await withPage({ viewport: phone }, async (page) => {
      for (const dialog of dialogsAt(places).filter((_, place) => place % 2 === half)) {
        faults.push(...(await faultsOf(dialog, page)).map((fault) => `${dialog.title} ${fault}`));
      }
    });
    assert.deepEqual(faults, []);
  });
}

test('no page is wider than a phone', async () => {
  const wide: string[] = [];
  await withPage({ viewport: phone }, async (page) => {
    for (const [path, title] of pages) {
      await settle(page, path, title);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      if (Number(width) > phone.width) wide.push(`${path} is ${width} wide`);
    }
  });
  assert.deepEqual(wide, []);
});

test('on a phone the keyboard skips the navigation until it is opened', async () => {
  const page = await fixture.open('/keys', { as: await fixture.owner(), viewport: phone });
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  const focused = (role: 'button' | 'link', name: string | RegExp) =>
    page.getByRole(role, { name }).and(page.locator(':focus')).waitFor();
  const menu = page.getByRole('button', { name: /^Your account/ });
  await menu.focus();
  await page.keyboard.press('Tab');
  await focused('button', 'New key');
  await page.getByRole('button', { name: 'Navigation' }).press('Enter');
  await page.getByRole('link', { name: 'Overview', exact: true }).waitFor();
  await menu.focus();
  await page.keyboard.press('Tab');
  await focused('link', /^Overview$/);
  await page.context().close();
});

/** Counts rows and elements that are added from now on, and times written, of which a row of deliveries has two. */
const countDrawing = `{
  window.drawing = { rows: 0, elements: 0, times: 0 };
  const { format } = Intl.RelativeTimeFormat.prototype;
  Intl.RelativeTimeFormat.prototype.format = function (...given) {
    drawing.times += 1;
    return format.apply(this, given);
  };
  new MutationObserver((changes) => {
    for (const added of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(added instanceof Element)) continue;
      drawing.elements += 1 + added.querySelectorAll('*').length;
      if (added.hasAttribute('aria-rowindex')) drawing.rows += 1;
    }
  }).observe(document.querySelector('tbody'), { childList: true, subtree: true });
}`;

test('a log of thousands draws only what is visible, and continues on scrolling', async () => {
  await withClient({ connectionString: fixture.service.databaseUrl }, (client) =>
    client.query(
      `insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
       select e.workspace_id, 'dlv_' || lpad(n::text, 26, '0'), 'evt_' || lpad(n::text, 26, '0'), e.id,
              'vault.deactivated', 'succeeded', now() - make_interval(secs => n)
       from webhook_endpoints e, generate_series(1, $2::integer) n where e.id = $1`,
      [endpointId, manyDeliveries],
    ),
  );
  const page = await fixture.open('/webhooks?tab=deliveries', { as: await fixture.owner() });
  const table = page.getByRole('table', { name: 'Deliveries' });
  await table.waitFor();
  const loaded = async () => Number(await table.getAttribute('aria-rowcount'));
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/webhooks/deliveries?')) asked += 1;
  });
  await page.evaluate(countDrawing);
  await page.mouse.move(600, 400);
  let turns = 0;
  for (let before = 0; before < 2_000; before = await loaded()) {
    turns += 1;
    await page.mouse.wheel(0, 20_000);
    await waitUntil(async () => (await loaded()) > before);
    const drawn = await table.getByRole('row').count();
    assert.ok(drawn < 120, `${drawn} rows are drawn`);
  }
  // Each time somebody comes to the end, and not by itself.
  assert.ok(asked <= 3 * turns, `${asked} pages were fetched for ${turns} turns`);
  // Each row is drawn once, from few elements, and stays as it is while others come and go.
  const { rows, elements, times } = (await page.evaluate('drawing')) as Record<string, number>;
  assert.ok(Number(rows) > 200, `${rows} rows came into sight`);
  assert.ok(Number(elements) <= 25 * Number(rows), `${elements} elements were made for ${rows} rows`);
  assert.ok(Number(times) <= 4 * Number(rows), `${times} times were written for ${rows} rows`);
  // Where one is in the list is what one sees.
  const last = await table.getByRole('row').last().getAttribute('aria-rowindex');
  assert.ok(Number(last) > 1_000, `the last row drawn is ${last}`);
  await page.evaluate('scrollTo(0, 0)');
  await table.locator('[aria-rowindex="2"]').waitFor();
  assert.ok((await loaded()) < manyDeliveries, 'everything was fetched');
  await page.context().close();
});
