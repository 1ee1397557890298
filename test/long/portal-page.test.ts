/** The page behind a portal link, and where the dashboard makes and revokes it, in a real browser. */
import assert from 'node:assert/strict';
import { type Receiver, startReceiver } from '../support/clients/receiver.ts';
import {
  type DashboardFixture,
  findFaults,
  openDashboardFixture,
} from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { waitUntil } from '../support/service/process.ts';

const { after, before, test } = needs('chromium');
const base = '/api-v1/platform/webhooks';
const phone = { width: 360, height: 700 };

let fixture: DashboardFixture;
let receiver: Receiver;
before(async () => {
  fixture = await openDashboardFixture();
  receiver = await startReceiver();
});
after(async () => {
  await receiver?.close();
  await fixture?.close();
});

async function newEndpoint(): Promise<string> {
  const body = { url: receiver.url, eventTypes: ['vault.*'] };
  const made = await fixture.service.call('POST', `${base}/endpoints`, { body });
  assert.equal(made.status, 201, made.text);
  return made.json.id;
}

test('the page is public, strict about scripts and frames, and no search engine or other site learns the link', async () => {
  for (const path of ['/portal/some-token', '/portal']) {
    const { status, headers, text } = await fixture.service.call('GET', path, { key: null });
    assert.equal(status, 200);
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-robots-tag'), 'noindex, nofollow');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|some-token/);
  }
});

test('made in the dashboard, a link shows deliveries and retries; revoked, it ends', async () => {
  const endpointId = await newEndpoint();
  const dashboard = await fixture.open(`/webhooks/${endpointId}`, { as: await fixture.owner() });
  await dashboard.getByRole('tab', { name: 'Portal links' }).click();
  await dashboard.getByRole('button', { name: 'Create portal link' }).click();
  const form = dashboard.getByRole('dialog', { name: 'Create a portal link' });
  await form.getByLabel('For whom').fill('Harbour Cranes Ltd');
  await form.getByLabel('May change the URL').check();
  await form.getByLabel('May see and rotate the signing secret').check();
  assert.deepEqual(await findFaults(dashboard), []);
  await form.getByRole('button', { name: 'Create link' }).click();
  const dialog = dashboard.getByRole('dialog', { name: 'The portal link' });
  await dialog.getByRole('img', { name: /QR code/ }).waitFor();
  const link = (await dialog.locator('pre').textContent()) ?? '';
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dashboard.getByText('Harbour Cranes Ltd').waitFor();
  assert.deepEqual(await findFaults(dashboard, undefined, 'main'), []);

  receiver.answer = (response) => response.writeHead(500).end('<b>out of order</b>');
  const { json: vault } = await fixture.service.call('POST', '/api-v1/platform/vaults', {
    body: { name: 'V' },
  });
  await fixture.service.call('PATCH', `/api-v1/platform/vaults/${vault.address}/deactivate`);
  await waitUntil(async () => {
    const query = `endpointId=${endpointId}&status=failed&type=vault.deactivated`;
    return (await fixture.service.call('GET', `${base}/deliveries?${query}`)).json.length === 1;
  });

  const page = await fixture.open(link);
  await page.getByRole('heading', { name: 'Webhook endpoint' }).waitFor();
  await page.getByText(receiver.url, { exact: true }).waitFor();
  const delivery = page.locator('details', { hasText: 'vault.deactivated' });
  await delivery.locator('summary').click();
  await delivery.getByText('<b>out of order</b>').first().waitFor();
  await delivery.getByLabel('Payload').getByText('deactivated_at').waitFor();
  assert.deepEqual(await findFaults(page), []);
  receiver.answer = (response) => response.writeHead(204).end();
  await delivery.getByRole('button', { name: 'Retry now' }).click();
  await delivery.locator('.badge.succeeded').waitFor();
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByText('The test event was delivered').waitFor();
  await page.locator('details', { hasText: 'webhook.test' }).first().waitFor();

  await page.getByRole('button', { name: 'Change URL' }).click();
  await page.getByLabel('New URL').fill('https://10.0.0.1/');
  await page.getByRole('button', { name: 'Save and test' }).click();
  await page.locator('.url-form .trouble').waitFor();
  await page.getByLabel('New URL').fill(`${receiver.url}/two`);
  await page.getByRole('button', { name: 'Save and test' }).click();
  await page.getByText('The new URL is saved.').waitFor();
  await page.getByText(`${receiver.url}/two`, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show secret' }).click();
  const secret = page.locator('.secret');
  await page.getByText(/^whsec_[\w+/=]{44}$/).waitFor();
  const before = await secret.textContent();
  await page.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page.getByText('The new secret is in use.').waitFor();
  assert.notEqual(await secret.textContent(), before);
  assert.deepEqual(await findFaults(page), []);

  await dashboard.getByRole('button', { name: 'Revoke' }).click();
  await dashboard.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await dashboard.getByText('The portal link was revoked.').waitFor();
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByText('or it was revoked').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  const logged = fixture.service.logged();
  assert.ok(!logged.includes(new URL(link).pathname), 'the link is in the log');
  assert.match(logged, /"path":"\/portal\/…"|^(?!.*\/portal\/)/s);
  await Promise.all([page, dashboard].map((one) => one.context().close()));
});

test('on a phone and in the dark everything is readable and in reach', async () => {
  const endpointId = await newEndpoint();
  const { json } = await fixture.service.call('POST', `${base}/endpoints/${endpointId}/portal-links`, {
    body: { mayChangeUrl: true, mayManageSecret: true },
  });
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await fixture.open(json.link, { viewport: phone, colorScheme });
    await page.locator('details').first().waitFor();
    await page.locator('details').first().locator('summary').click();
    await page.getByLabel('Payload').waitFor();
    assert.deepEqual(await findFaults(page), []);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok((width as number) <= phone.width, `${width} wide`);
    await page.context().close();
  }
});
