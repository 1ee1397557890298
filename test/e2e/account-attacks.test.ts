/** Accounts beside an identity provider: taken before their owner comes, kept after the provider has removed somebody. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resetPassword } from '../../src/access/people/reset-password.ts';
import { openDatabase } from '../../src/db/database.ts';
import { newVisitor, type Visitor } from '../support/clients/browser-session.ts';
import { registerPasskey, usePasskey } from '../support/clients/person-passkey.ts';
import { api, type Person, tokenOf } from '../support/fixtures/people-fixture.ts';
import {
  openSingleSignOnFixture,
  type SingleSignOnFixture,
} from '../support/fixtures/single-sign-on-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import type { Answer } from '../support/service/service.ts';

let fixture: SingleSignOnFixture;
before(async () => {
  fixture = await openSingleSignOnFixture({ env: { HOLDFAST_WORKSPACE_CREATION: 'everyone' } });
});
after(() => fixture?.close());

const me = (visitor: Visitor) => visitor.call('GET', `${api}/me`);

function signInByPassword({ account: { email, password } }: Pick<Person, 'account'>): Promise<Answer> {
  return newVisitor(fixture.service).call('POST', '/auth/sign-in/email', { body: { email, password } });
}

const look = (link: string) =>
  newVisitor(fixture.service).call('POST', `${api}/invitations/look`, { body: { token: tokenOf(link) } });

let guests = 0;
function accept(link: string): Promise<Answer> {
  guests += 1;
  const account = {
    name: 'Guest',
    email: `guest${guests}@example.com`,
    password: 'rain falls on the harbour',
  };
  const body = { token: tokenOf(link), ...account };
  return newVisitor(fixture.service).call('POST', `${api}/invitations/accept`, { body });
}

/** The provider removes the person altogether. */
const remove = (subject: string) => fixture.provider.people.delete(subject);

function regroup(subject: string, groups: string[]): void {
  const { provider } = fixture;
  const { email } = provider.people.get(subject) ?? { email: '' };
  provider.people.set(subject, { email, groups });
}

test('an account that somebody made with the email of another person is not handed to the provider', async () => {
  // By a link that names no email: whoever has it chooses one.
  const thief = await fixture.member('viewer', { email: 'victim@corp.example' });
  const stolen = await registerPasskey(fixture.service, thief.visitor);
  assert.equal(stolen.answer.status, 201, stolen.answer.text);
  fixture.newPerson(['leads'], { email: 'victim@corp.example' });
  const { visitor, to } = await fixture.signInThere();
  assert.equal((await me(thief.visitor)).json.role, 'viewer', 'the groups of the victim raise the thief');
  assert.equal(to, '/sign-in?problem=unproved_account');
  assertError(await me(visitor), 'unauthorized');
  assert.equal((await signInByPassword(thief)).status, 200, 'nothing is linked');
});

test('an invitation for an email proves as little: who invited can accept it themselves', async () => {
  const admin = await fixture.member('admin');
  const email = 'invited@corp.example';
  const invited = await admin.visitor.call('POST', `${api}/invitations`, { body: { role: 'viewer', email } });
  const body = { token: tokenOf(invited.json.link), name: 'V', email, password: 'rain falls on the harbour' };
  const accepted = await newVisitor(fixture.service).call('POST', `${api}/invitations/accept`, { body });
  assert.equal(accepted.status, 200, accepted.text);
  fixture.newPerson(['leads'], { email });
  assert.equal((await fixture.signInThere()).to, '/sign-in?problem=unproved_account');
});

test('linking needs a fresh session of the account, and the very email at the provider', async () => {
  const person = await fixture.member('developer', { email: 'bea@corp.example' });
  const link = (visitor: Visitor) => visitor.call('POST', '/auth/provider/link');
  assertError(await link(newVisitor(fixture.service)), 'unauthorized');
  const foreign = { headers: { origin: 'https://evil.example' } };
  assertError(await person.visitor.call('POST', '/auth/provider/link', foreign), 'forbidden');
  await fixture.query(`update sessions set confirmed_at = now() - interval '11 minutes' where user_id = $1`, [
    person.id,
  ]);
  assertError(await link(person.visitor), 'step_up_required');
  await person.visitor.call('POST', '/auth/confirm/password', {
    body: { password: person.account.password },
  });
  // Somebody else at the provider, who would then be known here by the email of Bea.
  fixture.newPerson(['engineers']);
  assert.equal(await fixture.linkThere(person.visitor), '/settings?problem=other_email');
  fixture.newPerson(['engineers'], { email: 'bea@corp.example', emailVerified: false });
  assert.equal(await fixture.linkThere(person.visitor), '/settings?problem=no_email');
  assert.equal((await me(person.visitor)).status, 200, 'refused attempts end nothing');
  assert.deepEqual((await me(person.visitor)).json.provedBy, ['password']);
  fixture.newPerson(['engineers'], { email: 'bea@corp.example' });
  assert.equal(await fixture.linkThere(person.visitor), '/settings');
  assert.deepEqual((await me(person.visitor)).json.provedBy, ['provider']);
  // Once linked, nobody else at the provider is linked to it.
  fixture.newPerson(['engineers'], { email: 'bea@corp.example' });
  assert.equal(await fixture.linkThere(person.visitor), '/settings?problem=other_account');
  assert.equal((await fixture.signInThere()).to, '/sign-in?problem=other_account');
});

