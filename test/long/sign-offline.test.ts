/** The page to sign on in a real browser without network: opened again, signed there, sent when there is a network. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { sendForm } from '../support/clients/upload.ts';
import { withAuthenticator } from '../support/clients/virtual-authenticator.ts';
import {
  type DashboardFixture,
  findFaults,
  openDashboardFixture,
} from '../support/fixtures/dashboard-fixture.ts';
import { openPasskeyFixture, type PasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { waitUntil } from '../support/service/process.ts';

const { after, before, test } = needs('chromium');
const phone = { width: 360, height: 740 };
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let fixture: DashboardFixture;
let signing: PasskeyFixture;
/** Under its name, as passkeys need. */
let named: string;
before(async () => {
  fixture = await openDashboardFixture();
  named = fixture.service.url.replace('127.0.0.1', 'localhost');
  await fixture.owner();
  signing = await openPasskeyFixture(fixture.service, await fixture.registrars());
});
after(() => fixture?.close());

/** A phone with the confirmed passkey of a new worker. */
async function openPhone(colorScheme: 'light' | 'dark' = 'light'): Promise<{ page: Page; worker: string }> {
  const { service } = fixture;
  const worker = await signing.newWorker({ name: 'Ada Lund' });
  const page = await fixture.open('/verify', { viewport: phone, colorScheme });
  await withAuthenticator(page);
  await page.goto(`${named}/sign/${await signing.invite(worker)}`);
  await page.getByRole('button', { name: 'Register passkey' }).click();
  const code = (await page.locator('.code').textContent()) ?? '';
  const { json: passkeys } = await service.call('GET', `/api-v1/damc/workers/${worker}/passkeys/`);
  const confirmed = await signing.confirm(worker, { id: passkeys[0].id, code });
  assert.equal(confirmed.status, 200, confirmed.text);
  return { page, worker };
}

async function linkFor(worker: string, body: object = {}) {
  const { maintenanceId } = await signing.made(body);
  const { json, status, text } = await fixture.service.call(
    'POST',
    signing.url(`${maintenanceId}/signoffs/requests/`),
    { body: { workerAddress: worker, role: 'performed' } },
  );
  assert.equal(status, 201, text);
  return { maintenanceId, link: json.link as string, id: json.id as string, token: json.token as string };
}

const signoffsOf = async (id: string) =>
  (await fixture.service.call('GET', signing.view(`${id}/details/`))).json.signoffs;

/** Opens the link while there is a network, until it is saved. */
async function fetchAhead(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByText('Saved on this device: can be signed without network until').waitFor();
}

async function signWithoutNetwork(page: Page): Promise<void> {
  await page.getByText('No network.').waitFor();
  await page.getByRole('button', { name: 'Sign', exact: true }).click();
  await page.getByRole('heading', { name: 'Signed on this device' }).waitFor();
}

