/** Sessions and sign-in under attack: stolen or forged sessions, forms of other sites, and what the sign-in library offers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { forgetOver } from '../../src/access/people/sessions.ts';
import { openDatabase } from '../../src/db/database.ts';
import { newVisitor, signIn } from '../support/clients/browser-session.ts';
import { readEvents } from '../support/clients/event-reader.ts';
import { api, openPeopleFixture, type PeopleFixture, tokenOf } from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';

let fixture: PeopleFixture;
before(async () => {
  fixture = await openPeopleFixture();
});
after(() => fixture.close());

test('signing in ends the previous session, and starts a different one', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const old = visitor.cookies();
  await signIn(visitor, account);
  assert.notEqual(visitor.cookies(), old);
  const answer = await fixture.service.call('GET', `${api}/me`, { key: null, headers: { cookie: old } });
  assertError(answer, 'unauthorized');
});

test('refuses a session token that was chosen or altered', async () => {
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

test('a session ends after seven days, or after three days without use', async () => {
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

test('an open event stream ends with the session, and with the membership, and no other does', async () => {
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
  const staying = await fixture.member('viewer');
  const streams = await Promise.all(
    [signedOut, removed, moved, staying].map(({ visitor }) =>
      readEvents(fixture.service, '', { key: null, headers: { cookie: visitor.cookies() } }),
    ),
  );
  assert.deepEqual(
    streams.map(({ response }) => response.statusCode),
    [200, 200, 200, 200],
  );
  const { json: vault } = await fixture.owner.visitor.call('POST', `${api}/vaults`, {
    body: { name: 'Watched' },
  });
  const received = () => streams.map(({ messages }) => messages.map(({ event }) => event).join());
  const change = async (to: 'deactivate' | 'reactivate') => {
    const changed = await fixture.owner.visitor.call('PATCH', `${api}/vaults/${vault.address}/${to}`);
    assert.equal(changed.status, 200, changed.text);
  };
  await change('deactivate');
  await waitUntil(() => received().every((events) => events === 'vault.deactivated'));

  assert.equal((await signedOut.visitor.call('POST', '/auth/sign-out', { body: {} })).status, 200);
  for (const { id } of [removed, moved]) {
    assert.equal((await fixture.owner.visitor.call('DELETE', `${api}/members/${id}`)).status, 204);
  }
  assert.deepEqual(await Promise.all(streams.slice(0, 3).map(({ ended }) => ended)), [
    'complete',
    'complete',
    'complete',
  ]);
  // Nobody else's: it gets what comes now, and they do not.
  await change('reactivate');
  const before = 'vault.deactivated';
  await waitUntil(() => received()[3] === `${before},vault.reactivated`);
  assert.deepEqual(received().slice(0, 3), [before, before, before]);
  streams[3]?.close();
});

test('every route that changes something requires proof of origin beside a cookie', async () => {
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
  const open = [
    '/api-v1/platform/invitations/look',
    '/api-v1/damc/passkeys/options',
    '/api-v1/damc/passkeys/register',
    '/api-v1/damc/passkeys/open',
    '/api-v1/damc/passkeys/sign',
    '/api-v1/damc/sign-requests/open',
    '/api-v1/damc/sign-requests/file',
    '/api-v1/damc/sign-requests/sign',
    '/api-v1/platform/webhooks/portal/open',
    '/api-v1/platform/webhooks/portal/deliveries',
    '/api-v1/platform/webhooks/portal/delivery',
    '/api-v1/platform/webhooks/portal/retry',
    '/api-v1/platform/webhooks/portal/test',
    '/api-v1/platform/webhooks/portal/change-url',
    '/api-v1/platform/webhooks/portal/secret',
    '/api-v1/platform/webhooks/portal/rotate-secret',
    '/verify/rpc',
  ];
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

test('other routes of the sign-in library do not exist', async () => {
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

test('refuses unneeded fields that the sign-in library would accept', async () => {
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

test('the audit log has sign-ins, sign-outs and changes to them', async () => {
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

test('deletes expired sessions, unfinished sign-ins and failures, and nothing else', async () => {
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
