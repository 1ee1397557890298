/** The import page of the dashboard, in a real browser: a CSV that is interrupted, a folder of files, and who may import. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import {
  type DashboardFixture,
  findFaults,
  openDashboardFixture,
} from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { waitUntil } from '../support/service/process.ts';

const { after, before, test } = needs('chromium');
const platform = '/api-v1/platform';
const lines = 3_500;

let fixture: DashboardFixture;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-import-'));
  fixture = await openDashboardFixture();
  await fixture.owner();
});
after(async () => {
  await fixture?.close();
  if (folder) await rm(folder, { recursive: true });
});

async function makeVault(name: string): Promise<string> {
  return (await fixture.service.call('POST', `${platform}/vaults`, { body: { name } })).json.address;
}

async function chooseVault(page: Page, name: string): Promise<void> {
  await page.getByLabel('Vault').first().click();
  await page.getByRole('option', { name: new RegExp(name) }).click();
}

const ended = (page: Page, words: RegExp) => page.getByRole('alert').filter({ hasText: words }).waitFor();

test('a CSV with a fault is checked, and imported once although the page is reloaded in the middle', async () => {
  const vault = await makeVault('Delivery notes');
  const file = join(folder, 'notes.csv');
  const rows = Array.from({ length: lines }, (_, at) => `DN-${at};${at === 41 ? 'many' : at};x\n`);
  await writeFile(file, `number;pallets;internal\n${rows.join('')}`);
  const page = await fixture.open('/records', { as: await fixture.owner() });
  page.on('dialog', (dialog) => dialog.accept());
  await page.getByRole('main').getByRole('link', { name: 'Import' }).click();
  await page.getByLabel('Drop a CSV or JSON Lines file here').setInputFiles(file);
  await chooseVault(page, 'Delivery notes');
  await page.getByLabel('Name in the data of pallets').fill('load.pallets');
  await page.getByLabel('Type of pallets').selectOption('number');
  await page.getByLabel('Type of internal').selectOption('out');
  await page.getByLabel('External id').selectOption('number');
  await page.getByText('"pallets": 2').waitFor();
  await page.getByRole('button', { name: 'Check all rows' }).click();
  await ended(page, /3,499 records are valid, 1 refused. Nothing was sent./);
  const fault = page.getByRole('table', { name: 'Faults' }).getByRole('row').last();
  assert.equal(await fault.innerText(), '43\tColumn "pallets": "many" is not a number such as 12.5.');
  assert.deepEqual(await findFaults(page), []);

  // The first is answered. Of the others the service makes one, of which the page never hears, and two never arrive.
  const keys: string[] = [];
  let made = false;
  await page.route('**/records/batch', async (route) => {
    const body = route.request().postData() ?? '';
    if (body.includes('"DN-0"')) return route.continue();
    keys.push(route.request().headers()['idempotency-key'] ?? '');
    if (!body.includes('"DN-1001"')) return;
    await route.fetch();
    made = true;
  });
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText(/^1,001 records/).waitFor();
  await waitUntil(async () => made && keys.length === 3);
  await page.reload();
  await page.unroute('**/records/batch');
  await page.getByText(/^Not finished/).waitFor();
  await page.getByLabel('Drop a CSV or JSON Lines file here').setInputFiles(file);
  await page.getByText('was partly imported from this browser').waitFor();
  assert.equal(await page.getByLabel('Name in the data of pallets').inputValue(), 'load.pallets');
  const again: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/records/batch')) again.push(request.headers()['idempotency-key'] ?? '');
  });
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await ended(page, /^3,499 records are imported, 1 refused\./);
  assert.deepEqual(again.sort(), keys.sort(), 'what was answered is not sent again');
  const { rows: stored } = await fixture.service.sql(
    `select l.external_id, l.subject_id from anchor_leaves l join vaults v on v.id = l.vault_id
     where v.address = $1`,
    [vault],
  );
  assert.equal(stored.length, lines - 1);
  const ids = new Map(stored.map(({ external_id, subject_id }) => [external_id, subject_id]));
  assert.equal(ids.size, lines - 1);

  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Report as CSV' }).click();
  const report = (await readFile(await (await coming).path(), 'utf8')).trim().split('\n');
  assert.equal(report.length, lines + 1);
  assert.deepEqual(report.slice(0, 2), ['line,id,status,error', `2,${ids.get('DN-0')},created,`]);
  assert.match(report[42] ?? '', /^43,,refused,/);
  const { json } = await fixture.service.call('GET', `${platform}/records/${ids.get('DN-7')}`);
  assert.deepEqual(json.data, { number: 'DN-7', load: { pallets: 7 } });

  // Corrected as a whole, all others would be there twice.
  await writeFile(file, `number;pallets;internal\n${rows.join('').replace('many', '41')}`);
  await page.getByRole('button', { name: 'Import something else' }).click();
  await page.getByLabel('Drop a CSV or JSON Lines file here').setInputFiles(file);
  await chooseVault(page, 'Delivery notes');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await ended(page, /was imported into this vault before, with other content or options: 3,499 rows/);
  await page.context().close();
});

