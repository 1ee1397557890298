/** Single sign-on with a provider that gives no refresh tokens: sessions go on as long as introspection says so. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newVisitor, type Visitor } from '../support/clients/browser-session.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/clients/identity-provider.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

let provider: IdentityProvider;
let service: Service;
before(async () => {
  provider = await startIdentityProvider({ refresh: false });
  service = await startService({
    env: {
      ...provider.settings,
      HOLDFAST_OIDC_GROUPS: 'engineers=developer',
      HOLDFAST_OIDC_SESSION_MINUTES: '30',
    },
  });
  provider.serve(service.url);
});
after(async () => {
  await service?.close();
  await provider?.close();
});

async function signedIn(id: string): Promise<Visitor> {
  provider.people.set(id, { email: `${id}@corp.example`, name: id, groups: ['engineers'] });
  provider.present = id;
  const visitor = newVisitor(service);
  const start = await visitor.call('GET', '/auth/provider/start');
  const { pathname, search } = new URL(await provider.walk(start.headers.get('location') ?? ''));
  assert.equal((await visitor.call('GET', pathname + search)).status, 302);
  return visitor;
}

const me = (visitor: Visitor) => visitor.call('GET', '/api-v1/platform/me');

/** As if the provider had last been asked this long ago: with the next request, it is asked before that is answered. */
const grow = (id: string, seconds: number) =>
  service.sql(
    `update provider_sessions set checked_at = now() - make_interval(secs => $2),
       tried_at = now() - make_interval(secs => $2) where subject = $1`,
    [id, seconds],
  );

const timesAsked = (path: string) => provider.asked.filter((one) => one === path).length;

test('refuses within a minute whose token the provider no longer knows, and nobody else', async () => {
  const [stays, leaves] = [await signedIn('stays'), await signedIn('leaves')];
  for (const id of ['stays', 'leaves']) await grow(id, 51);
  for (const visitor of [stays, leaves]) assert.equal((await me(visitor)).json.role, 'developer');
  assert.equal(timesAsked('/token/introspection'), 2);
  assert.equal(timesAsked('/token'), 2, 'there is nothing to refresh');
  await provider.revoke('leaves');
  for (const id of ['stays', 'leaves']) await grow(id, 51);
  const [userInfo, before] = [timesAsked('/me'), timesAsked('/token/introspection')];
  assertError(await me(leaves), 'unauthorized');
  assert.equal(timesAsked('/token/introspection'), before + 1);
  assert.equal(timesAsked('/me'), userInfo, 'introspection alone has refused it');
  assert.equal((await me(stays)).status, 200);
  const { rows } = await service.sql('select subject from provider_sessions');
  assert.deepEqual(rows, [{ subject: 'stays' }]);
});

test('refuses whom the provider removed, although their token is still active', async () => {
  const visitor = await signedIn('removed');
  provider.people.delete('removed');
  await grow('removed', 51);
  assertError(await me(visitor), 'unauthorized');
});
