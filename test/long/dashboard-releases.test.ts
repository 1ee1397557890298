/** The dashboard on releasing work: the organisation, what an entry needs for its certificate, and the certificate. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { readPdf } from '../support/clients/read-pdf.ts';
import { openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import {
  type DashboardFixture,
  findFaults,
  openDashboardFixture,
} from '../support/fixtures/dashboard-fixture.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { needs } from '../support/programs/needs.ts';

const { after, before, test } = needs('chromium');

let fixture: DashboardFixture;
before(async () => {
  fixture = await openDashboardFixture();
});
after(() => fixture?.close());

test('an owner states the organisation, and others only see it', async () => {
  const page = await fixture.open('/settings?tab=maintenance', { as: await fixture.owner() });
  await page.getByText('say that they are neither an EASA Form 1').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Nordjet Teknik');
  await page.getByLabel('Address').fill('Hangar 4\n2300 København');
  await page.getByLabel('Approving authority and country').fill('EASA / Denmark');
  await page.getByLabel('Approval number').fill('DK.145.0042');
  await page.getByLabel('Regulation').fill('Part-145');
  assert.equal(await page.getByText('say that they are neither').count(), 0);
  await page.getByRole('button', { name: 'Save organisation' }).click();
  await page.getByText('The organisation was saved').waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.context().close();
  const { visitor } = await fixture.member('admin');
  const other = await fixture.open('/settings?tab=maintenance', { as: visitor });
  await other.getByText('Only owners change it.').waitFor();
  assert.equal(await other.getByLabel('Approval number').inputValue(), 'DK.145.0042');
  assert.equal(await other.getByRole('button', { name: 'Save organisation' }).count(), 0);
  await other.context().close();
});

test('an entry names approved data and what is released, and its certificate is a button', async () => {
  const { service } = fixture;
  const assets = openAssetFixture(service);
  const assetId = await assets.newAsset({ partNumber: 'HP-45' });
  const [mechanic, certifier] = [await assets.newWorker(), await assets.newWorker()];
  const licences = [licence('repair', 'DK.66.1')];
  await service.call('PATCH', `/api-v1/damc/workers/${certifier}/`, { body: { licences } });
  await assets.call('POST', assetId, 'workers/', { body: { workers: [mechanic, certifier] } });
  const page = await fixture.open(`/assets/${encodeURIComponent(assetId)}`, { as: await fixture.owner() });
  await page.getByRole('button', { name: 'New entry' }).first().click();
  const form = page.getByRole('dialog', { name: 'New maintenance entry' });
  await form.getByRole('combobox', { name: 'Worker' }).click();
  await page.getByRole('option', { name: new RegExp(mechanic.slice(0, 8)) }).click();
  await form.getByLabel('Type').fill('repair');
  await form.getByLabel('Summary').fill('Seal replaced');
  await form.getByRole('combobox', { name: 'What is released' }).click();
  await page.getByRole('option', { name: /A component/ }).click();
  await form.getByRole('button', { name: 'Record work' }).click();
  await form.getByText('Choose what most of the work was.').waitFor();
  await form.getByRole('combobox', { name: 'Status of the component' }).click();
  await page.getByRole('option', { name: 'Overhauled' }).click();
  await form.getByLabel('Work order').fill('WO-118');
  for (const [index, text] of ['CMM 29-11-07', 'AD 2025-0123'].entries()) {
    await form.getByRole('button', { name: 'Add approved data' }).click();
    await form.getByLabel(`Approved data ${index + 1}`, { exact: true }).fill(text);
  }
  await form.getByLabel('Revision 1').fill('12');
  await form.getByLabel('Remarks on the certificate').fill('Leak test passed.');
  assert.deepEqual(await findFaults(page), []);
  await form.getByRole('button', { name: 'Record work' }).click();
  await form.waitFor({ state: 'detached' });
  const view = async (path = '') => {
    const { vaultAddress } = (await assets.call('GET', assetId)).json;
    return assets.call('GET', assetId, `maintenances/${path}?viewerAddress=${vaultAddress}`);
  };
  const [{ maintenanceId }] = (await view()).json;
  const { data } = (await view(`${maintenanceId}/details/`)).json;
  assert.deepEqual(data, {
    approvedData: [{ reference: 'CMM 29-11-07', revision: '12' }, { reference: 'AD 2025-0123' }],
    workOrder: 'WO-118',
    release: { as: 'component', work: 'overhauled', remarks: 'Leak test passed.' },
  });
  const key = await service.onBehalfKey();
  for (const [workerAddress, role] of [
    [mechanic, 'performed'],
    [certifier, 'certified'],
  ]) {
    const body = { workerAddress, role };
    const signed = await assets.call('POST', assetId, `maintenances/${maintenanceId}/signoffs/`, {
      body,
      key,
    });
    assert.equal(signed.status, 201, signed.text);
  }
  await page.reload();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Release certificate' }).click();
  const pdf = await readFile(await (await download).path());
  assert.match(
    readPdf(pdf).text,
    /8\. Part no\. HP-45.*Approved data: CMM 29-11-07, revision 12; AD 2025-0123/,
  );
  // A correction begins with what was stated.
  await page.getByRole('button', { name: 'Correct' }).click();
  const correction = page.getByRole('dialog', { name: 'Correct an entry' });
  assert.equal(await correction.getByLabel('Approved data 2', { exact: true }).inputValue(), 'AD 2025-0123');
  assert.equal(await correction.getByLabel('Work order').inputValue(), 'WO-118');
  await page.context().close();
});

test('an admin adds, changes and removes rules for types of work, of the workspace and of an asset', async () => {
  const { service } = fixture;
  const owner = await fixture.owner();
  const page = await fixture.open('/settings?tab=maintenance', { as: owner });
  await page.getByText('There are no rules').waitFor();
  const form = page.getByRole('dialog', { name: 'Rules for types of work' });
  const edit = () => page.getByRole('button', { name: 'Edit rules' }).click();
  const rule = (number: number) => form.getByRole('group', { name: `Rule ${number}` });
  const stored = async () => (await service.call('GET', '/api-v1/damc/signoffs/rules/work/')).json.rules;
  await edit();
  await rule(1).getByLabel('Type of work').fill('Engine change');
  await rule(1).getByLabel('Licence scope').fill('powerplant');
  await rule(1).getByLabel('Categories').fill('B1, C,, B1');
  await rule(1).getByLabel('Critical').check();
  await form.getByRole('button', { name: 'Add a rule' }).click();
  await rule(2).getByLabel('Type of work').fill('engine change');
  await rule(2).getByLabel('Licence scope').fill('line');
  assert.deepEqual(await findFaults(page), []);
  await form.getByRole('button', { name: 'Save rules' }).click();
  await form.getByText(/two rules for the type "engine change"/).waitFor();
  await rule(2).getByLabel('Type of work').fill('*');
  await form.getByRole('button', { name: 'Save rules' }).click();
  await form.waitFor({ state: 'detached' });
  const engine = { type: 'engine change', scope: 'powerplant', categories: ['B1', 'C'], critical: true };
  assert.deepEqual(await stored(), [{ type: '*', scope: 'line', categories: [], critical: false }, engine]);
  const shown = page.getByRole('article', { name: 'engine change' });
  await shown.getByText('Licence for powerplant, category B1 or C').waitFor();
  await shown.getByText('critical', { exact: true }).waitFor();
  await edit();
  await form.getByRole('button', { name: 'Remove rule 1' }).click();
  await rule(1).getByLabel('Critical').uncheck();
  await form.getByRole('button', { name: 'Save rules' }).click();
  await form.waitFor({ state: 'detached' });
  assert.deepEqual(await stored(), [{ ...engine, critical: false }]);
  await page.context().close();

  const assetId = await openAssetFixture(service).newAsset();
  const ofAsset = await fixture.open(`/assets/${encodeURIComponent(assetId)}?tab=people`, { as: owner });
  await ofAsset.getByText('no rules of its own').waitFor();
  await ofAsset.getByRole('button', { name: 'Edit rules' }).click();
  const dialog = ofAsset.getByRole('dialog', { name: 'Rules of this asset' });
  await dialog.getByLabel('Type of work').fill('*');
  await dialog.getByLabel('Licence scope').fill('hydraulics');
  await dialog.getByRole('button', { name: 'Save rules' }).click();
  await ofAsset.getByText('Licence for hydraulics').waitFor();
  await ofAsset.context().close();
  const { visitor } = await fixture.member('viewer');
  const other = await fixture.open('/settings?tab=maintenance', { as: visitor });
  await other.getByText('Only admins change rules.').waitFor();
  await other.context().close();
});
