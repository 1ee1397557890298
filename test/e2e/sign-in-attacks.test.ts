/** Guessing: at passwords and codes, one after the other and all at once, from many addresses and by many spellings. */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, test } from 'node:test';
import { newVisitor, signIn, type Visitor } from '../support/clients/browser-session.ts';
import { codeOf, nextCodeOf, wrongCodeOf } from '../support/clients/totp.ts';
import {
  api,
  openPeopleFixture,
  type PeopleFixture,
  type Person,
} from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';

let fixture: PeopleFixture;
before(async () => {
  fixture = await openPeopleFixture();
});
after(() => fixture.close());

const wrong = 'wrong wrong wrong';
let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `198.51.100.${addresses}`;
};

const tryFrom = (address: string, email: string, password = wrong) =>
  newVisitor(fixture.service).call('POST', '/auth/sign-in/email', {
    body: { email, password },
    headers: { 'x-forwarded-for': address },
  });
const codesOf = (answers: { json: { errorCode?: string } }[]) =>
  answers.map(({ json }) => json.errorCode ?? 'let in');
const count = (codes: string[], code: string) => codes.filter((one) => one === code).length;

async function withTwoFactor(): Promise<
  Person & { secret: string; backupCodes: string[]; usedCode: string }
> {
  return turnOn(await fixture.member('viewer'));
}

async function turnOn(person: Person) {
  const { password } = person.account;
  const enabled = await person.visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  const secret = new URL(enabled.json.totpURI).searchParams.get('secret') ?? '';
  const code = codeOf(secret, Date.now());
  assert.equal(
    (await person.visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } })).status,
    200,
  );
  return { ...person, secret, backupCodes: enabled.json.backupCodes as string[], usedCode: code };
}

async function halfWay({ account }: Person): Promise<Visitor> {
  const visitor = newVisitor(fixture.service);
  const { email, password } = account;
  const half = await visitor.call('POST', '/auth/sign-in/email', {
    body: { email, password },
    headers: { 'x-forwarded-for': newAddress() },
  });
  assert.equal(half.json.twoFactorRedirect, true, half.text);
  return visitor;
}

test('concurrent guesses get no further than consecutive ones', async () => {
  const { account } = await fixture.member('viewer');
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: 20 }, () => tryFrom(newAddress(), account.email)));
  const seconds = (performance.now() - begun) / 1000;
  const codes = codesOf(answers);
  assert.equal(count(codes, 'unauthorized') + count(codes, 'rate_limit_exceeded'), 20);
  // Five are free, then each waits twice as long as the one before, from 15 s on.
  const most = 5 + Math.floor(Math.log2(seconds / 15 + 1));
  assert.ok(count(codes, 'unauthorized') <= most, `${count(codes, 'unauthorized')} of ${most} were heard`);
});

test('counts attempts by account, however its email is written and wherever they come from', async () => {
  const { account } = await fixture.member('viewer');
  const { email } = account;
  for (const written of [email, email.toUpperCase(), email, email.replace('p', 'P'), email]) {
    assertError(await tryFrom(newAddress(), written), 'unauthorized');
  }
  await fixture.prolongWait(`account ${email}`);
  assertError(await tryFrom(newAddress(), email.toUpperCase()), 'rate_limit_exceeded');
  for (const written of [` ${email}`, `${email} `, `${email}\u200b`]) {
    const { json } = await tryFrom(newAddress(), written);
    assert.ok(['invalid_request', 'rate_limit_exceeded'].includes(json.errorCode), json.errorCode);
  }
});

test('an address that tries many accounts must wait, and an IPv6 network counts as one', async () => {
  let accounts = 0;
  const spray = async (who: string, addressOf: (turn: number) => string) => {
    const tried = async (turn: number) => {
      accounts += 1;
      return (await tryFrom(addressOf(turn), `nobody${accounts}@example.com`)).json.errorCode;
    };
    for (const turn of [1, 2]) assert.equal(await tried(turn), 'unauthorized');
    // As if the next sixteen had been tried too.
    const rows = await fixture.query(
      'update sign_in_failures set failures = 18 where who = $1 and failures = 2 returning 1',
      [who],
    );
    assert.equal(rows.length, 1, 'each is counted');
    for (const turn of [19, 20]) assert.equal(await tried(turn), 'unauthorized');
    await fixture.prolongWait(who);
    assert.equal(await tried(21), 'rate_limit_exceeded');
  };
  const one = newAddress();
  await spray(`address ${one}`, () => one);
  await spray('address 2001:db8:1:2::/64', (turn) => `2001:db8:1:2:${turn}::${turn}`);
  assert.equal((await tryFrom('2001:db8:1:3::1', 'nobody@example.com')).json.errorCode, 'unauthorized');
});