test('an answer of the provider links only in the browser, and for the session, that asked', async () => {
  const person = await fixture.member('developer', { email: 'cem@corp.example' });
  const subject = fixture.newPerson(['engineers'], { email: 'cem@corp.example' });
  const begun = await person.visitor.call('POST', '/auth/provider/link');
  const back = await fixture.provider.walk(begun.json.url);
  assert.equal(await fixture.comeBack(newVisitor(fixture.service), back), '/sign-in?problem=expired');
  const again = await person.visitor.call('POST', '/auth/provider/link');
  const late = await fixture.provider.walk(again.json.url);
  assert.equal((await person.visitor.call('DELETE', `${api}/sessions`)).status, 204);
  assert.equal(await fixture.comeBack(person.visitor, late), '/sign-in?problem=expired');
  const rows = await fixture.query('select 1 from identities where subject = $1', [subject]);
  assert.deepEqual(rows, []);
});

test('linking ends all sessions, and the old password, codes and passkeys stop counting', async () => {
  const person = await fixture.member('developer', { email: 'dora@corp.example' });
  const { answer, passkey } = await registerPasskey(fixture.service, person.visitor);
  assert.equal(answer.status, 201, answer.text);
  const elsewhere = newVisitor(fixture.service);
  const { email, password } = person.account;
  assert.equal(
    (await elsewhere.call('POST', '/auth/sign-in/email', { body: { email, password } })).status,
    200,
  );
  const before = person.visitor.cookies();
  assert.equal((await usePasskey(fixture.service, person.visitor, passkey)).status, 200);
  fixture.newPerson(['engineers'], { email });
  assert.equal(await fixture.linkThere(person.visitor), '/settings');
  assert.equal((await me(person.visitor)).json.id, person.id, 'the session of the provider goes on');
  assertError(await me(elsewhere), 'unauthorized');
  const old = await fixture.service.call('GET', `${api}/me`, { key: null, headers: { cookie: before } });
  assertError(old, 'unauthorized');
  assertError(await signInByPassword(person), 'unauthorized');
  assertError(await usePasskey(fixture.service, newVisitor(fixture.service), passkey), 'unauthorized');
  assertError(await usePasskey(fixture.service, person.visitor, passkey), 'unauthorized');
  const log = await fixture.query(
    `select action from audit_entries where actor_id = $1 and at > now() - interval '1 hour' order by id desc limit 3`,
    [person.id],
  );
  assert.deepEqual(
    log.map(({ action }) => action),
    ['session.create', 'session.end_all', 'user.link_provider'],
  );
});

test('a session that was written in the moment of the link is refused all the same', async () => {
  const person = await fixture.member('developer', { email: 'finn@corp.example' });
  const other = newVisitor(fixture.service);
  const { email, password } = person.account;
  assert.equal((await other.call('POST', '/auth/sign-in/email', { body: { email, password } })).status, 200);
  await fixture.query('create table raced as select * from sessions where user_id = $1', [person.id]);
  fixture.newPerson(['engineers'], { email });
  assert.equal(await fixture.linkThere(person.visitor), '/settings');
  await fixture.query('insert into sessions select * from raced');
  await fixture.query('drop table raced');
  assertError(await me(other), 'unauthorized');
  assert.equal((await me(person.visitor)).status, 200);
});

test('who was removed at the provider does not come back by a password, owner of another workspace or not', async () => {
  const person = await fixture.member('developer', { email: 'eli@corp.example' });
  const made = await person.visitor.call('POST', `${api}/workspaces`, { body: { name: "Eli's own" } });
  assert.equal(made.status, 201, made.text);
  const subject = fixture.newPerson(['engineers'], { email: 'eli@corp.example' });
  await fixture.linkThere(person.visitor);
  remove(subject);
  await fixture.grow(subject, 51);
  assertError(await me(person.visitor), 'unauthorized');
  assert.notEqual((await signInByPassword(person)).status, 200);
});

