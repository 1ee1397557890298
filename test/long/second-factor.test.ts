/** A workspace that requires a second factor answers no session without one, but lets its people set one up. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newVisitor, signIn } from '../support/clients/browser-session.ts';
import { codeOf, nextCodeOf } from '../support/clients/totp.ts';
import {
  api,
  openPeopleFixture,
  type PeopleFixture,
  type Person,
} from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';

let fixture: PeopleFixture;
before(async () => {
  fixture = await openPeopleFixture();
});
after(() => fixture.close());

async function turnOn({ visitor, account: { password } }: Person): Promise<string> {
  const enabled = await visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  const secret = new URL(enabled.json.totpURI).searchParams.get('secret') ?? '';
  const code = codeOf(secret, Date.now());
  const verified = await visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  assert.equal(verified.status, 200, verified.text);
  return secret;
}

const require = (value: boolean, { visitor } = fixture.owner) =>
  visitor.call('PUT', `${api}/sign-in-rules`, { body: { requireSecondFactor: value } });

test('an owner requires it, having one; it holds with the next request, and not for keys', async () => {
  const person = await fixture.member('developer');
  assertError(await require(true), 'conflict', /yourself first/);
  assertError(await require(true, person), 'forbidden');
  await turnOn(fixture.owner);
  assert.equal((await require(true)).status, 200);
  for (const path of ['/vaults', '/members', '/api-keys', '/audit-log'])
    assertError(await person.visitor.call('GET', api + path), 'second_factor_required');
  assert.equal((await fixture.service.call('GET', `${api}/vaults`)).status, 200);
  assert.equal((await fixture.owner.visitor.call('GET', `${api}/vaults`)).status, 200);

  // The way out: the person sees what is missing, sets it up, and goes on in the same session.
  const me = await person.visitor.call('GET', `${api}/me`);
  assert.equal(me.json.lacksSecondFactor, true);
  const secret = await turnOn(person);
  assert.equal((await person.visitor.call('GET', `${api}/vaults`)).status, 200);

  const again = newVisitor(fixture.service);
  await signIn(again, person.account);
  assertError(await again.call('GET', `${api}/vaults`), 'unauthorized');
  const code = nextCodeOf(secret);
  assert.equal((await again.call('POST', '/auth/two-factor/verify-totp', { body: { code } })).status, 200);
  assert.equal((await again.call('GET', `${api}/vaults`)).status, 200);

  assert.equal((await require(false)).status, 200);
  const entries = await fixture.query(
    `select details from audit_entries where action = 'workspace.sign_in_rules' order by id`,
  );
  assert.deepEqual(entries, [
    { details: { requireSecondFactor: true } },
    { details: { requireSecondFactor: false } },
  ]);
});
