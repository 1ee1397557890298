/** What people do in the dashboard from the first link on, in a real browser, on a real chain, to a real receiver. */
// tier: process
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { becomeOwner, newVisitor, signIn, type Visitor } from '../support/clients/browser-session.ts';
import { type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { ada, type DashboardFixture, openDashboardFixture } from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { waitUntil } from '../support/service/process.ts';

const { after, before, test } = needs('chromium');
const platform = '/api-v1/platform';

let fixture: DashboardFixture;
let receiver: Receiver;

before(async () => {
  fixture = await openDashboardFixture({ chain: true });
  receiver = await startReceiver();
});
after(async () => {
  await fixture?.close();
  await receiver?.close();
});

test('goes from the first link to the first delivered webhook', async () => {
  const { service } = fixture;
  const page = await fixture.open((await service.app.makeOwnerLink()) ?? '');
  await page.getByLabel('Your name').fill(ada.name);
  await page.getByLabel('Email').fill(ada.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(ada.password);
  await page.getByRole('button', { name: 'Create account' }).click();

  await go(page, 'Vaults');
  await page.getByRole('button', { name: 'New vault' }).first().click();
  await page.getByLabel('Name').fill('Contracts');
  await page.getByRole('button', { name: 'Create vault' }).click();
  await page.getByRole('heading', { name: 'Contracts' }).waitFor();

  await go(page, 'Webhooks');
  await page.getByRole('button', { name: 'New endpoint' }).first().click();
  await page.getByLabel('URL').fill(receiver.url);
  await page.getByLabel('record.anchor.confirmed').check();
  await page.getByRole('button', { name: 'Create and test' }).click();
  await page.getByText('The test event was delivered').waitFor();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();

  await go(page, 'Records');
  await page.getByRole('button', { name: 'New record' }).first().click();
  await page.getByRole('dialog').getByLabel('Vault').click();
  await page.getByRole('option', { name: /Contracts/ }).click();
  await page.getByRole('dialog').getByLabel('External id').fill('reading-1');
  await page.getByLabel('Data').fill('{"celsius": 4.5}');
  await page.getByRole('button', { name: 'Create record' }).click();
  // Nobody reloads: the page hears of it.
  await page
    .getByText(/^(confirmed|finalized)$/)
    .first()
    .waitFor();

  await go(page, 'Webhooks');
  await page.getByRole('tab', { name: 'Delivery log' }).click();
  const delivery = page.getByRole('row').filter({ hasText: 'record.anchor.confirmed' });
  await delivery.getByText('succeeded').waitFor();
  await delivery.getByRole('link').click();
  await page.getByText('Attempt 1: answered 204').waitFor();
  const types = receiver.received.map(({ body }) => JSON.parse(body).type);
  assert.deepEqual(types, ['webhook.test', 'record.anchor.confirmed']);
  await page.context().close();
});

test('holds a record, releases it, and erases its data', async () => {
  const { service } = fixture;
  const owner = await signedIn();
  const { json: vault } = await service.call('POST', `${platform}/vaults`, { body: { name: 'Held' } });
  const { json: record } = await service.call('POST', `${platform}/records`, {
    body: { vaultAddress: vault.address, data: { secret: 'to be erased' } },
  });
  const page = await fixture.open(`/records/${record.id}`, { as: owner });
  await page.getByText('to be erased').waitFor();
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  await act('Place legal hold');
  await page.getByLabel('Reason').fill('Dispute 14');
  await page.getByRole('button', { name: 'Place hold' }).click();
  await page.getByText('nothing of it can be erased: Dispute 14').waitFor();
  await page.getByRole('button', { name: 'Actions' }).click();
  assert.ok(await page.getByRole('menuitem', { name: 'Erase data' }).isDisabled());
  await page.keyboard.press('Escape');
  await act('Release legal hold');
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await page.getByText('The hold was released.').waitFor();
  await act('Erase data');
  await page.getByRole('button', { name: 'Erase permanently' }).click();
  await page.getByText('The data of this version was erased.').waitFor();
  assert.equal(await page.getByText('to be erased').count(), 0);
  await page.getByRole('button', { name: 'Actions' }).click();
  assert.ok(await page.getByRole('menuitem', { name: 'Erase data' }).isDisabled(), 'it is erased');
  await page.keyboard.press('Escape');

  await page.goto(`${new URL(page.url()).origin}/vaults/${vault.address}`);
  await act('Retention');
  await page.getByLabel('Keep the data of records').fill('30');
  await page.getByRole('button', { name: 'What would be erased now?' }).click();
  await page.getByText('0 records and 0 files').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The retention was set.').waitFor();
  const { json } = await service.call('GET', `${platform}/vaults/${vault.address}/retention`);
  assert.deepEqual([json.recordDays, json.fileDays], [30, null]);

  const other = { vaultAddress: vault.address, data: { secret: 'kept by the vault' } };
  const { json: held } = await service.call('POST', `${platform}/records`, { body: other });
  await act('Place legal hold');
  await page.getByLabel('Reason').fill('Dispute 15');
  await page.getByRole('button', { name: 'Place hold' }).click();
  await page.getByText('This vault is under legal hold').waitFor();
  await page.goto(`${new URL(page.url()).origin}/records/${held.id}`);
  await page.getByText('The vault of this record is under legal hold').waitFor();
  await page.getByRole('button', { name: 'Actions' }).click();
  assert.ok(await page.getByRole('menuitem', { name: 'Erase data' }).isDisabled());
  await page.context().close();
});

test('takes a failing endpoint through retry and replay', async () => {
  const { service } = fixture;
  const owner = await signedIn();
  receiver.answer = (response) => response.writeHead(500).end('broken');
  const page = await fixture.open('/webhooks', { as: owner });
  await page.getByRole('button', { name: 'New endpoint' }).first().click();
  await page.getByLabel('URL').fill(`${receiver.url}?second`);
  await page.getByLabel('vault.deactivated').check();
  await page.getByLabel('vault.reactivated').check();
  await page.getByRole('button', { name: 'Create and test' }).click();
  await page.getByText('The test event was not delivered').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('link', { name: /second/ }).click();

  const { json: vault } = await service.call('POST', `${platform}/vaults`, { body: { name: 'Doors' } });
  for (const action of ['deactivate', 'reactivate']) {
    await owner.call('PATCH', `${platform}/vaults/${vault.address}/${action}`);
  }
  const log = page.getByRole('table', { name: 'Deliveries' });
  const row = (type: string) => log.getByRole('row').filter({ hasText: type });
  await row('vault.deactivated').getByText('failed').waitFor();
  await row('vault.reactivated').getByText('failed').waitFor();

  receiver.answer = (response) => response.writeHead(200).end('mended');
  receiver.received.length = 0;
  await row('vault.deactivated').getByRole('link').click();
  await page.getByRole('button', { name: 'Retry now' }).click();
  await page.getByText(/Attempt \d+: answered 200/).click();
  await page.getByText('mended').waitFor();

  await page.getByRole('link', { name: /second/ }).click();
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByText('1 event would be sent.').waitFor();
  await page.getByRole('button', { name: 'Send 1 again' }).click();
  await page
    .getByText('1 of 1 finished: 1 delivered, 0 failed, 0 skipped. The replay is completed.')
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await log.getByText('replayed').waitFor();
  const types = receiver.received.map(({ body }) => JSON.parse(body).type);
  assert.deepEqual(types, ['vault.deactivated', 'vault.reactivated']);
  await page.context().close();
});

test('goes from an upload to a certificate that anybody can verify', async () => {
  const content = Buffer.from('Signed by both.\n');
  await fixture.service.call('POST', `${platform}/vaults`, { body: { name: 'Leases' } });
  const page = await fixture.open('/files', { as: await signedIn() });
  await page.getByRole('button', { name: 'Add files' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add files' });
  await dialog
    .getByLabel('Drop files here, or choose them')
    .setInputFiles({ name: 'lease.txt', mimeType: 'text/plain', buffer: content });
  await dialog.getByLabel('Vault').click();
  await page.getByRole('option', { name: /Leases/ }).click();
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('heading', { name: 'lease.txt' }).waitFor();
  await page
    .getByText(/^(confirmed|finalized)$/)
    .first()
    .waitFor();

  const certificate = await download(page, 'Certificate');
  const proof = await download(page, 'Proof');
  const evidence = await download(page, 'Evidence package');
  assert.equal(evidence.toString('latin1', 0, 4), 'PK\x03\x04');
  await page.context().close();

  // Somebody without an account, with the certificate and a copy of the file.
  const visitor = await fixture.open('/verify');
  await visitor
    .getByRole('button', { name: /^Content/ })
    .setInputFiles({ name: 'copy.txt', mimeType: 'text/plain', buffer: content });
  const give = (name: string, buffer: Buffer) =>
    visitor
      .getByRole('button', { name: /^Proof or certificate/ })
      .setInputFiles({ name, mimeType: 'application/x', buffer });
  const status = visitor.getByRole('status');
  for (const [name, buffer] of [
    ['certificate.pdf', certificate],
    ['proof.json', proof],
  ] as const) {
    await give(name, buffer);
    const said = await waitUntil(async () => {
      const text = (await status.isVisible()) ? await status.textContent() : null;
      return text && !text.startsWith('Checking') ? text : null;
    });
    assert.match(said, /^Consistent, but nobody vouches for its time/, name);
    const proven = await visitor
      .getByRole('heading', { name: 'Proven', exact: true })
      .locator('..')
      .textContent();
    assert.match(proven ?? '', /byte for byte.*sealed it/);
    const open = await visitor.getByRole('heading', { name: 'Not proven' }).locator('..').textContent();
    assert.match(open ?? '', /nobody who is trusted vouches for a time/);
    await visitor.getByRole('button', { name: 'Remove the proof' }).click();
  }
  await visitor
    .getByRole('button', { name: /^Content/ })
    .setInputFiles({ name: 'x', mimeType: 'text/plain', buffer: Buffer.from('Signed by one.\n') });
  await give('proof.json', proof);
  await status.filter({ hasText: 'Not proven: this is different content' }).waitFor();
  await visitor.context().close();
});

/** The owner, whom the test of the first link makes unless it does not run. */
async function signedIn(): Promise<Visitor> {
  const { service } = fixture;
  if ((await service.app.makeOwnerLink()) !== null) return becomeOwner(service, ada);
  const visitor = newVisitor(service);
  await signIn(visitor, ada);
  return visitor;
}

async function go(page: Page, label: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: label }).click();
  await page.getByRole('heading', { name: label, level: 1 }).waitFor();
}

async function download(page: Page, label: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Download' }).click();
  const coming = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: label, exact: true }).click();
  return readFile(await (await coming).path());
}