test('an owner of the first workspace keeps the password for when the provider is away, not once it has removed them', async () => {
  const person = await fixture.linked('owner', ['board']);
  const local = newVisitor(fixture.service);
  const { email, password } = person.account;
  fixture.provider.away = true;
  assert.equal((await local.call('POST', '/auth/sign-in/email', { body: { email, password } })).status, 200);
  assert.equal((await me(local)).json.role, 'owner');
  fixture.provider.away = false;
  remove(person.subject);
  await fixture.grow(person.subject, 51);
  assertError(await me(person.visitor), 'unauthorized');
  assertError(await me(local), 'unauthorized', /./);
  assertError(await signInByPassword(person), 'forbidden', /identity provider/);
  // Vouched for again, the password counts again.
  fixture.provider.people.set(person.subject, { email, groups: ['board'] });
  fixture.provider.present = person.subject;
  await fixture.signInThere();
  assert.equal((await signInByPassword(person)).status, 200);
});

test('an owner whom the groups or another owner demote loses the password, and the sessions that it began', async () => {
  for (const demote of ['groups', 'owner']) {
    const person = await fixture.linked('owner', ['board']);
    const local = newVisitor(fixture.service);
    const { email, password } = person.account;
    assert.equal(
      (await local.call('POST', '/auth/sign-in/email', { body: { email, password } })).status,
      200,
    );
    if (demote === 'groups') {
      regroup(person.subject, ['engineers']);
      await fixture.grow(person.subject, 51);
      assert.equal((await me(person.visitor)).json.role, 'developer');
    } else {
      const body = { role: 'developer' };
      const changed = await fixture.owner.visitor.call('PATCH', `${api}/members/${person.id}`, { body });
      assert.equal(changed.status, 200, changed.text);
    }
    assertError(await me(local), 'unauthorized');
    assertError(await signInByPassword(person), 'forbidden', /identity provider/);
  }
});

test('open invitations of whom the provider demoted or removed are withdrawn', async () => {
  const roles = async (lower: (subject: string) => unknown, expected: number) => {
    const subject = fixture.newPerson(['leads']);
    const { visitor } = await fixture.signInThere();
    const links = [await fixture.invite('admin', visitor), await fixture.invite('viewer', visitor)];
    const own = await visitor.call('POST', `${api}/workspaces`, { body: { name: 'Own' } });
    const elsewhere = await visitor.call('POST', `${api}/invitations`, {
      body: { role: 'admin' },
      headers: { 'x-workspace-id': own.json.id },
    });
    links.push(elsewhere.json.link);
    const [{ id }] = await fixture.query('select user_id as id from identities where subject = $1', [
      subject,
    ]);
    lower(subject);
    await fixture.grow(subject, 51);
    await me(visitor);
    const statuses = [];
    for (const link of links) statuses.push((await look(link)).status);
    const withdrawn = await fixture.query(
      `select 1 from audit_entries where action = 'invitation.revoke' and actor_id = $1`,
      [id],
    );
    assert.equal(withdrawn.length, expected);
    return statuses;
  };
  assert.deepEqual(await roles((subject) => regroup(subject, ['engineers']), 2), [404, 404, 200]);
  assert.deepEqual(await roles((subject) => regroup(subject, ['chess club']), 3), [404, 404, 404]);
  assert.deepEqual(await roles(remove, 3), [404, 404, 404]);
});

test('an invitation is not accepted before the provider was asked about who invited', async () => {
  const subject = fixture.newPerson(['leads']);
  const { visitor } = await fixture.signInThere();
  const good = await fixture.invite('admin', visitor);
  const bad = await fixture.invite('admin', visitor);
  await fixture.grow(subject, 51);
  assert.equal((await accept(good)).status, 200);
  remove(subject);
  // Nobody uses the session meanwhile.
  await fixture.grow(subject, 51);
  assertError(await accept(bad), 'resource_not_found');
});

test('what a removed person asked for is not done in their name', async () => {
  const subject = fixture.newPerson(['leads']);
  const { visitor } = await fixture.signInThere();
  const rules = await visitor.call('PUT', `${api}/approval-rules`, { body: { wideKeys: true } });
  assert.equal(rules.status, 200, rules.text);
  const asked = await visitor.call('POST', `${api}/api-keys`, { body: { name: 'back door' } });
  assert.equal(asked.status, 202, asked.text);
  remove(subject);
  await fixture.grow(subject, 51);
  assertError(await me(visitor), 'unauthorized');
  const approved = await fixture.owner.visitor.call(
    'POST',
    `${api}/approvals/${asked.json.approval.id}/approve`,
    {
      body: {},
    },
  );
  assertError(approved, 'conflict', /may not do it any more/);
  await fixture.query('update approval_rules set wide_keys = false');
});

