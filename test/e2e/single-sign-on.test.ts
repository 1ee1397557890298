/** Single sign-on with a real OpenID Connect provider over HTTPS: who comes in, as what, and for how long. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { openProvider } from '../../src/access/provider/open-provider.ts';
import { newVisitor, signIn, type Visitor } from '../support/clients/browser-session.ts';
import type { IdentityProvider } from '../support/clients/identity-provider.ts';
import { api } from '../support/fixtures/people-fixture.ts';
import {
  openSingleSignOnFixture,
  type SingleSignOnFixture,
} from '../support/fixtures/single-sign-on-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import type { Service } from '../support/service/service.ts';

let fixture: SingleSignOnFixture;
let provider: IdentityProvider;
let service: Service;
before(async () => {
  fixture = await openSingleSignOnFixture();
  ({ provider, service } = fixture);
});
after(() => fixture?.close());
beforeEach(() => {
  provider.tamper = null;
  provider.away = false;
});

const newPerson: SingleSignOnFixture['newPerson'] = (groups, more) => fixture.newPerson(groups, more);
const goThere: SingleSignOnFixture['goThere'] = (visitor, query) => fixture.goThere(visitor, query);
const comeBack: SingleSignOnFixture['comeBack'] = (visitor, url) => fixture.comeBack(visitor, url);
const signInThere: SingleSignOnFixture['signInThere'] = (visitor, query) =>
  fixture.signInThere(visitor, query);
const grow: SingleSignOnFixture['grow'] = (subject, seconds) => fixture.grow(subject, seconds);

const me = (visitor: Visitor) => visitor.call('GET', `${api}/me`);

test('makes an account at the first sign-in, in the highest role of its groups, and only one', async () => {
  const id = newPerson(['engineers', 'leads', 'chess club']);
  const { visitor, to } = await signInThere(undefined, '?to=/vaults');
  assert.equal(to, '/vaults');
  const first = await me(visitor);
  assert.equal(first.status, 200, first.text);
  assert.deepEqual(
    [first.json.name, first.json.email, first.json.role],
    [`Name of ${id}`, `${id}@corp.example`, 'admin'],
  );
  provider.people.set(id, { email: 'renamed@corp.example', groups: ['auditors'] });
  const again = await signInThere();
  assert.deepEqual(
    [(await me(again.visitor)).json.id, (await me(again.visitor)).json.role],
    [first.json.id, 'viewer'],
  );
  const { rows } = await service.sql(
    'select action, details from audit_entries where actor_id = $1 order by id',
    [first.json.id],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['user.link_provider', 'member.join', 'session.create', 'member.update', 'session.create'],
  );
});

test('sends nobody to another site', async () => {
  newPerson(['engineers']);
  for (const evil of ['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)'])
    assert.equal((await signInThere(undefined, `?to=${encodeURIComponent(evil)}`)).to, '/', evil);
});

test('refuses who is in no group, and whose email is not verified', async () => {
  newPerson(['chess club']);
  assert.equal((await signInThere()).to, '/sign-in?problem=no_group');
  newPerson(['engineers'], { emailVerified: false });
  const { visitor, to } = await signInThere();
  assert.equal(to, '/sign-in?problem=no_email');
  assertError(await me(visitor), 'unauthorized');
});

test('an account is linked by its holder, and then entered with the provider alone, except by owners', async () => {
  const bea = await fixture.member('viewer', { email: 'bea@corp.example' });
  const { email, password } = bea.account;
  newPerson(['engineers'], { email });
  assert.equal((await signInThere()).to, '/sign-in?problem=unproved_account');
  assert.equal(await fixture.linkThere(bea.visitor), '/settings');
  assert.deepEqual(
    [(await me(bea.visitor)).json.id, (await me(bea.visitor)).json.role],
    [bea.id, 'developer'],
  );
  const { visitor } = await signInThere();
  assert.equal((await me(visitor)).json.id, bea.id);
  const local = newVisitor(service);
  assertError(await local.call('POST', '/auth/sign-in/email', { body: { email, password } }), 'unauthorized');
  // Owners get in while the provider is away.
  const ada = fixture.owner;
  newPerson(['engineers'], { email: ada.account.email });
  assert.equal(await fixture.linkThere(ada.visitor), '/settings');
  assert.equal((await me(ada.visitor)).json.role, 'owner', 'the last owner stays one');
  await signIn(newVisitor(service), ada.account);
});

test('an email counts as verified only where it is said', async () => {
  const id = newPerson(['engineers'], { emailVerified: false });
  // The ID token vouches for another address than the one that user info names.
  provider.tamper = (claims) => ({ ...claims, email: 'other@corp.example', email_verified: true });
  assert.equal((await signInThere()).to, '/sign-in?problem=no_email');
  provider.people.set(id, { email: 'unsaid@corp.example', emailVerified: null, groups: ['engineers'] });
  const { visitor } = await signInThere();
  assert.equal((await me(visitor)).json.email, 'other@corp.example');
});

test('refuses within a minute whom the provider removed, and changes roles as fast', async () => {
  const id = newPerson(['leads']);
  const { visitor } = await signInThere();
  provider.people.set(id, { email: `${id}@corp.example`, groups: ['auditors'] });
  await grow(id, 51);
  assert.equal((await me(visitor)).json.role, 'viewer');
  const before = provider.asked.filter((path) => path === '/token').length;
  assert.equal((await me(visitor)).status, 200);
  assert.equal(
    provider.asked.filter((path) => path === '/token').length,
    before,
    'asked once, not each time',
  );
  provider.people.delete(id);
  await grow(id, 51);
  assertError(await me(visitor), 'unauthorized');
  const { rows } = await service.sql('select count(*)::int as n from provider_sessions where subject = $1', [
    id,
  ]);
  assert.equal(rows[0].n, 0);
});

test('many requests at once ask the provider once, as a refresh token works once', async () => {
  const id = newPerson(['engineers']);
  const { visitor } = await signInThere();
  await grow(id, 51);
  const before = provider.asked.filter((path) => path === '/token').length;
  const answers = await Promise.all(Array.from({ length: 8 }, () => me(visitor)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(provider.asked.filter((path) => path === '/token').length, before + 1);
});

test('while the provider is away sessions go on for the minutes that are set, and then end', async () => {
  const id = newPerson(['engineers']);
  const { visitor } = await signInThere();
  provider.away = true;
  await grow(id, 29 * 60);
  assert.equal((await me(visitor)).status, 200);
  provider.away = false;
  const halfWay = newVisitor(service);
  const back = await goThere(halfWay);
  provider.away = true;
  assert.equal(await comeBack(halfWay, back), '/sign-in?problem=away');
  await grow(id, 31 * 60);
  assertError(await me(visitor), 'unauthorized');
  provider.away = false;
  assertError(await me(visitor), 'unauthorized', /./);
});

test('a key that the provider rotates is known with the next sign-in', async () => {
  newPerson(['engineers']);
  assert.equal((await me((await signInThere()).visitor)).status, 200);
  provider.rotate();
  newPerson(['engineers']);
  assert.equal((await me((await signInThere()).visitor)).status, 200);
});

const seconds = () => Math.floor(Date.now() / 1000);
const tampered: [string, (claims: Record<string, unknown>) => Record<string, unknown>, boolean][] = [
  ['issued 20 s in the future', (claims) => ({ ...claims, iat: seconds() + 20 }), true],
  ['expired 20 s ago', (claims) => ({ ...claims, exp: seconds() - 20 }), true],
  ['expired two minutes ago', (claims) => ({ ...claims, exp: seconds() - 120 }), false],
  ['not valid for two minutes', (claims) => ({ ...claims, nbf: seconds() + 120 }), false],
  ['with the nonce of another sign-in', (claims) => ({ ...claims, nonce: 'another' }), false],
  ['without a nonce', ({ nonce: _, ...claims }) => claims, false],
  ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' }), false],
  ['for another client', (claims) => ({ ...claims, aud: 'another' }), false],
  ['of another person than the token', (claims) => ({ ...claims, sub: 'person-0' }), false],
];
for (const [what, tamper, accepted] of tampered) {
  test(`an ID token ${what} is ${accepted ? 'accepted' : 'refused'}`, async () => {
    newPerson(['engineers']);
    provider.tamper = tamper;
    const { visitor, to } = await signInThere();
    assert.equal(to, accepted ? '/' : '/sign-in?problem=refused');
    assert.equal((await me(visitor)).status, accepted ? 200 : 401);
  });
}

test('refuses a signature by another key', async () => {
  newPerson(['engineers']);
  const visitor = newVisitor(service);
  const back = await goThere(visitor);
  // What was issued is signed with the old key, which the provider no longer publishes.
  provider.tamper = (claims) => {
    provider.rotate();
    return claims;
  };
  const url = new URL(back);
  assert.match(await comeBack(visitor, url.href), /problem=refused/);
});

test('an answer is accepted once, from the browser that began, with its own state and issuer', async () => {
  newPerson(['engineers']);
  const visitor = newVisitor(service);
  const back = await goThere(visitor);
  const cookies = visitor.cookies();
  // Somebody else's browser, which an attacker sends there.
  assert.equal(await comeBack(newVisitor(service), back), '/sign-in?problem=expired');
  const url = new URL(back);
  assert.ok(url.searchParams.get('iss'), 'the provider names itself');
  assert.equal(await comeBack(visitor, back), '/');
  // Replayed, with the cookie that it came with.
  const again = await service.call('GET', url.pathname + url.search, {
    key: null,
    headers: { cookie: cookies },
  });
  assert.equal(again.headers.get('location'), '/sign-in?problem=expired');

  for (const change of [
    (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
    (url: URL) => url.searchParams.delete('iss'),
    (url: URL) => url.searchParams.set('code', 'another'),
  ]) {
    const other = newVisitor(service);
    const changed = new URL(await goThere(other));
    change(changed);
    assert.equal(await comeBack(other, changed.href), '/sign-in?problem=refused');
    assertError(await me(other), 'unauthorized');
  }
  const other = newVisitor(service);
  const swapped = new URL(await goThere(other));
  swapped.searchParams.set('state', 'another');
  assert.equal(await comeBack(other, swapped.href), '/sign-in?problem=expired');
});

test('a code that was used already is refused, also in a sign-in of its own', async () => {
  newPerson(['engineers']);
  const first = newVisitor(service);
  const back = new URL(await goThere(first));
  assert.equal(await comeBack(first, back.href), '/');
  const second = newVisitor(service);
  const mixed = new URL(await goThere(second));
  mixed.searchParams.set('code', back.searchParams.get('code') ?? '');
  assert.equal(await comeBack(second, mixed.href), '/sign-in?problem=refused');
});

test('a session of the provider is confirmed there, by the same person', async () => {
  const id = newPerson(['engineers']);
  const { visitor } = await signInThere();
  const makeKey = () => visitor.call('POST', `${api}/api-keys`, { body: { name: 'mine' } });
  await service.sql(
    `update sessions set confirmed_at = now() - interval '1 hour'
     where id in (select session_id from provider_sessions where subject = $1)`,
    [id],
  );
  assertError(await makeKey(), 'step_up_required');
  newPerson(['engineers']);
  assert.equal((await signInThere(visitor, '?confirm=true')).to, '/sign-in?problem=somebody_else');
  assertError(await makeKey(), 'step_up_required');
  provider.present = id;
  assert.equal((await signInThere(visitor, '?confirm=true')).to, '/sign-in?confirmed=true');
  assert.equal((await makeKey()).status, 201);
});

test('what the provider names is not asked if it is private, unlike the issuer itself', async () => {
  let reached = 0;
  const inside = createServer(() => {});
  inside.on('connection', () => {
    reached += 1;
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.2', resolve));
  provider.discovered = (metadata) => ({
    ...metadata,
    token_endpoint: `https://127.0.0.2:${(inside.address() as AddressInfo).port}/token`,
  });
  const { signIn: signInConfig } = service.config;
  assert.ok(signInConfig.provider);
  const opened = openProvider({
    db: null as never,
    config: signInConfig.provider,
    allow: [],
    secret: randomBytes(32),
    log: null as never,
  });
  try {
    newPerson(['engineers']);
    const { url, expected } = await opened.client.begin(`${service.url}/auth/provider/callback`, false);
    const back = await provider.walk(url.href);
    await assert.rejects(opened.client.finish(new URL(back), expected), (error: Error) => {
      assert.match(String((error.cause as Error)?.cause ?? error.cause ?? error), /address|public/);
      return true;
    });
    assert.equal(reached, 0);
  } finally {
    provider.discovered = null;
    await opened.close();
    inside.close();
  }
});

test('the tokens of the provider are sealed, and its secret is not logged', async () => {
  const { rows } = await service.sql('select tokens from provider_sessions');
  assert.ok(rows.length > 0);
  for (const { tokens } of rows) assert.doesNotMatch(tokens.toString('latin1'), /access|refresh/);
  assert.doesNotMatch(service.logged(), new RegExp(provider.settings.HOLDFAST_OIDC_CLIENT_SECRET ?? ''));
});
