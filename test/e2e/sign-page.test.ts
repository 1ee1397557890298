/** The page that workers open by their links, in a real browser: invited, registered, confirmed, signing. */
// tier: process
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { verifySignoff } from '../../src/maintenance/signing/signoff.ts';
import { readPdf } from '../support/clients/read-pdf.ts';
import { withAuthenticator } from '../support/clients/virtual-authenticator.ts';
import {
  type DashboardFixture,
  findFaults,
  openDashboardFixture,
} from '../support/fixtures/dashboard-fixture.ts';
import { openPasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { needs } from '../support/programs/needs.ts';

const inBrowser = needs('chromium');
const workers = '/api-v1/damc/workers/';
const phone = { width: 360, height: 700 };

let fixture: DashboardFixture;
/** Under its name, as passkeys need. */
let named: string;
before(async () => {
  fixture = await openDashboardFixture();
  named = fixture.service.url.replace('127.0.0.1', 'localhost');
  await fixture.owner();
  await fixture.service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Fleet' } });
});
after(() => fixture?.close());

async function newWorker(name: string): Promise<string> {
  const answer = await fixture.service.call('POST', workers, { body: { name } });
  assert.equal(answer.status, 201, answer.text);
  return answer.json.address;
}

async function invite(worker: string): Promise<string> {
  const answer = await (await fixture.owner()).call('POST', `${workers}${worker}/invite`);
  assert.equal(answer.status, 201, answer.text);
  return answer.json.link;
}

test('the page is public, strict about scripts and frames, and its answers tell no other site the link', async () => {
  for (const path of ['/sign/some-token', '/sign']) {
    const { status, headers, text } = await fixture.service.call('GET', path, { key: null });
    assert.equal(status, 200);
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|some-token/);
  }
});

inBrowser.test(
  'a worker is invited with a QR code, registers on the phone, and is confirmed with the code of the phone',
  async () => {
    const worker = await newWorker('Ada Lund');
    const dashboard = await fixture.open(`/workers/${worker}`, { as: await fixture.owner() });
    await dashboard.getByRole('button', { name: 'Invite by link' }).click();
    await dashboard.getByRole('button', { name: 'Create link' }).click();
    const dialog = dashboard.getByRole('dialog', { name: 'Invite Ada Lund' });
    await dialog.getByRole('img', { name: /QR code/ }).waitFor();
    assert.deepEqual(await findFaults(dashboard), []);
    const link = (await dialog.locator('pre').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Done' }).click();

    const page = await fixture.open('/verify', { viewport: phone });
    const authenticator = await withAuthenticator(page);
    await page.goto(link);
    await page.getByRole('heading', { name: 'Register your passkey' }).waitFor();
    await page.getByText('Ada invites Ada Lund to sign maintenance work in').waitFor();
    assert.deepEqual(await findFaults(page), []);
    const button = page.getByRole('button', { name: 'Register passkey' });
    const { height = 0, width = 0 } = (await button.boundingBox()) ?? {};
    assert.ok(height >= 64 && width >= 300, `a glove does not hit ${width}x${height}`);
    await authenticator.verifies(false);
    await button.click();
    await page.getByText('No passkey was made').waitFor();
    await authenticator.verifies(true);
    await button.click();
    await page.getByRole('heading', { name: 'Now a second person confirms' }).waitFor();
    assert.deepEqual(await findFaults(page), []);
    const code = (await page.locator('.code').textContent()) ?? '';
    assert.match(code, /^[0-9A-F]{4}-[0-9A-F]{4}$/);
    await page.reload();
    assert.equal(await page.locator('.code').textContent(), code, 'a phone reloads pages');

    // The one who invited cannot confirm.
    await dashboard.reload();
    await dashboard.getByRole('button', { name: 'Confirm' }).click();
    await dashboard.getByLabel('Code').fill(code);
    await dashboard.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
    await dashboard.getByText('You invited this worker').waitFor();
    const second = await fixture.open(`/workers/${worker}`, { as: (await fixture.member('admin')).visitor });
    await second.getByRole('button', { name: 'Confirm' }).click();
    await second.getByLabel('Code').fill('0000-0000');
    await second.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
    await second.getByText('refuse this registration').waitFor();
    await second.getByLabel('Code').fill(code);
    await second.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
    await second.getByText('Ada Lund can sign with this passkey now.').waitFor();
    await second.getByText('Signs with a passkey').waitFor();
    assert.deepEqual(await findFaults(second, undefined, 'main'), []);

    await second.getByRole('button', { name: 'Revoke' }).click();
    await second.getByLabel('Reason').fill('Phone lost');
    await second.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await second.getByText('revoked', { exact: true }).waitFor();
    await Promise.all([page, dashboard, second].map((one) => one.context().close()));
  },
);

inBrowser.test('a link that was used, replaced or never made says so', async () => {
  const worker = await newWorker('Bo Holt');
  const first = await invite(worker);
  const page = await fixture.open(await invite(worker), { viewport: phone });
  await withAuthenticator(page);
  await page.getByRole('heading', { name: 'Register your passkey' }).waitFor();
  await page.goto(first);
  await page.getByText('replaced by a newer one').waitFor();
  await page.goto(`${named}/sign/never-made`);
  await page.getByText('There is no such invitation').waitFor();
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'This link does not work');
  const logged = fixture.service.logged();
  assert.match(logged, /"path":"\/sign\/…"/);
  assert.ok(
    !logged.includes('never-made') && !logged.includes(new URL(first).pathname),
    'links are in the log',
  );
  assert.deepEqual(await findFaults(page), []);
  await page.context().close();
});