test('a reset by the operator hands an account over, and gives no password that would not count', async () => {
  const { issuer } = fixture.provider;
  const connection = () => ({ connectionString: fixture.service.databaseUrl });
  const { db, close } = openDatabase({ connection, onError() {} });
  const password = 'chosen by the operator';
  const reset = (email: string, disableTwoFactor = false) =>
    resetPassword(db, { email, password, disableTwoFactor, issuer });
  const signsIn = async (email: string) =>
    (await signInByPassword({ account: { name: '', email, password } })).status;
  try {
    // Whoever had the account has registered a passkey.
    const taken = await fixture.member('developer', { email: 'gus@corp.example' });
    const { passkey } = await registerPasskey(fixture.service, taken.visitor);
    assert.deepEqual(await reset('gus@corp.example'), { email: 'gus@corp.example', passkeys: 1 });
    assert.deepEqual(await reset('gus@corp.example', true), { email: 'gus@corp.example', passkeys: 0 });
    assertError(await usePasskey(fixture.service, newVisitor(fixture.service), passkey), 'unauthorized');
    assert.equal(await signsIn('gus@corp.example'), 200);

    const linked = await fixture.linked('developer', ['engineers']);
    await assert.rejects(reset(linked.account.email), /signs in with the identity provider/);
    assert.notEqual(await signsIn(linked.account.email), 200);

    // Made by the provider, so there was no password.
    const subject = fixture.newPerson(['board']);
    const { visitor } = await fixture.signInThere();
    await reset(`${subject}@corp.example`);
    assertError(await me(visitor), 'unauthorized');
    assert.equal(await signsIn(`${subject}@corp.example`), 200);
  } finally {
    await close();
  }
});

test('a session of the provider is not freed from it by changing the password or turning codes on', async () => {
  const person = await fixture.linked('owner', ['board']);
  const { password } = person.account;
  const steps: [string, object][] = [
    ['change-password', { currentPassword: password, newPassword: 'a new tide comes in' }],
    ['two-factor/enable', { password }],
    ['two-factor/disable', { password }],
    ['two-factor/generate-backup-codes', { password }],
  ];
  for (const [path, body] of steps) {
    assertError(
      await person.visitor.call('POST', `/auth/${path}`, { body }),
      'forbidden',
      /Sign in with your password/,
    );
  }
  regroup(person.subject, ['engineers']);
  await fixture.grow(person.subject, 51);
  assert.equal((await me(person.visitor)).json.role, 'developer', 'the provider is still asked');
  for (const [path, body] of steps) {
    assertError(
      await person.visitor.call('POST', `/auth/${path}`, { body }),
      'forbidden',
      /identity provider/,
    );
  }
  const confirmed = await person.visitor.call('POST', '/auth/confirm/password', { body: { password } });
  assertError(confirmed, 'forbidden', /identity provider/);
});

test('confirming at the provider neither makes nor links an account', async () => {
  const person = await fixture.member('developer');
  const subject = fixture.newPerson(['engineers']);
  assert.equal(
    (await fixture.signInThere(person.visitor, '?confirm=true')).to,
    '/sign-in?problem=somebody_else',
  );
  assert.deepEqual(await fixture.query('select 1 from identities where subject = $1', [subject]), []);
});

test('a provider that was configured before says nothing about anybody any more', async () => {
  const subject = fixture.newPerson(['engineers']);
  const { visitor } = await fixture.signInThere();
  await fixture.query(`update provider_sessions set issuer = 'https://former.example' where subject = $1`, [
    subject,
  ]);
  await fixture.query(`update identities set issuer = 'https://former.example' where subject = $1`, [
    subject,
  ]);
  await fixture.grow(subject, 51);
  assertError(await me(visitor), 'unauthorized');
  // The former one has verified the email, so that the present one finds the account by it.
  fixture.newPerson(['engineers'], { email: `${subject}@corp.example` });
  const again = await fixture.signInThere();
  assert.equal(again.to, '/');
  const [{ n }] = await fixture.query('select count(*)::int as n from users where email = $1', [
    `${subject}@corp.example`,
  ]);
  assert.equal(n, 1);
});
