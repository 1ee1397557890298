/** A published page in a real browser: readable without a script, on narrow and wide screens, and checked by the visitor. */
import assert from 'node:assert/strict';
import { assetFields, entryFields } from '../../src/maintenance/published-pages/choices.ts';
import { statuses, verdict } from '../support/clients/verify-page.ts';
import {
  type DashboardFixture,
  findFaults,
  openDashboardFixture,
} from '../support/fixtures/dashboard-fixture.ts';
import { openPageFixture, type PageFixture, secrets } from '../support/fixtures/published-page-fixture.ts';
import { needs } from '../support/programs/needs.ts';

const { after, before, test } = needs('chromium');
const sizes = {
  narrow: { width: 360, height: 740 },
  wide: { width: 1280, height: 900 },
};

let dashboard: DashboardFixture;
let fixture: PageFixture;
let path: string;
before(async () => {
  dashboard = await openDashboardFixture({ chain: true });
  fixture = await openPageFixture(dashboard.service, await dashboard.registrars());
  path = await fixture.published({ show: [...assetFields], entries: { show: [...entryFields] } });
});
after(() => dashboard?.close());

test('is free of faults and fits its screen, in light and dark', async () => {
  for (const [name, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const shown of [path, '/a/never']) {
        const page = await dashboard.open(shown, { viewport, colorScheme });
        assert.deepEqual(await findFaults(page), [], `${name}, ${colorScheme}, ${shown}`);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(width, viewport.width);
        await page.context().close();
      }
    }
  }
});

test('a visitor checks an entry and a sign-off with one click each', async () => {
  for (const name of ['Check it yourself: this entry', 'Check it yourself: sign-off 1']) {
    const page = await dashboard.open(path);
    await page.getByRole('link', { name }).last().click();
    await page.waitForURL('**/verify#*');
    await page.locator('#proof-state', { hasText: 'proof.json' }).waitFor();
    await page.getByText('document.json').waitFor();
    // The chain of the test is no evidence of time.
    await verdict(page, 'incomplete');
    const { digest, claims, leaf, chain } = await statuses(page);
    assert.deepEqual([digest, claims, leaf, chain], ['pass', 'pass', 'pass', 'pass']);
    await page.context().close();
  }
});

test('a link to the page that checks proofs opens nothing but files of published pages', async () => {
  for (const named of [
    '/api-v1/platform/me',
    'https://evil.example/a/x',
    '//evil.example/a/x',
    '/a/../verify',
  ]) {
    const page = await dashboard.open(`/verify#${new URLSearchParams({ proof: named })}`);
    await page.getByText('not on a published page').waitFor();
    await page.context().close();
  }
  const page = await dashboard.open(
    `/verify#${new URLSearchParams({ proof: '/a/never/entries/x/proof.json' })}`,
  );
  await page.getByText('may no longer be published').waitFor();
  await page.context().close();
});

test('is published from the dashboard with its choices, shown as a QR code, and revoked', async () => {
  const owner = await dashboard.owner();
  const page = await dashboard.open(`/assets/${fixture.assetId}?tab=people`, { as: owner });
  await page.getByRole('button', { name: 'Publish a page' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Until').fill('2126-01-31T12:00:00');
  await dialog.getByLabel('Part number').check();
  await dialog.getByLabel('It also shows maintenance entries').check();
  await dialog.getByLabel('Files to download').check();
  assert.ok(await dialog.getByLabel('Names of files').isChecked(), 'what is shown with it is chosen with it');
  await dialog.getByLabel('GTIN', { exact: true }).fill('9506000134352');
  await dialog.getByLabel('Serial number of the GTIN').fill('QR 1');
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await dialog.getByText("GS1's set 82").waitFor();
  await dialog.getByLabel('Serial number of the GTIN').fill('QR-1');
  assert.deepEqual(await findFaults(page, undefined, '[role=dialog]'), []);
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  assert.deepEqual(await findFaults(page, undefined, '[role=dialog]'), []);
  const link = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  const linked = page.getByRole('link', { name: /\/01\/09506000134352\/21\/QR-1$/ });
  for (const address of [link, await linked.getAttribute('href')]) {
    const { text } = await fixture.visit(new URL(address ?? '').pathname);
    assert.ok(
      text.includes(secrets.partNumber) && text.includes(secrets.file) && !text.includes(secrets.worker),
    );
  }
  assert.deepEqual(await findFaults(page, undefined, 'main'), []);
  const row = page.getByRole('row').filter({ has: linked });
  await row.getByRole('button', { name: /^Revoke the page/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await linked.waitFor({ state: 'detached' });
  assert.equal((await fixture.visit(new URL(link).pathname)).status, 404);
  await page.context().close();
});
