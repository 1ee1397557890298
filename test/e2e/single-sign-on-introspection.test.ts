/** Single sign-on with a provider that gives no refresh tokens: sessions go on as long as introspection says so. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Visitor } from '../support/clients/browser-session.ts';
import { api, tokenOf } from '../support/fixtures/people-fixture.ts';
import {
  openSingleSignOnFixture,
  type SingleSignOnFixture,
} from '../support/fixtures/single-sign-on-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';

let fixture: SingleSignOnFixture;
before(async () => {
  fixture = await openSingleSignOnFixture({ refresh: false });
});
after(() => fixture?.close());

async function signedIn(groups = ['engineers']): Promise<{ visitor: Visitor; subject: string }> {
  const subject = fixture.newPerson(groups);
  const { visitor, to } = await fixture.signInThere();
  assert.equal(to, '/');
  return { visitor, subject };
}

const me = (visitor: Visitor) => visitor.call('GET', `${api}/me`);

const timesAsked = (path: string) => fixture.provider.asked.filter((one) => one === path).length;

test('refuses within a minute whose token the provider no longer knows, and nobody else', async () => {
  const [stays, leaves] = [await signedIn(), await signedIn()];
  const both = [stays, leaves];
  for (const { subject } of both) await fixture.grow(subject, 51);
  for (const { visitor } of both) assert.equal((await me(visitor)).json.role, 'developer');
  assert.equal(timesAsked('/token/introspection'), 2);
  assert.equal(timesAsked('/token'), 2, 'there is nothing to refresh');
  await fixture.provider.revoke(leaves.subject);
  for (const { subject } of both) await fixture.grow(subject, 51);
  const [userInfo, before] = [timesAsked('/me'), timesAsked('/token/introspection')];
  assertError(await me(leaves.visitor), 'unauthorized');
  assert.equal(timesAsked('/token/introspection'), before + 1);
  assert.equal(timesAsked('/me'), userInfo, 'introspection alone has refused it');
  assert.equal((await me(stays.visitor)).status, 200);
  assert.deepEqual(await fixture.query('select subject from provider_sessions'), [
    { subject: stays.subject },
  ]);
});

test('refuses whom the provider removed, although their token is still active', async () => {
  const { visitor, subject } = await signedIn();
  fixture.provider.people.delete(subject);
  await fixture.grow(subject, 51);
  assertError(await me(visitor), 'unauthorized');
});

test('a token that ended when it had to ends the session, and says nothing about the person', async () => {
  fixture.provider.expiresIn = 0;
  const { visitor, subject } = await signedIn(['leads']);
  const link = await fixture.invite('viewer', visitor);
  await fixture.provider.revoke(subject);
  await fixture.grow(subject, 51);
  assertError(await me(visitor), 'unauthorized');
  const [{ gone_at }] = await fixture.query('select gone_at from identities where subject = $1', [subject]);
  assert.equal(gone_at, null);
  const body = { token: tokenOf(link) };
  assert.equal((await visitor.call('POST', `${api}/invitations/look`, { body })).status, 200);
});
