/** People who try for more than they are given: roles, invitations, workspaces, and what belongs to others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newVisitor, signIn, type Visitor } from '../support/clients/browser-session.ts';
import { api, openPeopleFixture, type PeopleFixture, tokenOf } from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { startService } from '../support/service/service.ts';

let fixture: PeopleFixture;
before(async () => {
  fixture = await openPeopleFixture();
});
after(() => fixture.close());

const accept = (visitor: Visitor, body: unknown) =>
  visitor.call('POST', `${api}/invitations/accept`, { body });
const newcomer = (email: string) => ({ name: 'New', email, password: 'rain falls on the harbour' });

test('an admin cannot become owner by any route', async () => {
  const admin = await fixture.member('admin');
  const promote = (id: string) =>
    admin.visitor.call('PATCH', `${api}/members/${id}`, { body: { role: 'owner' } });
  assertError(await promote(admin.id), 'forbidden', /owner/);
  const other = await fixture.member('viewer');
  assertError(await promote(other.id), 'forbidden', /owner/);
  const invited = await admin.visitor.call('POST', `${api}/invitations`, { body: { role: 'owner' } });
  assertError(invited, 'forbidden', /owner/);
  // Somebody's own link does not raise those who are members already.
  const again = await accept(admin.visitor, { token: tokenOf(await fixture.invite('owner')) });
  assertError(again, 'conflict', /member/);
  const key = await admin.visitor.call('POST', `${api}/api-keys`, { body: { name: 'k' } });
  const byKey = await fixture.service.call('PATCH', `${api}/members/${admin.id}`, {
    key: key.json.key,
    body: { role: 'owner' },
  });
  assertError(byKey, 'forbidden', /signed in/);
  assert.equal((await admin.visitor.call('GET', `${api}/me`)).json.role, 'admin');
});

test('a lost role has no effect from the next request on', async () => {
  const { visitor, id } = await fixture.member('developer');
  const change = (role: string) =>
    fixture.owner.visitor.call('PATCH', `${api}/members/${id}`, { body: { role } });
  assert.equal((await change('viewer')).status, 200);
  assertError(await visitor.call('POST', `${api}/vaults`, { body: { name: 'x' } }), 'forbidden', /viewer/);
  assertError(await visitor.call('POST', `${api}/api-keys`, { body: { name: 'x' } }), 'forbidden');
  assert.equal((await change('developer')).status, 200);
  assert.equal((await visitor.call('POST', `${api}/vaults`, { body: { name: 'x' } })).status, 201);
});

test('only one of two who use a link concurrently gets in', async () => {
  const token = tokenOf(await fixture.invite('viewer'));
  const emails = ['race1@example.com', 'race2@example.com', 'race3@example.com'];
  const answers = await withClient({ connectionString: fixture.service.databaseUrl }, async (client) => {
    // Nobody can become a member until all of them have the link in hand.
    await client.query('begin; lock table members in exclusive mode');
    const trying = emails.map((email) => accept(newVisitor(fixture.service), { token, ...newcomer(email) }));
    await waitUntil(async () => {
      const waiting = await fixture.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.length === emails.length;
    });
    await client.query('rollback');
    return Promise.all(trying);
  });
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404]);
  const [{ n }] = await fixture.query(
    `select count(*)::int as n from users where email like 'race%@example.com'`,
  );
  assert.equal(n, 1);
});

test('links of a removed or demoted member stop working', async () => {
  const countRevoked = async () =>
    (
      await fixture.query(`select count(*)::int as n from audit_entries where action = 'invitation.revoke'`)
    )[0].n;
  const revoked = await countRevoked();
  const admin = await fixture.member('admin');
  const back = await fixture.invite('admin', admin.visitor);
  const { visitor: owner } = fixture.owner;
  assert.equal((await owner.call('DELETE', `${api}/members/${admin.id}`)).status, 204);
  assertError(await accept(admin.visitor, { token: tokenOf(back) }), 'resource_not_found');

  const second = await fixture.member('owner');
  const ownerLink = await fixture.invite('owner', second.visitor);
  const viewerLink = await fixture.invite('viewer', second.visitor);
  const lower = (role: string) => owner.call('PATCH', `${api}/members/${second.id}`, { body: { role } });
  assert.equal((await lower('admin')).status, 200);
  const look = (link: string) =>
    newVisitor(fixture.service).call('POST', `${api}/invitations/look`, { body: { token: tokenOf(link) } });
  assertError(await look(ownerLink), 'resource_not_found');
  assert.equal((await look(viewerLink)).status, 200, 'an admin may still invite viewers');
  assert.equal((await lower('developer')).status, 200);
  assertError(await look(viewerLink), 'resource_not_found');
  assert.equal((await countRevoked()) - revoked, 3);
});

test('an invitation for the email of an existing account does not take it over', async () => {
  const { account, visitor } = await fixture.member('viewer');
  const made = await fixture.owner.visitor.call('POST', `${api}/workspaces`, { body: { name: 'Elsewhere' } });
  const invited = await fixture.owner.visitor.call('POST', `${api}/invitations`, {
    body: { role: 'admin', email: account.email },
    headers: { 'x-workspace-id': made.json.id },
  });
  const token = tokenOf(invited.json.link);
  const thief = { token, ...newcomer(account.email), password: 'the thief chose this one' };
  assertError(await accept(newVisitor(fixture.service), thief), 'conflict', /Sign in/);
  await signIn(newVisitor(fixture.service), account);
  const other = await fixture.member('viewer');
  assertError(await accept(other.visitor, { token }), 'forbidden', /is for/);
  assert.equal((await accept(visitor, { token })).status, 200, 'the refused tries did not use it up');
});

test('an email that could not sign in creates no account', async () => {
  const token = tokenOf(await fixture.invite('viewer'));
  for (const email of ['a@b', 'two words@example.com', 'İda@example.com', 'a..b@example.com', 'a@b@c.de']) {
    assertError(
      await accept(newVisitor(fixture.service), { token, ...newcomer(email) }),
      'invalid_request',
      /email/,
    );
  }
});

test('refuses a common password, for a new account and for an existing one', async () => {
  const token = tokenOf(await fixture.invite('viewer'));
  for (const password of ['password12345', 'qwertyuiop123', 'aaaaaaaaaaaaaa', 'newcomer@example.com']) {
    const answer = await accept(newVisitor(fixture.service), {
      token,
      ...newcomer('newcomer@example.com'),
      password,
    });
    assertError(answer, 'invalid_request', /password/);
  }
  const { visitor, account } = await fixture.member('viewer');
  const changed = await visitor.call('POST', '/auth/change-password', {
    body: { currentPassword: account.password, newPassword: 'Passw0rd!Passw0rd!' },
  });
  assertError(changed, 'invalid_request', /password/);
});

test('refuses a leaked password with a code of its own, for a new account and for an existing one', async () => {
  const password = 'ManchesterUnited1';
  const token = tokenOf(await fixture.invite('viewer'));
  const answer = await accept(newVisitor(fixture.service), {
    token,
    ...newcomer('leaked@example.com'),
    password,
  });
  assertError(answer, 'password_leaked');
  const { visitor, account } = await fixture.member('viewer');
  const changed = await visitor.call('POST', '/auth/change-password', {
    body: { currentPassword: account.password, newPassword: password },
  });
  assertError(changed, 'password_leaked');
});

test('a start that prints a link while the first owner uses an earlier one creates no second owner', async () => {
  const fresh = await startService({ runLoops: false });
  try {
    const first = tokenOf((await fresh.app.makeOwnerLink()) ?? '');
    let printed: Promise<string | null> | null = null;
    await withClient({ connectionString: fresh.databaseUrl }, async (client) => {
      // The first owner's rows, not committed yet.
      await client.query('begin');
      await client.query('update invitations set accepted_at = now()');
      await client.query(
        `insert into users (id, name, email) values ('usr_first', 'First', 'first@example.com')`,
      );
      await client.query(`insert into members (workspace_id, user_id, role)
                          select id, 'usr_first', 'owner' from workspaces where slug = 'default'`);
      printed = fresh.app.makeOwnerLink();
      await waitUntil(async () => {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      await client.query('commit');
    });
    assert.equal(await printed, null);
    assertError(
      await accept(newVisitor(fresh), { token: first, ...newcomer('late@example.com') }),
      'resource_not_found',
    );
    assert.equal(await fresh.app.makeOwnerLink(), null);
  } finally {
    await fresh.close();
  }
});

test('limits somebody who is a member of nothing by address', async () => {
  const limited = await startService({
    databaseUrl: fixture.service.databaseUrl,
    runLoops: false,
    env: {
      HOLDFAST_RATE_LIMIT: '5/hour',
      HOLDFAST_MASTER_KEY_FILE: `${fixture.service.config.dataDir}/master.key`,
    },
  });
  try {
    const { visitor } = await fixture.member('viewer');
    const ask = () =>
      limited.call('GET', `${api}/vaults`, {
        key: null,
        headers: { cookie: visitor.cookies(), 'x-workspace-id': 'ws_other' },
      });
    const codes = [];
    for (let turn = 0; turn < 6; turn += 1) codes.push((await ask()).json.errorCode);
    assert.deepEqual(new Set(codes.slice(0, 5)), new Set(['forbidden']));
    assert.equal(codes[5], 'rate_limit_exceeded');
  } finally {
    await limited.close();
  }
});

test("does not repeat one person's answer with a secret to another", async () => {
  const first = await fixture.member('developer');
  const second = await fixture.member('developer');
  const make = (visitor: Visitor) =>
    visitor.call('POST', `${api}/api-keys`, {
      body: { name: 'same' },
      headers: { 'idempotency-key': 'same-key' },
    });
  const made = await make(first.visitor);
  assert.equal(made.status, 201);
  assertError(await make(second.visitor), 'idempotency_key_reused');
  assert.equal((await make(first.visitor)).json.key, made.json.key);
});