test('correct sign-ins from one address never wait for each other', async () => {
  const people = await Promise.all([fixture.member('viewer'), fixture.member('viewer')]);
  const address = newAddress();
  for (let turn = 0; turn < 12; turn += 1) {
    for (const { account } of people) {
      assert.equal((await tryFrom(address, account.email, account.password)).status, 200);
    }
  }
});

test('neither words nor timing reveal whether an account exists', async (t) => {
  // What a try takes is the time of its hash, and that depends on nothing but these: ten times that of all the rest.
  const { mock } = t.mock.method(crypto, 'argon2');
  syncBuiltinESMExports();
  const tried = async (email: string) => {
    mock.resetCalls();
    const { json } = await tryFrom(newAddress(), email);
    const hashes = mock.calls.map(({ arguments: [algorithm, parameters] }) => {
      const { memory, passes, parallelism, tagLength } = parameters;
      return { algorithm, memory, passes, parallelism, tagLength };
    });
    return { said: `${json.errorCode} ${json.message}`, hashes };
  };
  try {
    const there = await tried(fixture.owner.account.email);
    assert.equal(there.hashes.length, 1);
    assert.deepEqual(await tried('absent@example.com'), there);
  } finally {
    mock.restore();
    syncBuiltinESMExports();
  }
});

test('a stolen session cannot guess its password', async () => {
  const { visitor, account } = await fixture.member('viewer');
  const guesses: [string, object][] = [
    ['change-password', { currentPassword: wrong, newPassword: 'a new tide comes in' }],
    ['two-factor/enable', { password: wrong }],
    ['two-factor/disable', { password: wrong }],
    ['two-factor/generate-backup-codes', { password: wrong }],
    ['change-password', { currentPassword: wrong, newPassword: 'a new tide comes in' }],
    ['change-password', { currentPassword: wrong, newPassword: 'a new tide comes in' }],
    ['two-factor/enable', { password: wrong }],
    ['two-factor/disable', { password: wrong }],
  ];
  const answers = [];
  for (const [path, body] of guesses) {
    answers.push(
      await visitor.call('POST', `/auth/${path}`, { body, headers: { 'x-forwarded-for': newAddress() } }),
    );
  }
  assert.ok(codesOf(answers).includes('rate_limit_exceeded'), codesOf(answers).join());
  // The person can still sign in elsewhere: the thief does not lock them out.
  await signIn(newVisitor(fixture.service), account);
});

test('allows at most ten guesses of a code, across all challenges', async () => {
  const person = await withTwoFactor();
  const code = wrongCodeOf(person.secret);
  const codes = [];
  for (let challenge = 0; challenge < 4; challenge += 1) {
    const visitor = await halfWay(person);
    for (let turn = 0; turn < 4; turn += 1) {
      const answer = await visitor.call('POST', '/auth/two-factor/verify-totp', {
        body: { code },
        headers: { 'x-forwarded-for': newAddress() },
      });
      codes.push(answer.json.errorCode);
    }
  }
  assert.ok(count(codes, 'unauthorized') <= 10, codes.join());
  assert.ok(codes.includes('rate_limit_exceeded'));
  const visitor = await halfWay(person);
  const right = await visitor.call('POST', '/auth/two-factor/verify-totp', {
    body: { code: nextCodeOf(person.secret) },
  });
  assertError(right, 'rate_limit_exceeded');
});