test('rows that were all refused are imported from the same form after a change', async () => {
  await makeVault('Refused');
  const file = join(folder, 'refused.csv');
  await writeFile(file, 'number,pallets\nDN-1,many\n');
  const page = await fixture.open('/import', { as: await fixture.owner() });
  await page.getByLabel('Drop a CSV or JSON Lines file here').setInputFiles(file);
  await chooseVault(page, 'Refused');
  await page.getByLabel('Type of pallets').selectOption('number');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('heading', { name: 'refused.csv was not imported' }).waitFor();
  await page.getByRole('button', { name: 'Back to the form' }).click();
  await page.getByLabel('Type of pallets').selectOption('string');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await ended(page, /^1 record is imported, 0 refused\.$/);
  await page.context().close();
});

test('the files of a folder are imported once, and one that has changed since is refused', async () => {
  const vault = await makeVault('Scans');
  const scans = join(folder, 'scans');
  await mkdir(join(scans, '2019'), { recursive: true });
  await writeFile(join(scans, 'note.txt'), 'Signed.\n');
  await writeFile(join(scans, '2019', 'note.txt'), 'Signed before.\n');
  await writeFile(join(scans, '.hidden'), 'x');
  const page = await fixture.open('/import?kind=files', { as: await fixture.owner() });
  await page.getByLabel('Choose a folder').setInputFiles(scans);
  await page.getByText('Folder: scans, 3 files').waitFor();
  await chooseVault(page, 'Scans');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await ended(page, /^2 files are imported, 0 refused, 1 skipped\.$/);
  await page.getByRole('button', { name: 'Import something else' }).click();
  await writeFile(join(scans, 'note.txt'), 'Signed by somebody else.\n');
  await writeFile(join(scans, 'new.txt'), 'New.\n');
  await page.getByLabel('Choose a folder').setInputFiles(scans);
  await chooseVault(page, 'Scans');
  await page.getByRole('button', { name: 'It is another folder' }).waitFor();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await ended(page, /^2 files are imported, 1 refused, 1 skipped\.$/);
  await page.getByRole('cell', { name: /^It has changed since it was imported as fil_/ }).waitFor();
  const { json } = await fixture.service.call('GET', `${platform}/files?vaultAddress=${vault}`);
  assert.deepEqual(json.map(({ name }: { name: string }) => name).sort(), [
    'new.txt',
    'note.txt',
    'note.txt',
  ]);
  await page.context().close();
});

test('when the session has ended, nothing is sent for somebody else who signs in', async () => {
  await makeVault('Shared');
  const file = join(folder, 'shared.csv');
  await writeFile(file, 'number\nDN-1\n');
  const [{ visitor, account }, other] = [
    await fixture.member('developer'),
    await fixture.member('developer'),
  ];
  const page = await fixture.open('/import', { as: visitor });
  await page.getByLabel('Drop a CSV or JSON Lines file here').setInputFiles(file);
  await chooseVault(page, 'Shared');
  const sent: Route[] = [];
  await page.route('**/records/batch', (route) => void sent.push(route));
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await waitUntil(async () => sent.length === 1);
  const auth = (path: string, body: object) =>
    page.evaluate(
      `fetch('/auth/${path}', { method: 'POST', headers: { 'content-type': 'application/json' },
        body: ${JSON.stringify(JSON.stringify(body))} }).then(({ status }) => status)`,
    );
  assert.equal(await auth('sign-out', {}), 200);
  await page.getByText('Your session has ended').waitFor();
  assert.equal(
    await auth('sign-in/email', { email: other.account.email, password: other.account.password }),
    200,
  );
  await sent[0]?.fulfill({ status: 429, headers: { 'retry-after': '0' }, json: {} });
  await page.getByRole('textbox', { name: 'Password' }).fill(account.password);
  assert.equal(sent.length, 1);
  await page.unroute('**/records/batch');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await ended(page, /^1 record is imported, 0 refused\.$/);
  await page.context().close();
});

test('a viewer does not see it', async () => {
  const { visitor } = await fixture.member('viewer');
  const page = await fixture.open('/records', { as: visitor });
  await page.getByRole('heading', { name: 'Records', level: 1 }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Import' }).count(), 0);
  await page.goto('/import');
  await page.getByText('Import: not shown to viewers').waitFor();
  await page.context().close();
});
