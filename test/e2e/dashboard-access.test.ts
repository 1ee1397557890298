/** Who may see and do what in the dashboard, in a real browser; and how light and quiet its door is. */
// tier: process
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Response } from 'playwright-core';
import { join } from '../support/clients/browser-session.ts';
import { fromNow, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import {
  type DashboardFixture,
  follow,
  openDashboardFixture,
  signInByHand,
} from '../support/fixtures/dashboard-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { needs } from '../support/programs/needs.ts';
import { withClient } from '../support/service/database.ts';

const { after, before, test } = needs('chromium');
const platform = '/api-v1/platform';
/** Usable within 1.5 s: half of that for what the page does itself, the other half for whatever it has to wait for. */
const budget = { scriptBytes: 250 * 1024, requests: 16, workMs: 750 };

let fixture: DashboardFixture;
let vault: { address: string };
before(async () => {
  fixture = await openDashboardFixture();
  await fixture.owner();
  vault = (await fixture.service.call('POST', `${platform}/vaults`, { body: { name: 'Contracts' } })).json;
});
after(() => fixture?.close());

test('a viewer sees everything but no controls, and the API refuses the rest', async () => {
  const { visitor } = await fixture.member('viewer');
  const page = await fixture.open('/vaults', { as: visitor });
  await page.getByRole('link', { name: 'Contracts' }).click();
  await page.getByRole('heading', { name: 'Contracts' }).waitFor();
  const writing = /^(New|Add|Create|Invite|Actions|Rename|Deactivate|Upload|Replay|Send|Retry|Remove|Delete)/;
  for (const [path, heading] of [
    [`/vaults/${vault.address}`, 'Contracts'],
    ['/vaults', 'Vaults'],
    ['/files', 'Files'],
    ['/records', 'Records'],
    ['/assets', 'Assets'],
    ['/workers', 'Workers'],
    ['/webhooks', 'Webhooks'],
    ['/keys', 'API keys'],
    ['/members', 'Members'],
  ] as const) {
    await follow(page, path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    // Until what is listed is there.
    await page
      .getByRole('main')
      .getByText(/entr(y|ies)$|yet$|not shown|Person|No .* yet/)
      .first()
      .waitFor();
    const main = page.getByRole('main');
    assert.deepEqual(await main.getByRole('button', { name: writing }).allTextContents(), [], path);
  }
  await follow(page, '/settings?tab=workspace');
  await page.getByText('ask an owner or admin of the first workspace').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Create workspace' }).count(), 0);
  await page.getByRole('tab', { name: 'Usage' }).click();
  await page.getByText('Files and data').waitFor();
  await page.getByText('0 of 500', { exact: true }).waitFor();
  await page.context().close();
  for (const [method, path, body] of [
    ['POST', '/vaults', { name: 'Mine' }],
    ['PATCH', `/vaults/${vault.address}/deactivate`, undefined],
    ['POST', '/records', { vaultAddress: vault.address, data: {} }],
    ['POST', '/webhooks/endpoints', { url: 'https://example.com/', eventTypes: ['vault.deactivated'] }],
    ['POST', '/api-keys', { name: 'mine' }],
    ['POST', '/invitations', { role: 'owner' }],
    ['POST', '/workspaces', { name: 'Mine' }],
  ] as const) {
    assertError(await visitor.call(method, platform + path, { body }), 'forbidden');
  }
});

test('signing out everywhere ends every session at once', async () => {
  const { visitor, account } = await fixture.member('developer');
  const [here, there] = await Promise.all([
    fixture.open('/sign-in'),
    fixture.open('/settings', { as: visitor }),
  ]);
  await signInByHand(here, account);
  await here.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click();
  await here.getByRole('tab', { name: 'Sessions' }).click();
  await here.getByText('current', { exact: true }).waitFor();
  await here.getByRole('button', { name: 'Sign out everywhere' }).click();
  await here.getByRole('heading', { name: 'Sign in' }).waitFor();
  assertError(await visitor.call('GET', `${platform}/me`), 'unauthorized');
  await there.goto('/vaults');
  await there.getByRole('heading', { name: 'Sign in' }).waitFor();
  // And back to where one wanted to be.
  await signInByHand(there, account);
  await there.getByRole('heading', { name: 'Vaults' }).waitFor();
  await Promise.all([here.context().close(), there.context().close()]);
});

test('opening an asset is one entry in its access log, and shows what is due', async () => {
  const assets = openAssetFixture(fixture.service);
  const assetId = await assets.newAsset({ vaultAddress: vault.address });
  const interval = { every: { days: 1 }, lastDone: { at: fromNow(-3 * 24 * 60 * 60 * 1000) } };
  assert.equal((await assets.call('POST', assetId, 'intervals/', { body: interval })).status, 201);
  const page = await fixture.open(`/assets/${encodeURIComponent(assetId)}`, { as: await fixture.owner() });
  await page.getByText('1 overdue').waitFor();
  await page.getByText('No maintenance recorded yet').waitFor();
  const { json } = await assets.call('GET', assetId, 'access-log/');
  assert.equal(json.length, 1, JSON.stringify(json));
  assert.deepEqual([json[0].actor.kind, json[0].viewerAddress], ['user', vault.address]);
  await page.context().close();
});

test('finds assets by words of their name and number, as they are typed', async () => {
  const assets = openAssetFixture(fixture.service);
  await assets.newAsset({ vaultAddress: vault.address, name: 'Bilge pump', serialNumber: 'SN-4711' });
  await assets.newAsset({ vaultAddress: vault.address, name: 'Rudder', serialNumber: 'SN-4712' });
  const page = await fixture.open('/assets', { as: await fixture.owner() });
  await page.getByText('Rudder').waitFor();
  await page.getByLabel('Search').fill('4711 bilge');
  await page.getByText('Rudder').waitFor({ state: 'detached' });
  await page.getByText('Bilge pump').waitFor();
  // Not only digits, which the random id of an asset may have too.
  await page.getByLabel('Search').fill('SN-4713');
  await page.getByText('No matches').waitFor();
  await page.context().close();
});

test('a filter keeps each letter and the focus while the page is slow, and follows the back button', async () => {
  const assets = openAssetFixture(fixture.service);
  await assets.newAsset({ vaultAddress: vault.address, name: 'Hydraulic winch', serialNumber: 'SN-5001' });
  const page = await fixture.open('/assets', { as: await fixture.owner() });
  await page.getByText('Hydraulic winch').waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 20 });
  const field = page.getByLabel('Search');
  const words = 'hydraulic winch SN-5001';
  await field.focus();
  // As fast as they come, without waiting until the page has taken one.
  await Promise.all([...words].map((text) => session.send('Input.insertText', { text })));
  assert.equal(await field.inputValue(), words);
  await page.waitForURL(/[?&]q=hydraulic/);
  await page.getByText('Hydraulic winch').waitFor();
  await field.fill('');
  await page.waitForURL((url) => !url.searchParams.has('q'));
  await field.and(page.locator(':focus')).waitFor();
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  await follow(page, '/assets?q=nowhere');
  await page.getByText('No matches').waitFor();
  assert.equal(await field.inputValue(), 'nowhere');
  await page.goBack();
  await page.getByText('Hydraulic winch').waitFor();
  assert.equal(await field.inputValue(), '');
  await page.context().close();
});

