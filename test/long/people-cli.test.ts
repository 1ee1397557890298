/** `holdfast users reset-password` beside a running service. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newVisitor, signIn } from '../support/clients/browser-session.ts';
import { codeOf } from '../support/clients/totp.ts';
import { api, openPeopleFixture, type PeopleFixture } from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { command } from '../support/service/commands.ts';
import type { Settings } from '../support/service/process.ts';

let fixture: PeopleFixture;
let settings: Settings;
before(async () => {
  fixture = await openPeopleFixture();
  settings = { DATABASE_URL: fixture.service.databaseUrl, HOLDFAST_DATA_DIR: fixture.service.config.dataDir };
});
after(() => fixture.close());

const reset = (...args: string[]) => command(settings, 'users', 'reset-password', ...args);

test('the new password signs in, the old one does not, and all sessions have ended', async () => {
  const { visitor, account, id } = await fixture.member('viewer');
  const guess = (password: string) =>
    newVisitor(fixture.service).call('POST', '/auth/sign-in/email', {
      body: { email: account.email, password },
    });
  // Locked by failures, as those who need this often are.
  for (let turn = 0; turn < 5; turn += 1) assertError(await guess('wrong wrong wrong'), 'unauthorized');
  const upper = account.email.toUpperCase();
  const { code, stdout, stderr } = await reset(upper, '--json');
  assert.equal(code, 0, stderr);
  const { email, password } = JSON.parse(stdout);
  assert.equal(email, account.email);
  assertError(await visitor.call('GET', `${api}/me`), 'unauthorized');
  await signIn(newVisitor(fixture.service), { email, password });
  assertError(await guess(account.password), 'unauthorized');
  const { json: log } = await fixture.owner.visitor.call('GET', `${api}/audit-log?targetId=${id}`);
  assert.equal(log[0].action, 'user.reset_password');
  assert.deepEqual(log[0].actor, { kind: 'command', id: 'command-line' });
  assert.ok(!JSON.stringify(log).includes(password));
});

test('two-factor codes stay on unless they are turned off explicitly', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const { password } = account;
  const enabled = await visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  const secret = new URL(enabled.json.totpURI).searchParams.get('secret') ?? '';
  await visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code: codeOf(secret, Date.now()) } });
  const trySignIn = (password: string) =>
    newVisitor(fixture.service).call('POST', '/auth/sign-in/email', {
      body: { email: account.email, password },
    });
  const kept = JSON.parse((await reset(account.email, '--json')).stdout);
  assert.equal((await trySignIn(kept.password)).json.twoFactorRedirect, true);
  const off = JSON.parse((await reset(account.email, '--disable-two-factor', '--json')).stdout);
  const answer = await trySignIn(off.password);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.twoFactorRedirect, undefined);
});

test('says that an email is unknown', async () => {
  const { code, stderr } = await reset('nobody@example.com');
  assert.notEqual(code, 0);
  assert.match(stderr, /nobody with the email nobody@example.com/);
  assert.doesNotMatch(stderr, /\n\s+at /);
});
