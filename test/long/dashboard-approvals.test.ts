/** A second person in the dashboard: rules turned on, steps that wait, decided by somebody else, in a real browser. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Visitor } from '../support/clients/browser-session.ts';
import { sendForm } from '../support/clients/upload.ts';
import {
  type DashboardFixture,
  findFaults,
  follow,
  openDashboardFixture,
} from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { waitUntil } from '../support/service/process.ts';

const { after, before, test } = needs('chromium');
const platform = '/api-v1/platform';
/** Where pictures of the pages go, for somebody to look at them. */
const pictures = process.env.HOLDFAST_TEST_PICTURES;

let fixture: DashboardFixture;
let owner: Visitor;
let admin: Visitor;
let fileId: string;
let vaultAddress: string;
before(async () => {
  fixture = await openDashboardFixture();
  owner = await fixture.owner();
  vaultAddress = (await fixture.service.call('POST', `${platform}/vaults`, { body: { name: 'Archive' } }))
    .json.address;
  const { json } = await sendForm(fixture.service, `${platform}/files`, {
    parts: [
      ['vaultAddress', vaultAddress],
      ['file', new File(['a plan'], 'plan.txt')],
    ],
  });
  fileId = json.id;
});
after(() => fixture?.close());

const notice = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text });
const shut = (page: Page) => page.context().close();

async function look(page: Page, name: string): Promise<void> {
  assert.deepEqual(await findFaults(page), [], name);
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

test('an admin turns the rules on once there is a second one', async () => {
  const page = await fixture.open('/approvals', { as: owner });
  await page.getByText('Nothing waits').waitFor();
  await look(page, 'empty');
  await page.getByRole('main').getByRole('link', { name: 'settings' }).click();
  await page.getByText('Only one person has the role admin or owner here').waitFor();
  assert.equal(await page.getByRole('switch', { name: 'Transfers' }).isDisabled(), true);
  ({ visitor: admin } = await fixture.member('admin'));
  await page.reload();
  for (const name of ['Erasing content', 'Transfers', 'API keys that can do more than read']) {
    const turn = page.getByRole('switch', { name });
    await waitUntil(async () => turn.isEnabled());
    await turn.click();
    await waitUntil(async () => (await turn.isChecked()) && (await turn.isEnabled()));
  }
  await look(page, 'rules');
  const { json } = await owner.call('GET', `${platform}/approval-rules`);
  assert.deepEqual([json.eraseContent, json.transfer, json.wideKeys], [true, true, true]);
  await shut(page);
});

test('a step that waits says so, and somebody else approves it; the badge follows', async () => {
  const asking = await fixture.open(`/files/${fileId}`, { as: admin });
  const deciding = await fixture.open('/vaults', { as: owner });
  await asking.getByRole('button', { name: 'Actions' }).click();
  await asking.getByRole('menuitem', { name: /Erase/ }).click();
  await asking.getByRole('button', { name: 'Erase permanently' }).click();
  await notice(asking, 'a second person has to approve it').waitFor();
  const entry = deciding.getByRole('navigation').getByRole('link', { name: /Approvals/ });
  await entry.getByLabel('1 open').waitFor();
  await entry.click();
  await deciding.getByText('Erase the content of a file').waitFor();
  await deciding.getByText('1 version, 6 B').waitFor();
  await look(deciding, 'open');
  await deciding.getByRole('button', { name: /^Approve/ }).click();
  const dialog = deciding.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('The customer asked for it');
  await look(deciding, 'approve');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await notice(deciding, 'It was approved and is done.').waitFor();
  await deciding.getByText('Nothing waits').waitFor();
  await waitUntil(async () => (await entry.getByLabel(/open/).count()) === 0);
  // The page of who asked follows by itself.
  await waitUntil(async () => (await owner.call('GET', `${platform}/files/${fileId}`)).json.erased);
  await follow(asking, '/approvals?status=approved');
  await asking.getByText('“The customer asked for it”').waitFor();
  assert.equal(await asking.getByRole('button', { name: /Approve|Refuse|Withdraw/ }).count(), 0);
  await Promise.all([asking, deciding].map(shut));
});

test('an approved key is collected once, by who asked', async () => {
  const page = await fixture.open('/keys', { as: admin });
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill('Crane');
  await page.getByRole('button', { name: 'Create key' }).click();
  await notice(page, 'a second person has to approve it').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  await follow(page, '/approvals');
  await page.getByText('“Crane” with every scope').waitFor();
  await page.getByRole('button', { name: /^Withdraw/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0);
  const { json: open } = await owner.call('GET', `${platform}/approvals?status=open`);
  const approved = await owner.call('POST', `${platform}/approvals/${open[0].id}/approve`, { body: {} });
  assert.equal(approved.status, 200, approved.text);
  await follow(page, '/approvals?status=approved');
  await page.getByRole('button', { name: /^Collect key/ }).click();
  await page.getByRole('button', { name: 'Show the key' }).click();
  await page.getByText(/^hf_live_\w{36}$/).waitFor();
  await look(page, 'collected');
  await page.getByRole('button', { name: 'Done' }).click();
  await waitUntil(async () => (await page.getByRole('button', { name: /^Collect key/ }).count()) === 0);
  await shut(page);
});

test('refusing needs a reason, who asked can withdraw, and turning a rule off waits', async () => {
  const page = await fixture.open('/settings?tab=approvals', { as: admin });
  await page.getByRole('switch', { name: 'Transfers' }).click();
  await notice(page, 'a second person has to approve it').waitFor();
  assert.equal(await page.getByRole('switch', { name: 'Transfers' }).isChecked(), true);
  const other = await fixture.open('/approvals', { as: owner });
  await other.getByText('Need no second person any more').waitFor();
  await other.getByRole('button', { name: /^Refuse/ }).click();
  const dialog = other.getByRole('dialog');
  assert.equal(await dialog.getByLabel('Reason').getAttribute('required'), '');
  await dialog.getByLabel('Reason').fill('We keep it on');
  await dialog.getByRole('button', { name: 'Refuse' }).click();
  await notice(other, 'It was refused.').waitFor();
  await shut(other);

  const retention = `${platform}/vaults/${vaultAddress}/retention`;
  const asked = await admin.call('PUT', retention, { body: { recordDays: 30, fileDays: null } });
  assert.equal(asked.status, 202, asked.text);
  await follow(page, '/approvals');
  await page.getByText('data of records: 30 days instead of for ever').waitFor();
  await page.getByRole('button', { name: /^Withdraw/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await page.getByText('Nothing waits').waitFor();
  await shut(page);
});

test('it is usable on a phone and in both colour schemes, also by a viewer', async () => {
  const { visitor: viewer } = await fixture.member('viewer');
  await admin.call('PUT', `${platform}/vaults/${vaultAddress}/retention`, {
    body: { recordDays: 30, fileDays: 90 },
  });
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of [
      ['narrow', { width: 360, height: 720 }],
      ['wide', { width: 1280, height: 800 }],
    ] as const) {
      for (const [who, as] of [
        ['owner', owner],
        ['viewer', viewer],
      ] as const) {
        const page = await fixture.open('/approvals?status=all', { as, colorScheme, viewport });
        await page.getByText('Set the retention of a vault').first().waitFor();
        const decides = await page.getByRole('button', { name: /^Approve/ }).count();
        assert.equal(decides, who === 'owner' ? 1 : 0);
        assert.equal(
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          true,
          `${who} ${size}`,
        );
        await look(page, `${who}-${size}-${colorScheme}`);
        await shut(page);
      }
    }
  }
});
