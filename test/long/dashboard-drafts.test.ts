/** What people have typed, or are sending, in the dashboard while something happens elsewhere; in a real browser. */
import assert from 'node:assert/strict';
import { openAssetFixture, pathOf } from '../support/fixtures/asset-fixture.ts';
import { type DashboardFixture, openDashboardFixture } from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { withClient } from '../support/service/database.ts';

const { after, before, test } = needs('chromium');
const platform = '/api-v1/platform';

let fixture: DashboardFixture;
let vault: { address: string };
before(async () => {
  fixture = await openDashboardFixture();
  await fixture.owner();
  vault = (await fixture.service.call('POST', `${platform}/vaults`, { body: { name: 'Contracts' } })).json;
});
after(() => fixture?.close());

/** As when they are too old, or were ended elsewhere. */
async function endSessionsOf(email: string): Promise<void> {
  const { rowCount } = await withClient({ connectionString: fixture.service.databaseUrl }, (client) =>
    client.query('delete from sessions where user_id = (select id from users where email = $1)', [email]),
  );
  assert.ok((rowCount ?? 0) > 0);
}

test('two pages do not overwrite each other, and each shows the changes of the other', async () => {
  const owner = await fixture.owner();
  const assets = openAssetFixture(fixture.service);
  const assetId = await assets.newAsset({ vaultAddress: vault.address });
  const page = await fixture.open(`/assets/${encodeURIComponent(assetId)}`, { as: owner });
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  const form = page.getByRole('dialog', { name: 'Change asset' });
  await form.getByLabel('Part number').fill('P-7');
  const elsewhere = await owner.call('PUT', pathOf(assetId), { body: { name: 'Fuel pump' } });
  assert.equal(elsewhere.status, 200, elsewhere.text);
  // Without anybody asking: the page hears of it.
  await form.getByText('Changed by someone else in the meantime').waitFor();
  await form.getByText('Name: Fuel pump').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText(/has changed in the meantime/).waitFor();
  assert.equal(await form.getByLabel('Part number').inputValue(), 'P-7');
  await form.getByRole('button', { name: 'Keep my draft' }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Fuel pump' }).waitFor();
  const { json } = await assets.call('GET', assetId);
  assert.deepEqual([json.name, json.partNumber, json.version], ['Fuel pump', 'P-7', 3]);
  await page.context().close();
});

test('shows that an interval was changed elsewhere, and can take over its new values', async () => {
  const owner = await fixture.owner();
  const assets = openAssetFixture(fixture.service);
  const assetId = await assets.newAsset({ vaultAddress: vault.address });
  const lastDone = { at: new Date().toISOString() };
  const made = await assets.call('POST', assetId, 'intervals/', {
    body: { name: 'Inspection', every: { days: 30 }, lastDone },
  });
  const page = await fixture.open(`/assets/${encodeURIComponent(assetId)}?tab=due`, { as: owner });
  await page.getByRole('button', { name: 'Actions for Inspection' }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  const form = page.getByRole('dialog', { name: 'Change interval' });
  await form.getByLabel('Work').fill('Visual inspection');
  const path = pathOf(assetId, `intervals/${made.json.id}/`);
  await owner.call('PUT', path, { body: { name: 'Inspection', every: { days: 20 } } });
  await form.getByText('Repeats: every 20 days').waitFor();
  await form.getByRole('button', { name: 'Use the new values' }).click();
  assert.equal(await form.getByLabel('Every … days').inputValue(), '20');
  await form.getByLabel('Work').fill('Visual inspection');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByText('Visual inspection').waitFor();
  await page.context().close();
});

test('a user who loses the session over an open form signs in again in place, and submits it', async () => {
  const { visitor, account } = await fixture.member('developer');
  const page = await fixture.open('/vaults', { as: visitor });
  await page.getByRole('button', { name: 'New vault' }).first().click();
  await page.getByLabel('Name').fill('Kept draft');
  await endSessionsOf(account.email);
  await page.getByRole('button', { name: 'Create vault' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByRole('textbox', { name: 'Password' }).fill(account.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Name').inputValue(), 'Kept draft');
  await page.getByRole('button', { name: 'Create vault' }).click();
  await page.getByRole('heading', { name: 'Kept draft' }).waitFor();
  await page.context().close();
});

test('another person who signs in there sees nothing that was typed', async () => {
  const { visitor, account } = await fixture.member('developer');
  const other = await fixture.member('viewer');
  const page = await fixture.open('/vaults', { as: visitor });
  await page.getByRole('button', { name: 'New vault' }).first().click();
  await page.getByLabel('Name').fill('Not for others');
  await endSessionsOf(account.email);
  await page.getByRole('button', { name: 'Create vault' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('Email').fill(other.account.email);
  await dialog.getByRole('textbox', { name: 'Password' }).fill(other.account.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  assert.equal(await page.getByText('Not for others').count(), 0);
  await page.context().close();
});

test('sends hundreds of files a few at a time, and draws only some of them', async () => {
  const page = await fixture.open('/files', { as: await fixture.owner() });
  await page.getByRole('button', { name: 'Add files' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add files' });
  const files = Array.from({ length: 200 }, (_, n) => ({
    name: `many-${n}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`file ${n}`),
  }));
  await dialog.getByLabel('Drop files here, or choose them').setInputFiles(files);
  await dialog.getByText('Upload 200 files').waitFor();
  assert.equal(await dialog.getByRole('listitem').count(), 40);
  await dialog.getByText('Only its hash').click();
  await dialog.getByLabel('Vault').click();
  await page.getByRole('option', { name: /Contracts/ }).click();
  // How many are under way, and how often the list is drawn anew, however many things happen to 200 files.
  await page.evaluate(`{
    window.underWay = 0;
    window.mostAtOnce = 0;
    const { fetch } = window;
    window.fetch = async (url, options) => {
      const counts = options?.method === 'POST';
      if (counts) window.mostAtOnce = Math.max(window.mostAtOnce, ++window.underWay);
      try {
        return await fetch(url, options);
      } finally {
        if (counts) window.underWay -= 1;
      }
    };
    window.drawn = 0;
    new MutationObserver(() => { window.drawn += 1; }).observe(
      document.querySelector('[aria-label="Files to send"]'),
      { childList: true, subtree: true, characterData: true },
    );
  }`);
  await dialog.getByRole('button', { name: 'Send 200 hashes' }).click();
  await dialog.getByText('200 of 200 files accepted').waitFor({ timeout: 100_000 });
  const mostAtOnce = Number(await page.evaluate('window.mostAtOnce'));
  assert.ok(mostAtOnce > 1 && mostAtOnce <= 4, `${mostAtOnce} at once`);
  const drawn = Number(await page.evaluate('window.drawn'));
  assert.ok(drawn > 0 && drawn < 400, `drawn ${drawn} times`);
  assert.equal(await dialog.getByRole('listitem').count(), 40);
  const { json } = await fixture.service.call('GET', `${platform}/files?limit=1000`);
  assert.equal(json.filter(({ name }: { name: string }) => name.startsWith('many-')).length, 200);
  await page.context().close();
});