test('a code signs in once, even if two use it concurrently', async () => {
  const person = await withTwoFactor();
  const visitors = [await halfWay(person), await halfWay(person), await halfWay(person)];
  const code = nextCodeOf(person.secret);
  const use = (visitor: Visitor) => visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  const answers = await Promise.all(visitors.slice(0, 2).map(use));
  // The other one is refused, or told to wait: that it was tried at the same time counts too.
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(refused.length, 1, JSON.stringify(answers.map(({ status }) => status)));
  assert.ok([401, 429].includes(refused[0]?.status ?? 0));
  const [third] = visitors.slice(2) as [Visitor];
  assert.ok([401, 429].includes((await use(third)).status));
  assertError(await third.call('GET', `${api}/me`), 'unauthorized');
  const [{ n }] = await fixture.query('select count(*)::int as n from sessions where user_id = $1', [
    person.id,
  ]);
  assert.equal(n, 2, 'that of the set-up, and that of the one code');
});

test('the code that turned two-factor on does not sign in', async () => {
  const person = await withTwoFactor();
  const use = async (code: string) =>
    (await halfWay(person)).call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  assertError(await use(person.usedCode), 'unauthorized', /already been used/);
  assert.equal((await use(nextCodeOf(person.secret))).status, 200);
});

test('a backup code signs in once', async () => {
  const person = await withTwoFactor();
  const [code = ''] = person.backupCodes;
  const use = async () =>
    (await halfWay(person)).call('POST', '/auth/two-factor/verify-backup-code', { body: { code } });
  assert.equal((await use()).status, 200);
  assertError(await use(), 'unauthorized');
});

test('changing the password voids a sign-in that waits for its code', async () => {
  const person = await withTwoFactor();
  const waiting = await halfWay(person);
  const changed = await person.visitor.call('POST', '/auth/change-password', {
    body: { currentPassword: person.account.password, newPassword: 'a new tide comes in' },
  });
  assert.equal(changed.status, 200, changed.text);
  const answer = await waiting.call('POST', '/auth/two-factor/verify-totp', {
    body: { code: nextCodeOf(person.secret) },
  });
  assertError(answer, 'unauthorized');
});

test('a sign-in that is under way while the password changes gives no session', async () => {
  const { account, id } = await fixture.member('viewer');
  const { email, password } = account;
  const late = newVisitor(fixture.service);
  const answer = await withClient({ connectionString: fixture.service.databaseUrl }, async (client) => {
    // The old password has been found right, and the session is about to be written.
    await client.query('begin; lock table sessions in exclusive mode');
    const trying = late.call('POST', '/auth/sign-in/email', { body: { email, password } });
    await waitUntil(async () => {
      const waiting = await fixture.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await client.query(`update accounts set password = 'another' where user_id = '${id}'`);
    await client.query(`delete from sessions where user_id = '${id}'`);
    await client.query('commit');
    return trying;
  });
  assertError(answer, 'unauthorized');
  assertError(await late.call('GET', `${api}/me`), 'unauthorized');
  assert.deepEqual(await fixture.query('select 1 from sessions where user_id = $1', [id]), []);
});

test('the audit log has two-factor codes turned on, used, turned off and on again', async () => {
  const person = await withTwoFactor();
  const visitor = await halfWay(person);
  const code = nextCodeOf(person.secret);
  await visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  const { password } = person.account;
  await visitor.call('POST', '/auth/two-factor/generate-backup-codes', { body: { password } });
  await visitor.call('POST', '/auth/two-factor/disable', { body: { password } });
  await turnOn({ ...person, visitor });
  const { json: log } = await fixture.owner.visitor.call('GET', `${api}/audit-log?actorId=${person.id}`);
  assert.deepEqual(
    log.map(({ action, details }: { action: string; details: object }) => [action, details]).slice(0, 8),
    [
      ['session.confirm', { by: 'code' }],
      ['user.two_factor', { enabled: true }],
      ['user.two_factor', { enabled: false }],
      ['user.backup_codes', {}],
      ['session.create', { by: 'code' }],
      ['session.confirm', { by: 'code' }],
      ['user.two_factor', { enabled: true }],
      ['session.create', { by: 'password' }],
    ],
  );
});

test('logs failed attempts with their address, but without email or password', async () => {
  const address = newAddress();
  await tryFrom(address, 'canary@example.com', 'canary canary canary');
  const line = fixture.service
    .logged()
    .split('\n')
    .find((text) => text.includes('sign-in refused') && text.includes(address));
  assert.ok(line);
  assert.ok(!fixture.service.logged().includes('canary'));
});