inBrowser.test('on a bare address the page leads to localhost', async () => {
  const link = (await invite(await newWorker('Cy Berg'))).replace('localhost', '127.0.0.1');
  const page = await fixture.open(link, { viewport: phone });
  const named = page.getByRole('link', { name: 'Go on at localhost' });
  assert.equal(await named.getAttribute('href'), link.replace('127.0.0.1', 'localhost'));
  await named.click();
  await page.getByRole('heading', { name: 'Register your passkey' }).waitFor();
  await page.context().close();
});

inBrowser.test(
  'a worker signs by the link of the dashboard, and the sign-off verifies; obstacles are explained',
  async () => {
    const signing = await openPasskeyFixture(fixture.service, await fixture.registrars());
    const worker = await signing.newWorker({ name: 'Dag Moe' });
    const page = await fixture.open('/verify', { viewport: phone, colorScheme: 'dark' });
    const authenticator = await withAuthenticator(page);
    await page.goto(`${named}/sign/${await signing.invite(worker)}`);
    await page.getByRole('button', { name: 'Register passkey' }).click();
    const code = (await page.locator('.code').textContent()) ?? '';
    const { json: passkeys } = await fixture.service.call('GET', `${workers}${worker}/passkeys/`);
    const confirmed = await signing.confirm(worker, { id: passkeys[0].id, code });
    assert.equal(confirmed.status, 200, confirmed.text);
    const { maintenanceId } = await signing.made();

    const path = `/assets/${encodeURIComponent(signing.assetId)}`;
    const dashboard = await fixture.open(path, { as: await fixture.owner() });
    await dashboard.getByRole('button', { name: 'Sign off' }).click();
    const dialog = dashboard.getByRole('dialog');
    await dialog.getByLabel('Worker').click();
    await dashboard.getByRole('option', { name: /Dag Moe/ }).click();
    await dialog.getByText('on their own device').waitFor();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await dashboard.getByRole('img', { name: /QR code/ }).waitFor();
    const link = (await dashboard.getByRole('dialog').locator('pre').textContent()) ?? '';

    await page.goto(link);
    await page.getByRole('heading', { name: 'Sign that you did this work' }).waitFor();
    await page.getByText('Hydraulic pump').waitFor();
    assert.deepEqual(await findFaults(page), []);
    const button = page.getByRole('button', { name: 'Sign', exact: true });
    const { height = 0 } = (await button.boundingBox()) ?? {};
    assert.ok(height >= 64, `a glove does not hit ${height}`);
    await authenticator.verifies(false);
    await button.click();
    await page.getByText('Nothing was signed').waitFor();
    await authenticator.verifies(true);
    await button.click();
    await page.getByRole('heading', { name: 'Signed', exact: true }).waitFor();
    await page.getByText('Dag Moe has signed as performed, on Hydraulic pump.').waitFor();
    assert.deepEqual(await findFaults(page), []);
    const details = await fixture.service.call('GET', signing.view(`${maintenanceId}/details/`));
    const { document } = (await fixture.service.call('GET', signing.view(`${maintenanceId}/signoffs/1/`)))
      .json;
    const { entry, maintenanceHash } = details.json;
    assert.deepEqual(await verifySignoff(document, { ...entry, maintenanceHash }), []);
    assert.equal(document.signedWith.method, 'passkey');
    await page.reload();
    await page.getByText('Dag Moe has signed as performed, on Hydraulic pump.').waitFor();

    const { worker: other } = await signing.passkeyWorker({ name: 'Eva Dahl' });
    const body = { workerAddress: other, role: 'performed' };
    await fixture.service.call('POST', signing.url(`${maintenanceId}/signoffs/requests/`), { body });
    await dashboard.goto(`${path}?entry=${maintenanceId}`);
    await dashboard.getByRole('heading', { name: 'Asked to sign' }).waitFor();
    await dashboard.getByRole('button', { name: 'Withdraw the link for Eva Dahl as performed' }).click();
    await dashboard.getByRole('button', { name: 'Withdraw', exact: true }).click();
    await dashboard.getByText('The link was withdrawn.').waitFor();
    await dashboard.getByRole('heading', { name: 'Asked to sign' }).waitFor({ state: 'detached' });
    await Promise.all([page, dashboard].map((one) => one.context().close()));
  },
);

inBrowser.test('a work order with codes is printed from the dashboard', async () => {
  const signing = await openPasskeyFixture(fixture.service, await fixture.registrars());
  const { worker } = await signing.passkeyWorker({ name: 'Eva Dahl' });
  assert.ok(worker);
  const { maintenanceId } = await signing.made();
  const path = `/assets/${encodeURIComponent(signing.assetId)}`;
  const page = await fixture.open(path, { as: await fixture.owner() });
  await page.getByRole('button', { name: 'Work order' }).click();
  const dialog = page.getByRole('dialog', { name: 'Work order' });
  await dialog.getByRole('button', { name: 'Another signature' }).click();
  assert.equal(await dialog.getByLabel('Worker').count(), 2);
  assert.deepEqual(await findFaults(page), []);
  await dialog.getByRole('button', { name: 'Remove the last' }).click();
  await dialog.getByLabel('Worker').click();
  await page.getByRole('option', { name: /Eva Dahl/ }).click();
  const downloading = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download PDF' }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), `work-order-${maintenanceId}.pdf`);
  const { text } = readPdf(await buffer(await download.createReadStream()));
  assert.match(text, /Performed: Eva Dahl/);
  await page.getByText('The work order is downloaded').waitFor();
  await page.context().close();
});
