/** People: the first owner, invitations, roles, workspaces, sessions, two-factor codes, and what is refused. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join, newVisitor, signIn, type Visitor } from '../support/clients/browser-session.ts';
import { codeOf, nextCodeOf, wrongCodeOf } from '../support/clients/totp.ts';
import { api, openPeopleFixture, type PeopleFixture } from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import type { Service } from '../support/service/service.ts';

let fixture: PeopleFixture;
let service: Service;
let owner: Visitor;
before(async () => {
  fixture = await openPeopleFixture();
  service = fixture.service;
  owner = fixture.owner.visitor;
});
after(() => fixture.close());

async function invite(role: string, email?: string): Promise<string> {
  const answer = await owner.call('POST', `${api}/invitations`, { body: { role, ...(email && { email }) } });
  assert.equal(answer.status, 201, answer.text);
  return answer.json.link;
}

test('the link creates one owner, and then there is no link any more', async () => {
  assert.equal(await service.app.makeOwnerLink(), null);
  const { json } = await owner.call('GET', `${api}/me`);
  assert.deepEqual(
    {
      name: json.name,
      email: json.email,
      role: json.role,
      slugs: json.workspaces.map((w: { slug: string }) => w.slug),
    },
    { name: 'Ada', email: fixture.owner.account.email, role: 'owner', slugs: ['default'] },
  );
});

test('a link works once, and a replaced or withdrawn one not at all', async () => {
  const link = await invite('viewer');
  const account = { name: 'Eve', email: 'eve@example.com', password: 'a long enough one' };
  await join(service, link, account);
  const token = new URL(link).hash.slice(1);
  const again = { token, name: 'Eve', email: 'eve2@example.com', password: 'a long enough one' };
  assertError(
    await newVisitor(service).call('POST', `${api}/invitations/accept`, { body: again }),
    'resource_not_found',
  );
  const other = await invite('viewer', 'mia@example.com');
  const { json: open } = await owner.call('GET', `${api}/invitations`);
  const { id } = open.find(({ email }: { email: string }) => email === 'mia@example.com');
  assert.equal((await owner.call('DELETE', `${api}/invitations/${id}`)).status, 204);
  const withdrawn = { token: new URL(other).hash.slice(1) };
  assertError(
    await newVisitor(service).call('POST', `${api}/invitations/look`, { body: withdrawn }),
    'resource_not_found',
  );
});

test('lists an invitation that was not accepted in time as expired, until it is withdrawn', async () => {
  const link = await invite('viewer', 'late@example.com');
  const listed = async () => {
    const { json } = await owner.call('GET', `${api}/invitations`);
    return json.find(({ email }: { email: string }) => email === 'late@example.com');
  };
  assert.equal((await listed()).status, 'open');
  await fixture.query(`update invitations set expires_at = now() - interval '1 hour' where email = $1`, [
    'late@example.com',
  ]);
  const { id, status } = await listed();
  assert.equal(status, 'expired');
  const token = new URL(link).hash.slice(1);
  assertError(
    await newVisitor(service).call('POST', `${api}/invitations/look`, { body: { token } }),
    'resource_not_found',
  );
  assert.equal((await owner.call('DELETE', `${api}/invitations/${id}`)).status, 204);
  assert.equal(await listed(), undefined);
});

test('an invitation for an email accepts no other, and no short password', async () => {
  const token = new URL(await invite('viewer', 'Zoe@Example.com')).hash.slice(1);
  const visitor = newVisitor(service);
  const accept = (email: string, password: string) =>
    visitor.call('POST', `${api}/invitations/accept`, { body: { token, name: 'Z', email, password } });
  assertError(await accept('other@example.com', 'a long enough one'), 'invalid_request', /zoe@example.com/);
  assertError(await accept('zoe@example.com', 'short'), 'invalid_request', /password/);
  assert.equal((await accept('ZOE@example.com', 'a long enough one')).status, 200);
  await signIn(visitor, { email: 'zoe@example.com', password: 'a long enough one' });
});

test('the cookie is bound to this host, and hidden from scripts and other sites', async () => {
  const visitor = newVisitor(service);
  const { email, password } = fixture.owner.account;
  const answer = await visitor.call('POST', '/auth/sign-in/email', { body: { email, password } });
  const session = answer.headers.getSetCookie().find((cookie) => cookie.includes('session_token='));
  assert.match(session ?? '', /^__Host-holdfast\.session_token=/);
  for (const attribute of [/HttpOnly/i, /Secure/i, /SameSite=Strict/i, /Path=\//i])
    assert.match(session ?? '', attribute);
  assert.doesNotMatch(session ?? '', /Domain=/i);
  assert.ok(!answer.text.includes('token'), 'the session token is not told to scripts');
});

test('a viewer reads, but changes nothing and sees no keys', async () => {
  const { visitor } = await fixture.member('viewer');
  assert.equal((await visitor.call('GET', `${api}/vaults`)).status, 200);
  assertError(await visitor.call('POST', `${api}/vaults`, { body: { name: 'x' } }), 'forbidden', /viewer/);
  assertError(await visitor.call('GET', `${api}/api-keys`), 'forbidden');
  assertError(await visitor.call('POST', `${api}/invitations`, { body: { role: 'viewer' } }), 'forbidden');
});

test('a developer creates vaults and keys, and invites nobody', async () => {
  const { visitor } = await fixture.member('developer');
  const made = await visitor.call('POST', `${api}/vaults`, { body: { name: 'Made by a person' } });
  assert.equal(made.status, 201, made.text);
  assert.equal((await visitor.call('POST', `${api}/api-keys`, { body: { name: 'mine' } })).status, 201);
  assertError(await visitor.call('POST', `${api}/invitations`, { body: { role: 'viewer' } }), 'forbidden');
  const { json: me } = await visitor.call('GET', `${api}/me`);
  const { json: log } = await visitor.call('GET', `${api}/audit-log?action=vault.create`);
  assert.deepEqual(log[0].actor, { kind: 'user', id: me.id });
});

test('an admin manages people, but not owners', async () => {
  const { visitor } = await fixture.member('admin');
  const { json: me } = await owner.call('GET', `${api}/me`);
  const role = (to: string) => visitor.call('PATCH', `${api}/members/${me.id}`, { body: { role: to } });
  assertError(await role('viewer'), 'forbidden', /owner/);
  assertError(await visitor.call('POST', `${api}/invitations`, { body: { role: 'owner' } }), 'forbidden');
  assertError(await visitor.call('DELETE', `${api}/members/${me.id}`), 'forbidden');
});

test('the last owner can neither leave nor step down', async () => {
  const { json: me } = await owner.call('GET', `${api}/me`);
  assertError(await owner.call('DELETE', `${api}/members/${me.id}`), 'conflict', /owner/);
  const down = await owner.call('PATCH', `${api}/members/${me.id}`, { body: { role: 'admin' } });
  assertError(down, 'conflict', /owner/);
});

test('a removed member is refused with the next request', async () => {
  const { visitor } = await fixture.member('developer');
  const { json: me } = await visitor.call('GET', `${api}/me`);
  assert.equal((await owner.call('DELETE', `${api}/members/${me.id}`)).status, 204);
  assertError(await visitor.call('GET', `${api}/vaults`), 'forbidden', /member/);
});

test('a header chooses the workspace, and a foreign one is refused', async () => {
  const { json: made } = await owner.call('POST', `${api}/workspaces`, { body: { name: 'Second' } });
  const inSecond = { headers: { 'x-workspace-id': made.id } };
  await owner.call('POST', `${api}/vaults`, { ...inSecond, body: { name: 'Only here' } });
  const names = async (options = {}) =>
    (await owner.call('GET', `${api}/vaults`, options)).json.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(inSecond), ['Only here']);
  assert.ok(!(await names()).includes('Only here'));
  const { visitor } = await fixture.member('admin');
  assertError(await visitor.call('GET', `${api}/vaults`, inSecond), 'forbidden', /not a member/);
  const unknown = { headers: { 'x-workspace-id': 'ws_nowhere' } };
  assertError(await visitor.call('GET', `${api}/vaults`, unknown), 'forbidden', /not a member/);
});

test('only owners and admins of the first workspace create workspaces', async () => {
  const { json: second } = await owner.call('POST', `${api}/workspaces`, { body: { name: 'Third' } });
  const invited = await owner.call('POST', `${api}/invitations`, {
    body: { role: 'owner' },
    headers: { 'x-workspace-id': second.id },
  });
  // Owns a workspace, but not the first one.
  const tenant = await join(service, invited.json.link, {
    name: 'Tenant',
    email: 'tenant@example.com',
    password: 'a long enough one',
  });
  const developer = (await fixture.member('developer')).visitor;
  const viewer = (await fixture.member('viewer')).visitor;
  for (const visitor of [tenant, developer, viewer]) {
    const refused = await visitor.call('POST', `${api}/workspaces`, { body: { name: 'Mine' } });
    assertError(refused, 'forbidden', /Ask an owner or admin of the first workspace/);
    assert.equal((await visitor.call('GET', `${api}/me`)).json.mayCreateWorkspaces, false);
  }
  const admin = (await fixture.member('admin')).visitor;
  assert.equal((await admin.call('GET', `${api}/me`)).json.mayCreateWorkspaces, true);
  const made = await admin.call('POST', `${api}/workspaces`, { body: { name: 'Fourth' } });
  assert.equal(made.status, 201, made.text);
  // An operator is one wherever they act at the moment.
  const inFourth = { headers: { 'x-workspace-id': made.json.id } };
  assert.equal((await admin.call('GET', `${api}/me`, inFourth)).json.mayCreateWorkspaces, true);
  const names = await fixture.query(`select name from workspaces where name = 'Mine'`);
  assert.deepEqual(names, []);
});

test('a change needs proof that it comes from a page of this service', async () => {
  const cookie = owner.cookies();
  const change = (headers: Record<string, string>) =>
    service.call('POST', `${api}/vaults`, {
      key: null,
      body: { name: 'x' },
      headers: { cookie, ...headers },
    });
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: service.url },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
  ] as Record<string, string>[]) {
    assertError(await change(headers), 'forbidden', /page of this service/);
  }
  assert.equal((await change({ 'sec-fetch-site': 'same-origin' })).status, 201);
  assert.equal((await change({ origin: service.url })).status, 201);
});

test('routes for people refuse keys', async () => {
  for (const path of ['me', 'members', 'sessions', 'invitations']) {
    assertError(await service.call('GET', `${api}/${path}`), 'forbidden', /signed in/);
  }
});

test('a wrong key beside a good session is refused', async () => {
  const answer = await owner.call('GET', `${api}/vaults`, { headers: { 'x-api-key': 'hf_live_wrong' } });
  assertError(answer, 'unauthorized');
});

test('lists sessions, ends one, and ends all on signing out everywhere', async () => {
  const { visitor: first, account } = await fixture.member('viewer');
  const second = newVisitor(service);
  await signIn(second, account);
  const { json: sessions } = await first.call('GET', `${api}/sessions`);
  assert.deepEqual(sessions.map(({ current }: { current: boolean }) => current).sort(), [false, true]);
  const other = sessions.find(({ current }: { current: boolean }) => !current);
  assert.equal((await first.call('DELETE', `${api}/sessions/${other.id}`)).status, 204);
  assertError(await second.call('GET', `${api}/me`), 'unauthorized');
  await signIn(second, account);
  assert.equal((await first.call('DELETE', `${api}/sessions`)).status, 204);
  assertError(await first.call('GET', `${api}/me`), 'unauthorized');
  assertError(await second.call('GET', `${api}/me`), 'unauthorized');
});

test('nobody ends a session of another person', async () => {
  const { visitor } = await fixture.member('admin');
  const { json: sessions } = await owner.call('GET', `${api}/sessions`);
  assertError(await visitor.call('DELETE', `${api}/sessions/${sessions[0].id}`), 'resource_not_found');
});

test('makes password guessing wait, for that account only', async () => {
  const { account } = await fixture.member('viewer');
  const guess = (email: string) =>
    newVisitor(service).call('POST', '/auth/sign-in/email', {
      body: { email, password: 'wrong wrong wrong' },
    });
  for (let tries = 0; tries < 5; tries += 1) assertError(await guess(account.email), 'unauthorized');
  await fixture.prolongWait(`account ${account.email}`);
  const refused = await guess(account.email);
  assertError(refused, 'rate_limit_exceeded');
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assertError(
    await newVisitor(service).call('POST', '/auth/sign-in/email', {
      body: { email: account.email, password: account.password },
    }),
    'rate_limit_exceeded',
  );
  await signIn(newVisitor(service), fixture.owner.account);
});

test('a password alone gives no session if two-factor codes are on', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const { password } = account;
  const enabled = await visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  assert.equal(enabled.status, 200, enabled.text);
  const secret = new URL(enabled.json.totpURI).searchParams.get('secret') ?? '';
  const verify = (by: Visitor, code: string) =>
    by.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  assert.equal((await verify(visitor, codeOf(secret, Date.now()))).status, 200);

  const next = newVisitor(service);
  const half = await next.call('POST', '/auth/sign-in/email', { body: { email: account.email, password } });
  assert.equal(half.json.twoFactorRedirect, true, half.text);
  assertError(await next.call('GET', `${api}/me`), 'unauthorized');
  assertError(await verify(next, wrongCodeOf(secret)), 'unauthorized');
  assertError(await next.call('GET', `${api}/me`), 'unauthorized');
  assert.equal((await verify(next, nextCodeOf(secret))).status, 200);
  assert.equal((await next.call('GET', `${api}/me`)).json.twoFactor, true);
});

test('changing the password requires the old one', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const change = (currentPassword: string) =>
    visitor.call('POST', '/auth/change-password', {
      body: { currentPassword, newPassword: 'another long one', revokeOtherSessions: true },
    });
  assertError(await change('wrong wrong wrong'), 'invalid_request');
  assert.equal((await change(account.password)).status, 200);
  await signIn(newVisitor(service), { email: account.email, password: 'another long one' });
});
