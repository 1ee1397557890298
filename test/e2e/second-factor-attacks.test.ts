/** Somebody who has the password, or a session that was left open, tries to get around the second factor of its owner. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newVisitor, signIn, type Visitor } from '../support/clients/browser-session.ts';
import { readEvents } from '../support/clients/event-reader.ts';
import { registerPasskey, usePasskey } from '../support/clients/person-passkey.ts';
import { codeOf, nextCodeOf } from '../support/clients/totp.ts';
import {
  api,
  openPeopleFixture,
  type PeopleFixture,
  type Person,
} from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';

let fixture: PeopleFixture;
before(async () => {
  fixture = await openPeopleFixture();
  const { answer, passkey } = await registerPasskey(fixture.service, fixture.owner.visitor);
  assert.equal(answer.status, 201, answer.text);
  assert.equal((await usePasskey(fixture.service, fixture.owner.visitor, passkey)).status, 200);
});
after(() => fixture.close());

const require = async (value: boolean) => {
  const body = { requireSecondFactor: value };
  const answer = await fixture.owner.visitor.call('PUT', `${api}/sign-in-rules`, { body });
  assert.equal(answer.status, 200, answer.text);
};

const makeKey = (visitor: Visitor) => visitor.call('POST', `${api}/api-keys`, { body: { name: 'mine' } });

/** As if nothing had been proved for eleven minutes. */
const grow = ({ id }: Person) =>
  fixture.query(`update sessions set confirmed_at = now() - interval '11 minutes' where user_id = $1`, [id]);

async function withPasskey() {
  const person = await fixture.member('developer');
  const { answer, passkey } = await registerPasskey(fixture.service, person.visitor);
  assert.equal(answer.status, 201, answer.text);
  return { ...person, passkey };
}

async function withCodes() {
  const person = await fixture.member('developer');
  const { password } = person.account;
  const enabled = await person.visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  const secret = new URL(enabled.json.totpURI).searchParams.get('secret') ?? '';
  const code = codeOf(secret, Date.now());
  const verified = await person.visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  assert.equal(verified.status, 200, verified.text);
  return { ...person, secret };
}

async function thiefOf({ account }: Person): Promise<Visitor> {
  const thief = newVisitor(fixture.service);
  await signIn(thief, account);
  return thief;
}

test('the password of somebody with a passkey adds no factor, and removes none', async (t) => {
  const person = await withPasskey();
  // Made before there was a passkey, and never confirmed.
  const early = await fixture.member('developer');
  const begun = await early.visitor.call('POST', '/auth/two-factor/enable', {
    body: { password: early.account.password },
  });
  const registered = await registerPasskey(fixture.service, early.visitor);
  assert.equal(registered.answer.status, 201, registered.answer.text);
  await require(true);
  t.after(() => require(false));

  const thief = await thiefOf(person);
  const { password } = person.account;
  assertError(await makeKey(thief), 'second_factor_required');
  assertError(
    await thief.call('POST', '/auth/two-factor/enable', { body: { password } }),
    'step_up_required',
  );
  assertError((await registerPasskey(fixture.service, thief)).answer, 'step_up_required');
  const changed = await thief.call('POST', '/auth/change-password', {
    body: { currentPassword: password, newPassword: 'a new tide comes in' },
  });
  assertError(changed, 'step_up_required');
  const confirmed = await thief.call('POST', '/auth/confirm/password', { body: { password } });
  assertError(confirmed, 'forbidden', /passkey/);

  const second = await thiefOf(early);
  const secret = new URL(begun.json.totpURI).searchParams.get('secret') ?? '';
  const codes = [
    ['verify-totp', codeOf(secret, Date.now()), 'step_up_required'],
    ['verify-backup-code', begun.json.backupCodes[0], 'invalid_request'],
  ] as const;
  for (const [step, code, refusal] of codes) {
    assertError(await second.call('POST', `/auth/two-factor/${step}`, { body: { code } }), refusal);
  }
  for (const visitor of [thief, second]) {
    const { json: found } = await visitor.call('GET', `${api}/passkeys`);
    assert.equal(found.length, 1);
    assertError(await visitor.call('DELETE', `${api}/passkeys/${found[0].id}`), 'second_factor_required');
    assertError(await makeKey(visitor), 'second_factor_required');
  }
  // The owner of the passkey adds codes with it.
  assert.equal((await usePasskey(fixture.service, person.visitor, person.passkey)).status, 200);
  const enabled = await person.visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  assert.equal(enabled.status, 200, enabled.text);
});

