/** Signing in to the dashboard and confirming in place, in a real browser: passkeys, passwords, and the identity provider. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type IdentityProvider, startIdentityProvider } from '../support/clients/identity-provider.ts';
import { withAuthenticator } from '../support/clients/virtual-authenticator.ts';
import {
  ada,
  type DashboardFixture,
  findFaults,
  openDashboardFixture,
  signInByHand,
} from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';

const { after, before, test } = needs('chromium');

let provider: IdentityProvider;
let fixture: DashboardFixture;
before(async () => {
  provider = await startIdentityProvider();
  fixture = await openDashboardFixture({
    env: { ...provider.settings, HOLDFAST_OIDC_GROUPS: 'engineers=developer' },
  });
  provider.serve(fixture.service.url);
  await fixture.owner();
});
after(async () => {
  await fixture?.close();
  await provider?.close();
});

/** As if everybody had signed in an hour ago. */
const grow = () => fixture.service.sql(`update sessions set confirmed_at = now() - interval '1 hour'`);

/** Inviting somebody needs a fresh proof, too, and the owner has a passkey. */
async function newDeveloper() {
  await fixture.service.sql('update sessions set confirmed_at = now(), second_factor = true');
  return fixture.member('developer');
}

async function beginKey(page: Page, name: string): Promise<void> {
  await page
    .getByRole('button', { name: 'New API key' })
    .or(page.getByRole('button', { name: 'New key' }))
    .first()
    .click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: /^Create/ }).click();
}

/** As a whole: the list behind it shows how other keys begin. */
const newKey = (page: Page) => page.getByText(/^hf_live_\w{36}$/);

test('a passkey is registered, confirms in place, and signs in without a password', async () => {
  const named = fixture.service.url.replace('127.0.0.1', 'localhost');
  const page = await fixture.open(`${named}/sign-in`);
  const authenticator = await withAuthenticator(page);
  await signInByHand(page, ada);
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.goto(`${named}/settings?tab=two-factor`);
  await page.getByLabel('Name of the device').fill('Hangar laptop');
  await page.getByRole('button', { name: 'Register a passkey' }).click();
  await page.getByText('Hangar laptop').waitFor();
  assert.deepEqual(await findFaults(page, undefined, 'main'), []);

  await grow();
  await page.goto(`${named}/keys`);
  await beginKey(page, 'Confirmed by passkey');
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.waitFor();
  assert.deepEqual(await findFaults(page), []);
  await authenticator.verifies(false);
  await dialog.getByRole('button', { name: 'Confirm with a passkey' }).click();
  await dialog.getByRole('alert').waitFor();
  await authenticator.verifies(true);
  await dialog.getByRole('button', { name: 'Confirm with a passkey' }).click();
  await newKey(page).waitFor();

  await page.context().clearCookies();
  await page.goto(`${named}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const { rows } = await fixture.service.sql(
    `select action, details->>'by' as by from audit_entries
     where action in ('user.add_passkey', 'session.confirm') or details->>'by' = 'passkey' order by id`,
  );
  assert.deepEqual(rows, [
    { action: 'user.add_passkey', by: null },
    { action: 'session.confirm', by: 'passkey' },
    { action: 'session.create', by: 'passkey' },
  ]);
  await page.context().close();
});

test('on a bare address the page leads to where passkeys work', async () => {
  const page = await fixture.open('/settings?tab=two-factor', { as: await fixture.owner() });
  const link = page.getByRole('link', { name: 'open this page as localhost' });
  assert.match((await link.getAttribute('href')) ?? '', /^http:\/\/localhost:\d+\/settings/);
  await page.context().close();
});

test('a change that needs a fresh proof asks for the password and then goes on with what was typed', async () => {
  const { visitor, account } = await newDeveloper();
  await grow();
  const page = await fixture.open('/keys', { as: visitor });
  await beginKey(page, 'Typed once');
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.getByLabel('Your password').fill('not the password');
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
  await dialog.getByText('The password is wrong.').waitFor();
  await dialog.getByLabel('Your password').fill(account.password);
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
  await newKey(page).waitFor();
  await page.context().close();
});

test('signs in with the identity provider, and says why somebody is refused', async () => {
  provider.people.set('mira', { email: 'mira@corp.example', name: 'Mira', groups: ['engineers'] });
  provider.people.set('carl', { email: 'carl@corp.example', name: 'Carl', groups: ['chess club'] });
  const page = await fixture.open('/sign-in?to=%2Fvaults', { ignoreHTTPSErrors: true });
  provider.present = 'carl';
  const button = page.getByRole('link', { name: /^Sign in with 127\.0\.0\.1/ });
  await button.waitFor();
  assert.deepEqual(await findFaults(page), []);
  await button.click();
  await page.getByText('none of the groups that may use this service').waitFor();
  await page.context().clearCookies();
  provider.present = 'mira';
  await page.goto('/sign-in?to=%2Fvaults');
  await button.click();
  await page.getByRole('heading', { name: 'Vaults', level: 1 }).waitFor();
  await page.context().close();
});

test('an account that nobody has linked is linked under Settings, and the refusal says so', async () => {
  const { visitor, account } = await newDeveloper();
  provider.people.set('bea', { email: account.email, name: 'Bea', groups: ['engineers'] });
  provider.people.set('other', { email: 'other@corp.example', name: 'Other', groups: ['engineers'] });
  provider.present = 'bea';
  const page = await fixture.open('/sign-in', { ignoreHTTPSErrors: true });
  await page.getByRole('link', { name: /^Sign in with 127\.0\.0\.1/ }).click();
  await page.getByRole('alert').getByText('link it under Settings').waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.context().close();

  await grow();
  const settings = await fixture.open('/settings', { as: visitor, ignoreHTTPSErrors: true });
  const link = settings.getByRole('button', { name: /^Link with 127\.0\.0\.1/ });
  const dialog = settings.getByRole('dialog', { name: 'Confirm that it is you' });
  provider.present = 'other';
  await link.click();
  await dialog.getByLabel('Your password').fill(account.password);
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
  await settings.getByText('knows you by another email').waitFor();
  assert.deepEqual(await findFaults(settings, undefined, 'main'), []);
  await settings.context().clearCookies({ domain: '127.0.0.1', name: /^_(session|interaction)/ });
  provider.present = 'bea';
  await link.click();
  await settings.getByText(/^You sign in with 127\.0\.0\.1/).waitFor();
  assert.equal(await settings.getByLabel('Current password').count(), 0);
  await grow();
  await settings.goto(new URL('/keys', settings.url()).href);
  await beginKey(settings, 'By whom the provider vouches for');
  await dialog.getByRole('link', { name: /^Confirm with 127\.0\.0\.1/ }).waitFor();
  assert.equal(await dialog.getByLabel('Your password').count(), 0);
  await settings.context().close();
});
