/** People who try for more than they are given: roles, invitations, workspaces, sessions, and forms of other sites. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { forgetOver } from '../../src/access/people/sessions.ts';
import { openDatabase } from '../../src/db/database.ts';
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

test('an admin becomes owner by no route', async () => {
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

test('a role that was taken away is gone with the next request', async () => {
  const { visitor, id } = await fixture.member('developer');
  const change = (role: string) =>
    fixture.owner.visitor.call('PATCH', `${api}/members/${id}`, { body: { role } });
  assert.equal((await change('viewer')).status, 200);
  assertError(await visitor.call('POST', `${api}/vaults`, { body: { name: 'x' } }), 'forbidden', /viewer/);
  assertError(await visitor.call('POST', `${api}/api-keys`, { body: { name: 'x' } }), 'forbidden');
  assert.equal((await change('developer')).status, 200);
  assert.equal((await visitor.call('POST', `${api}/vaults`, { body: { name: 'x' } })).status, 201);
});

test('of two who use one link at once, one gets in', async () => {
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

test('who is removed or lowered leaves no link behind to come back by', async () => {
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

test('an account that exists is not taken over by an invitation for its email', async () => {
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

test('an email that could not sign in makes no account', async () => {
  const token = tokenOf(await fixture.invite('viewer'));
  for (const email of ['a@b', 'two words@example.com', 'İda@example.com', 'a..b@example.com', 'a@b@c.de']) {
    assertError(
      await accept(newVisitor(fixture.service), { token, ...newcomer(email) }),
      'invalid_request',
      /email/,
    );
  }
});

test('a password that everybody tries first is refused, for a new account and for an old one', async () => {
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

test('a start that prints a link while the first owner comes in by an earlier one makes no second owner', async () => {
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

test('the session of before ends when somebody signs in, and the new one is another', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const old = visitor.cookies();
  await signIn(visitor, account);
  assert.notEqual(visitor.cookies(), old);
  const answer = await fixture.service.call('GET', `${api}/me`, { key: null, headers: { cookie: old } });
  assertError(answer, 'unauthorized');
});

test('a session that somebody else chose, or altered, is nobody', async () => {
  const name = '__Host-holdfast.session_token';
  const [, value = ''] = /session_token=([^;]+)/.exec(fixture.owner.visitor.cookies()) ?? [];
  const token = decodeURIComponent(value).split('.')[0];
  for (const forged of [token, `${token}.AAAA`, 'chosen', `${value.slice(0, -6)}AAAAA%3D`, '']) {
    const cookie = `${name}=${forged}`;
    assertError(
      await fixture.service.call('GET', `${api}/me`, { key: null, headers: { cookie } }),
      'unauthorized',
    );
  }
});

test('a changed password ends every other session, whatever the request says', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const other = newVisitor(fixture.service);
  await signIn(other, account);
  const before = visitor.cookies();
  const changed = await visitor.call('POST', '/auth/change-password', {
    body: {
      currentPassword: account.password,
      newPassword: 'a new tide comes in',
      revokeOtherSessions: false,
    },
  });
  assert.equal(changed.status, 200, changed.text);
  assertError(await other.call('GET', `${api}/me`), 'unauthorized');
  const old = await fixture.service.call('GET', `${api}/me`, { key: null, headers: { cookie: before } });
  assertError(old, 'unauthorized');
  assert.equal((await visitor.call('GET', `${api}/me`)).status, 200);
});

test('a session ends seven days after it began, and after three without use', async () => {
  const { visitor, account, id } = await fixture.member('viewer');
  const move = (column: string, days: number) =>
    fixture.query(`update sessions set ${column} = now() - make_interval(days => $2) where user_id = $1`, [
      id,
      days,
    ]);
  await move('updated_at', 2);
  assert.equal((await visitor.call('GET', `${api}/me`)).status, 200);
  const [{ seen }] = await fixture.query(
    `select updated_at > now() - interval '1 day' as seen from sessions where user_id = $1`,
    [id],
  );
  assert.ok(seen, 'its last use is written down');
  await move('updated_at', 4);
  assertError(await visitor.call('GET', `${api}/me`), 'unauthorized');
  const begun = Date.now();
  await signIn(visitor, account);
  const end = async () =>
    (await fixture.query('select expires_at from sessions where user_id = $1', [id]))[0].expires_at.getTime();
  const week = 7 * 24 * 60 * 60 * 1000;
  const first = await end();
  assert.ok(first >= begun + week && first <= Date.now() + week, new Date(first).toISOString());
  await fixture.query(
    `update sessions set created_at = now() - interval '6 days', expires_at = now() + interval '1 day' where user_id = $1`,
    [id],
  );
  const late = await end();
  await move('updated_at', 2);
  assert.equal((await visitor.call('GET', `${api}/me`)).status, 200);
  assert.equal(await end(), late, 'use does not make it longer');
  await fixture.query('update sessions set expires_at = now() where user_id = $1', [id]);
  assertError(await visitor.call('GET', `${api}/me`), 'unauthorized');
});

test('an open event stream ends with the session, and with the membership', async () => {
  const streamOf = async (visitor: Visitor) => {
    const response = await fetch(`${fixture.service.url}${api}/events/stream`, {
      headers: { cookie: visitor.cookies() },
    });
    assert.equal(response.status, 200);
    let ended = false;
    const reading = (async () => {
      try {
        for await (const _chunk of response.body ?? []) void _chunk;
      } finally {
        ended = true;
      }
    })().catch(() => {});
    return { isOver: () => ended, reading };
  };
  const signedOut = await fixture.member('viewer');
  const removed = await fixture.member('viewer');
  // Removed from the workspace that is followed, but with another one to fall back on.
  const moved = await fixture.member('viewer');
  const { json: other } = await fixture.owner.visitor.call('POST', `${api}/workspaces`, {
    body: { name: 'Other' },
  });
  const { json: invitation } = await fixture.owner.visitor.call('POST', `${api}/invitations`, {
    body: { role: 'viewer' },
    headers: { 'x-workspace-id': other.id },
  });
  const accepted = await moved.visitor.call('POST', `${api}/invitations/accept`, {
    body: { token: tokenOf(invitation.link) },
  });
  assert.equal(accepted.status, 200, accepted.text);
  const streams = await Promise.all([signedOut, removed, moved].map(({ visitor }) => streamOf(visitor)));
  assert.equal((await signedOut.visitor.call('POST', '/auth/sign-out', { body: {} })).status, 200);
  for (const { id } of [removed, moved]) {
    assert.equal((await fixture.owner.visitor.call('DELETE', `${api}/members/${id}`)).status, 204);
  }
  await waitUntil(() => streams.every(({ isOver }) => isOver()));
});

test('every route that changes something wants a proof of origin beside a cookie', async () => {
  const { visitor } = fixture.owner;
  const cookie = visitor.cookies();
  const { json: document } = await fixture.service.call('GET', '/openapi.json', { key: null });
  const operations = Object.entries(document.paths as Record<string, Record<string, unknown>>).flatMap(
    ([path, methods]) =>
      Object.keys(methods)
        .filter((method) => !['get', 'head', 'parameters'].includes(method))
        .map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const),
  );
  const auth = [
    'sign-in/email',
    'sign-out',
    'change-password',
    'update-user',
    'two-factor/enable',
    'two-factor/disable',
    'two-factor/verify-totp',
    'two-factor/verify-backup-code',
    'two-factor/generate-backup-codes',
  ].map((path) => ['POST', `/auth/${path}`] as const);
  // Asked with the token alone, and by the verification page without a session.
  const open = ['/api-v1/platform/invitations/look', '/verify/rpc'];
  let refused = 0;
  for (const [method, path] of [...operations, ...auth]) {
    if (open.includes(path)) continue;
    for (const headers of [{ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, {}] as Record<
      string,
      string
    >[]) {
      const answer = await fixture.service.call(method, path, {
        key: null,
        body: {},
        headers: { cookie, ...headers },
      });
      assertError(answer, 'forbidden', /page of this service/);
      refused += 1;
    }
  }
  assert.ok(refused > 60, `${refused} refused`);
  const form = new FormData();
  form.set('file', new Blob(['x']), 'x.txt');
  const upload = await fetch(`${fixture.service.url}${api}/files`, {
    method: 'POST',
    body: form,
    headers: { cookie, origin: 'https://evil.example' },
  });
  assert.equal(upload.status, 403);
});

test('what else the sign-in library offers is not there', async () => {
  for (const path of [
    'sign-up/email',
    'get-session',
    'list-sessions',
    'list-accounts',
    'delete-user',
    'change-email',
    'request-password-reset',
    'reset-password',
    'set-password',
    'two-factor/get-totp-uri',
    'two-factor/view-backup-codes',
    'sign-in/social',
    'ok',
    'error',
    'two-factor/%2e%2e/get-session',
  ]) {
    for (const method of ['GET', 'POST']) {
      const answer = await fixture.owner.visitor.call(method, `/auth/${path}`, {
        ...(method === 'POST' && { body: {} }),
      });
      assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
    }
  }
  assert.equal((await fixture.owner.visitor.call('GET', '/auth/sign-out')).status, 405);
});

test('fields that the sign-in library would take, but nobody needs, are refused', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const { email, password } = account;
  for (const [path, body] of [
    ['sign-in/email', { email, password, callbackURL: 'https://evil.example' }],
    ['sign-in/email', { email, password, rememberMe: false }],
    ['update-user', { name: 'x', image: 'https://evil.example/x.png' }],
    ['update-user', { name: 'x', twoFactorEnabled: true }],
    ['update-user', { name: 'x', emailVerified: true }],
    ['update-user', { name: 'x'.repeat(201) }],
    ['two-factor/enable', { password, issuer: 'Other' }],
    ['two-factor/verify-totp', { code: '123456', trustDevice: true }],
    ['two-factor/verify-backup-code', { code: 'abcde-fghij', disableSession: true }],
  ] as const) {
    assertError(await visitor.call('POST', `/auth/${path}`, { body }), 'invalid_request');
  }
});

test('who is a member of nothing here is limited by address', async () => {
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

test("one person's answer with a secret is not repeated to another", async () => {
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

test('signing in and out, and what is changed about it, is in the audit log', async () => {
  const { visitor, account, id } = await fixture.member('viewer');
  await visitor.call('POST', '/auth/update-user', { body: { name: 'Renamed' } });
  await visitor.call('POST', '/auth/change-password', {
    body: { currentPassword: account.password, newPassword: 'a new tide comes in' },
  });
  await visitor.call('POST', '/auth/sign-out', { body: {} });
  const { json: log } = await fixture.owner.visitor.call('GET', `${api}/audit-log?actorId=${id}`);
  assert.deepEqual(
    log.map(({ action }: { action: string }) => action),
    ['session.end', 'user.change_password', 'user.update', 'session.create', 'member.join'],
  );
  assert.ok(!JSON.stringify(log).includes('tide'), 'no password in it');
});

test('sessions, unfinished sign-ins and failures that are over are forgotten, and nothing else', async () => {
  const { id } = await fixture.member('viewer');
  const hour = `interval '1 hour'`;
  await fixture.query(
    `insert into sessions (id, user_id, token, expires_at, updated_at) values
       ('ses_over', $1, 'over', now() - ${hour}, now()),
       ('ses_unused', $1, 'unused', now() + ${hour}, now() - interval '4 days'),
       ('ses_good', $1, 'good', now() + ${hour}, now())`,
    [id],
  );
  await fixture.query(
    `insert into verifications (id, identifier, value, expires_at) values
       ('ver_over', 'over', 'x', now() - ${hour}), ('ver_good', 'good', 'x', now() + ${hour})`,
  );
  await fixture.query(
    `insert into sign_in_failures (who, failures, last_at, until) values
       ('account over', 9, now() - interval '2 hours', now()), ('account good', 9, now(), now())`,
  );
  const database = openDatabase({
    connection: () => ({ connectionString: fixture.service.databaseUrl }),
    onError() {},
  });
  try {
    await forgetOver(database.db);
  } finally {
    await database.close();
  }
  const left = await fixture.query(
    `select id from sessions where token in ('over', 'unused', 'good')
     union all select id from verifications where id in ('ver_over', 'ver_good')
     union all select who from sign_in_failures where who in ('account over', 'account good') order by 1`,
  );
  assert.deepEqual(
    left.map(({ id }) => id),
    ['account good', 'ses_good', 'ver_good'],
  );
  assert.ok(fixture.service.app.loops.health().some(({ name }) => name === 'people-upkeep'));
});