/** Buttons and links that a glove does not hit. */
async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('button, a')]
    .map((one) => [one.textContent, one.getBoundingClientRect()])
    .filter(([, { width, height }]) => height < 48 || width < 48)
    .map(([text, { width, height }]) => text + ' ' + width + 'x' + height)`);
}

test('a request that was fetched ahead is opened, looked at and signed without network, and sent with it', async () => {
  const { page, worker } = await openPhone();
  const upload = await sendForm(fixture.service, '/api-v1/platform/files', {
    parts: [
      ['vaultAddress', signing.vault.address],
      ['file', new File([dot], 'seal.png', { type: 'image/png' })],
    ],
  });
  const { link, maintenanceId, token } = await linkFor(worker, { fileIds: [upload.json.id] });
  await fetchAhead(page, link);
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(await smallTargets(page), []);

  await page.context().setOffline(true);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign that you did this work' }).waitFor();
  await page.getByText('Hydraulic pump').waitFor();
  await page.getByRole('button', { name: 'seal.png' }).click();
  await page.getByRole('img', { name: 'seal.png' }).waitFor();
  assert.equal(await page.evaluate(`document.querySelector('.files img').naturalWidth`), 1);
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(await smallTargets(page), []);
  await signWithoutNetwork(page);
  await page.getByText('Waiting to be sent.').waitFor();
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(await smallTargets(page), []);
  await page.getByRole('button', { name: 'Send now' }).click();
  await page.getByText('There is still no connection').waitFor();
  await page.reload();
  await page.getByText('Waiting to be sent.').waitFor();
  assert.deepEqual(await signoffsOf(maintenanceId), []);

  await page.context().setOffline(false);
  await page.getByRole('heading', { name: 'Signed', exact: true }).waitFor();
  assert.deepEqual(await findFaults(page), []);
  const [signoff, ...more] = await signoffsOf(maintenanceId);
  assert.deepEqual([signoff.signedWith, signoff.workerName, more], ['passkey', 'Ada Lund', []]);
  assert.ok(Date.parse(signoff.receivedAt) >= Date.parse(signoff.signedAt));
  const kept = (await page.evaluate(`(async () => {
    const names = await caches.keys();
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  })()`)) as string[];
  assert.equal(kept.length, 3, String(kept));
  for (const path of kept) assert.match(path, /^\/sign\/(assets\/(main|sign)-\w+\.(js|css))?$/);
  assert.ok(!JSON.stringify(kept).includes(token));
  await page.context().close();
});

test('what waits is sent when the page is opened again; the list says what became of each', async () => {
  const { page, worker } = await openPhone('dark');
  const [first, second, open] = [await linkFor(worker), await linkFor(worker), await linkFor(worker)];
  for (const { link } of [first, second, open]) await fetchAhead(page, link);
  await page.getByRole('link', { name: '2 more saved on this device' }).waitFor();
  await page.context().setOffline(true);
  for (const { link } of [first, second]) {
    await page.goto(link);
    await signWithoutNetwork(page);
  }
  await page.goto(`${named}/sign/`);
  await page.getByRole('heading', { name: 'Saved on this device' }).waitFor();
  assert.equal(await page.getByText('Waiting to be sent, until').count(), 2);
  assert.equal(await page.getByText('To be signed until').count(), 1);
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(await smallTargets(page), []);
  const context = page.context();
  await page.close();
  const withdrawn = await fixture.service.call('DELETE', `/api-v1/damc/sign-requests/${second.id}`);
  assert.equal(withdrawn.status, 204, withdrawn.text);

  await context.setOffline(false);
  const later = await context.newPage();
  await later.goto(`${named}/sign/`);
  await later.getByText('Sent. Signed').waitFor();
  await later.getByText('Not accepted: This link was withdrawn.').waitFor();
  assert.deepEqual(await findFaults(later), []);
  assert.deepEqual(await smallTargets(later), []);
  assert.equal((await signoffsOf(first.maintenanceId)).length, 1);
  assert.deepEqual(await signoffsOf(second.maintenanceId), []);
  await later.getByRole('button', { name: 'Remove' }).last().click();
  await later.getByText('To be signed until').waitFor({ state: 'detached' });
  assert.equal(await later.getByText('more saved on this device').count(), 0);
  await later.goto(second.link);
  await later.getByRole('heading', { name: 'Not accepted' }).waitFor();
  assert.deepEqual(await findFaults(later), []);
  await later.getByRole('button', { name: 'Open again' }).click();
  await later.getByText('This link was withdrawn.').waitFor();
  await context.close();
});

test('without network, a link that was not fetched ahead, has expired or is none says so', async () => {
  const { page, worker } = await openPhone();
  const [saved, other] = [await linkFor(worker), await linkFor(worker)];
  await fetchAhead(page, saved.link);
  await page.context().setOffline(true);
  await page.goto(other.link);
  await page.getByText('There is no connection to the service').waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.goto(saved.link);
  await page.getByText('No network.').waitFor();
  await page.clock.setFixedTime(Date.now() + 8 * 24 * 60 * 60_000);
  await page.getByRole('button', { name: 'Sign', exact: true }).click();
  await page.getByText('This link has expired').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  await page.getByText('This link has expired').waitFor();
  assert.deepEqual(await signoffsOf(saved.maintenanceId), []);
  await page.context().close();
});

test('a new version of the page replaces the one that is kept, and nothing else is kept', async () => {
  const page = await fixture.open('/verify', { viewport: phone });
  await page.goto(`${named}/sign/`);
  await page.evaluate(`navigator.serviceWorker.ready`);
  await page.evaluate(`(async () => {
    await (await caches.open('holdfast-sign-earlier')).put('/sign/', new Response('old'));
    await (await navigator.serviceWorker.getRegistration('/sign/')).unregister();
  })()`);
  await page.reload();
  await waitUntil(async () => (await page.evaluate(`caches.keys().then((names) => names.length)`)) === 1);
  assert.ok(!((await page.evaluate('caches.keys()')) as string[]).includes('holdfast-sign-earlier'));
  const { headers, text } = await fixture.service.call('GET', '/sign/worker.js', { key: null });
  assert.equal(headers.get('cache-control'), 'no-cache');
  assert.equal(headers.get('content-security-policy'), "default-src 'none'; connect-src 'self'");
  assert.match(text, /main-\w+\.js/);
  await page.context().close();
});