test('shows an expired invitation as such, and can remove it from the list', async () => {
  const owner = await fixture.owner();
  const email = 'late@example.com';
  await owner.call('POST', `${platform}/invitations`, { body: { role: 'viewer', email } });
  await withClient({ connectionString: fixture.service.databaseUrl }, (client) =>
    client.query(`update invitations set expires_at = now() - interval '1 hour' where email = $1`, [email]),
  );
  const page = await fixture.open('/members', { as: owner });
  await page.getByText(/late@example\.com as viewer, expired/).waitFor();
  await page.getByRole('button', { name: `Withdraw the invitation for ${email}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await page.getByText(email).waitFor({ state: 'detached' });
  await page.context().close();
});

test('a session of another workspace sees nothing of this one', async () => {
  const owner = await fixture.owner();
  const made = await owner.call('POST', `${platform}/workspaces`, { body: { name: 'Elsewhere' } });
  assert.equal(made.status, 201, made.text);
  const invited = await owner.call('POST', `${platform}/invitations`, {
    body: { role: 'admin' },
    headers: { 'x-workspace-id': made.json.id },
  });
  const account = { name: 'Eve', email: 'eve@example.com', password: 'a long enough one' };
  const eve = await join(fixture.service, invited.json.link, account);
  const page = await fixture.open('/vaults', { as: eve });
  await page.getByText('No vaults yet').waitFor();
  await page.goto(`/vaults/${vault.address}`);
  await page.getByText('Not found').waitFor();
  const main = (await page.getByRole('main').textContent()) ?? '';
  assert.doesNotMatch(main, /Contracts/);
  const { json: me } = await owner.call('GET', `${platform}/me`);
  await page.evaluate(`localStorage.setItem('holdfast.workspace', ${JSON.stringify(me.workspaces[0].id)})`);
  await page.goto('/vaults');
  await page.getByText('No vaults yet').waitFor();
  await page.context().close();
});

test('no script is inline, and a write from another origin is refused', async () => {
  const { service } = fixture;
  for (const path of ['/', '/sign-in', '/join', '/vaults', '/settings']) {
    const { status, headers, text } = await service.call('GET', path, { key: null });
    assert.equal(status, 200, path);
    const policy = headers.get('content-security-policy') ?? '';
    // Hashing in the browser is WebAssembly that lies in the scripts.
    assert.match(policy, /default-src 'none'; script-src 'self'( 'wasm-unsafe-eval')?;/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc="\/)|\son\w+=/);
  }
  // The browser itself tells where a request comes from.
  const page = await fixture.open('/vaults', { as: await fixture.owner() });
  await page.getByRole('link', { name: 'Contracts' }).waitFor();
  const send = `fetch('/api-v1/platform/vaults', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name": "Own"}'
  }).then(({ status }) => status)`;
  assert.equal(await page.evaluate(send), 201);
  const owner = await fixture.owner();
  for (const origin of ['https://example.com', 'null']) {
    const refused = await owner.call('POST', `${platform}/vaults`, {
      body: { name: 'No' },
      headers: { origin },
    });
    assert.equal(refused.status, 403, refused.text);
  }
  const without = { cookie: owner.cookies() };
  const refused = await service.call('POST', `${platform}/vaults`, {
    key: null,
    body: { name: 'No' },
    headers: without,
  });
  assert.equal(refused.status, 403, refused.text);
  await page.context().close();
});

test('the sign-in page is light, loads no chart, and is usable at once', async (t) => {
  const page = await fixture.open('/sign-in');
  await page.getByLabel('Email').fill('b@example.com');
  const session = await page.context().newCDPSession(page);
  // What the page itself makes the processor do, however many others want the machine.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const workedMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  let answers: Response[] = [];
  page.on('response', (answer) => {
    // What the page before had asked for may still arrive.
    if (answer.request().isNavigationRequest()) answers = [];
    answers.push(answer);
  });
  const before = await workedMs();
  const begin = performance.now();
  await page.reload({ waitUntil: 'commit' });
  await page.getByLabel('Email').fill('a@example.com');
  const worked = (await workedMs()) - before;
  t.diagnostic(`usable after ${Math.round(performance.now() - begin)} ms, ${Math.round(worked)} ms of work`);
  assert.ok(worked > 0 && worked <= budget.workMs, `usable after ${worked} ms of work`);

  // Whatever it would fetch afterwards counts too.
  await page.waitForLoadState('networkidle');
  const fetched = answers.map((answer) => new URL(answer.url()).pathname);
  assert.ok(fetched.length <= budget.requests, `it fetches ${fetched.join(', ')}`);
  const scripts = answers.filter((_, place) => fetched[place]?.endsWith('.js'));
  const bodies = await Promise.all(scripts.map((script) => script.body()));
  const bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
  assert.ok(bytes > 0 && bytes <= budget.scriptBytes, `${bytes} bytes in ${scripts.length} scripts`);
  for (const body of bodies) assert.doesNotMatch(body.toString(), /recharts/);
  await page.context().close();
});