test('where no factor is required, the password of somebody with a passkey is still no fresh proof', async () => {
  const person = await withPasskey();
  const thief = await thiefOf(person);
  assertError(await makeKey(thief), 'step_up_required');
  const { json: found } = await thief.call('GET', `${api}/passkeys`);
  assertError(await thief.call('DELETE', `${api}/passkeys/${found[0].id}`), 'step_up_required');
  assert.equal((await thief.call('GET', `${api}/vaults`)).status, 200);
  assert.equal((await usePasskey(fixture.service, person.visitor, person.passkey)).status, 200);
  assert.equal((await makeKey(person.visitor)).status, 201);
});

test('a session that was left open, with the password, makes no backup codes, and turns nothing off', async () => {
  const person = await withCodes();
  const { password } = person.account;
  await grow(person);
  const steps: [string, object][] = [
    ['two-factor/generate-backup-codes', { password }],
    ['two-factor/disable', { password }],
    ['change-password', { currentPassword: password, newPassword: 'a new tide comes in' }],
  ];
  for (const [path, body] of steps) {
    assertError(await person.visitor.call('POST', `/auth/${path}`, { body }), 'step_up_required');
  }
  assertError(await makeKey(person.visitor), 'step_up_required');
  const code = nextCodeOf(person.secret);
  const verified = await person.visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  assert.equal(verified.status, 200, verified.text);
  for (const [path, body] of steps.toReversed().slice(1)) {
    const done = await person.visitor.call('POST', `/auth/${path}`, { body });
    if (path !== 'two-factor/generate-backup-codes') assert.equal(done.status, 200, done.text);
  }
});

test('a changed password leaves the session as fresh as it was', async () => {
  const person = await fixture.member('developer');
  await grow(person);
  const body = { currentPassword: person.account.password, newPassword: 'a new tide comes in' };
  const changed = await person.visitor.call('POST', '/auth/change-password', { body });
  assert.equal(changed.status, 200, changed.text);
  assertError(await makeKey(person.visitor), 'step_up_required');
});

test('a factor that is gone no longer counts in sessions in which it was used', async (t) => {
  const person = await withPasskey();
  assert.equal((await usePasskey(fixture.service, person.visitor, person.passkey)).status, 200);
  const other = newVisitor(fixture.service);
  assert.equal((await usePasskey(fixture.service, other, person.passkey)).status, 200);
  await require(true);
  t.after(() => require(false));
  assert.equal((await other.call('GET', `${api}/vaults`)).status, 200);
  const { json: found } = await person.visitor.call('GET', `${api}/passkeys`);
  assert.equal((await person.visitor.call('DELETE', `${api}/passkeys/${found[0].id}`)).status, 204);
  assertError(await other.call('GET', `${api}/vaults`), 'second_factor_required');
});

test('a stream that was opened before a second factor was required ends', async (t) => {
  const without = await fixture.member('viewer');
  const streams = await Promise.all(
    [without, fixture.owner].map(({ visitor }) =>
      readEvents(fixture.service, '', { key: null, headers: { cookie: visitor.cookies() } }),
    ),
  );
  assert.deepEqual(
    streams.map(({ response }) => response.statusCode),
    [200, 200],
  );
  await require(true);
  t.after(() => require(false));
  let ended: string | undefined;
  void streams[0]?.ended.then((how) => {
    ended = how;
  });
  await waitUntil(() => ended === 'complete');
  const { json: vault } = await fixture.owner.visitor.call('POST', `${api}/vaults`, {
    body: { name: 'Seen' },
  });
  await fixture.owner.visitor.call('PATCH', `${api}/vaults/${vault.address}/deactivate`);
  await waitUntil(() => streams[1]?.messages.some(({ event }) => event === 'vault.deactivated'));
  streams[1]?.close();
});

test('what operators may do needs the factor of the first workspace in every other one, too', async (t) => {
  const admin = await fixture.member('admin');
  const made = await admin.visitor.call('POST', `${api}/workspaces`, { body: { name: 'Without a factor' } });
  assert.equal(made.status, 201, made.text);
  await require(true);
  t.after(() => require(false));
  const elsewhere = { headers: { 'x-workspace-id': made.json.id } };
  assert.equal((await admin.visitor.call('GET', `${api}/vaults`, elsewhere)).status, 200);
  const again = await admin.visitor.call('POST', `${api}/workspaces`, {
    ...elsewhere,
    body: { name: 'Another' },
  });
  assertError(again, 'forbidden');
  assert.equal((await admin.visitor.call('GET', `${api}/me`, elsewhere)).json.mayCreateWorkspaces, false);
});
