/** Who is let in: keys that are missing, malformed, unknown, revoked or expired, scopes, and other workspaces. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newApiKey } from '../../src/access/api-keys/api-key-text.ts';
import { assertError, send } from '../support/openapi/openapi-answers.ts';
import { someTarget, webhookSettings } from '../support/openapi/openapi-operations.ts';
import { withClient } from '../support/service/database.ts';
import { type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const keys = '/api-v1/platform/api-keys';
const endpoints = '/api-v1/platform/webhooks/endpoints';

let first: Service;
/** Another node on the same database. */
let second: Service;

before(async () => {
  const env = { ...webhookSettings, HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
  first = await startService({ env });
  second = await startService({ env, databaseUrl: first.databaseUrl });
});
after(async () => {
  await second.close();
  await first.close();
});

test('a request without a key is 401 and the message names the header', async () => {
  const without = await first.call('GET', vaults, { key: null });
  assertError(without, 'unauthorized', /x-api-key/);
  assert.match(without.headers.get('www-authenticate') ?? '', /^ApiKey realm=.*x-api-key/);
  assertError(await first.call('POST', vaults, { key: null, body: '{' }), 'unauthorized');
});

test('a malformed key is 401', async () => {
  const { key } = first;
  const swapped = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  const lists = `${key}, ${key}`;
  for (const wrong of [
    '',
    ' ',
    'x',
    'hf_live_',
    swapped,
    key.slice(0, -1),
    `${key}x`,
    key.toUpperCase(),
    lists,
    "' or 1=1",
  ]) {
    assertError(await first.call('GET', vaults, { key: wrong }), 'unauthorized');
  }
  const inQuery = await first.call('GET', `${vaults}?x-api-key=${key}`, { key: null });
  assertError(inQuery, 'unauthorized');
  const bearer = { authorization: `Bearer ${key}` };
  assertError(await first.call('GET', vaults, { key: null, headers: bearer }), 'unauthorized');
});

test('a key that is well formed but unknown is 401', async () => {
  assertError(await first.call('GET', vaults, { key: newApiKey() }), 'unauthorized');
});

test('a 401 does not reveal whether the resource exists', async () => {
  const made = await first.call('POST', vaults, { body: { name: 'Secret' } });
  const there = await first.call('GET', `${vaults}/${made.json.address}`, { key: null });
  const absent = await first.call('GET', `${vaults}/0x${'0'.repeat(40)}`, { key: null });
  assertError(there, 'unauthorized');
  assert.equal(there.json.message, absent.json.message);
});

test('a revoked key is refused with the very next request, on every node', async () => {
  const { json: made } = await first.call('POST', keys, { body: { name: 'Short-lived' } });
  for (const node of [first, second]) {
    assert.equal((await node.call('GET', vaults, { key: made.key })).status, 200);
  }
  assert.equal((await first.call('DELETE', `${keys}/${made.id}`)).status, 204);
  for (const node of [second, first]) {
    assertError(await node.call('GET', vaults, { key: made.key }), 'unauthorized', /revoked/);
  }
});

test('a key can revoke itself, once', async () => {
  const { json: made } = await first.call('POST', keys, { body: { name: 'Self' } });
  assert.equal((await first.call('DELETE', `${keys}/${made.id}`, { key: made.key })).status, 204);
  assertError(await first.call('DELETE', `${keys}/${made.id}`, { key: made.key }), 'unauthorized');
  assert.equal((await first.call('DELETE', `${keys}/${made.id}`)).status, 204);
});

test('an expired key is 401, on every node', async () => {
  const key = await first.makeKey({ expiresAt: new Date(Date.now() + 3_600_000) });
  for (const node of [first, second]) assert.equal((await node.call('GET', vaults, { key })).status, 200);
  await withClient({ connectionString: first.databaseUrl }, (client) =>
    client.query("update api_keys set expires_at = now() - interval '1 ms' where expires_at is not null"),
  );
  for (const node of [first, second]) {
    assertError(await node.call('GET', vaults, { key }), 'unauthorized', /expired/);
  }
});

test('a key cannot be created with an expiry in the past', async () => {
  const body = { name: 'Late', expiresAt: new Date(Date.now() - 1000).toISOString() };
  assertError(await first.call('POST', keys, { body }), 'invalid_request', /expiresAt/);
});

test('a key without the scope is 403 and the message names the scope', async () => {
  const key = await first.makeKey({ scopes: ['vaults:read'] });
  assert.equal((await first.call('GET', vaults, { key })).status, 200);
  assertError(await first.call('POST', vaults, { key, body: { name: 'x' } }), 'forbidden', /vaults:write/);
  assertError(await first.call('POST', vaults, { key, body: '{' }), 'forbidden');
  assertError(await first.call('GET', keys, { key }), 'forbidden', /keys:read/);
});

test('a key that may read webhooks sees endpoints and deliveries, but no secret', async () => {
  const body = { url: someTarget, eventTypes: ['vault.deactivated'] };
  const { json: endpoint } = await first.call('POST', endpoints, { body });
  const key = await first.makeKey({ scopes: ['webhooks:read'] });
  const list = await first.call('GET', endpoints, { key });
  assert.equal(list.status, 200);
  const one = await first.call('GET', `${endpoints}/${endpoint.id}`, { key });
  for (const { text } of [list, one]) assert.ok(text.includes(endpoint.id) && !text.includes('whsec_'));
  assert.equal((await first.call('GET', '/api-v1/platform/webhooks/deliveries', { key })).status, 200);
  assertError(await first.call('GET', `${endpoints}/${endpoint.id}/secret`, { key }), 'forbidden');
  assertError(await first.call('POST', endpoints, { key, body }), 'forbidden', /webhooks:write/);
  assertError(await first.call('POST', `${endpoints}/${endpoint.id}/test`, { key }), 'forbidden');
});

test('a key cannot create a key with more rights than its own', async () => {
  const key = await first.makeKey({ scopes: ['keys:write', 'vaults:read'] });
  const make = (scopes?: string[]) =>
    first.call('POST', keys, { key, body: { name: 'x', ...(scopes && { scopes }) } });
  assertError(await make(['vaults:write']), 'forbidden', /vaults:write/);
  assertError(await make(['vaults:read', 'audit:read']), 'forbidden', /audit:read/);
  assertError(await make([]), 'forbidden', /every scope/);
  assertError(await make(), 'forbidden', /every scope/);
  assert.equal((await make(['vaults:read'])).status, 201);
});

test('a resource of another workspace is 404, as if it did not exist', async () => {
  const other = await first.makeKey({ newWorkspace: true });
  const { json: vault } = await first.call('POST', vaults, { body: { name: 'Mine' } });
  const foreign = await first.call('GET', `${vaults}/${vault.address}`, { key: other });
  const absent = await first.call(
    'GET',
    `${vaults}/${vault.address.replace(/.{4}$/, '0000').toLowerCase()}`,
    { key: other },
  );
  assertError(foreign, 'resource_not_found');
  assertError(absent, 'resource_not_found');
});

test('operations, documentation and the error page need no key', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs/', '/docs/errors']) {
    assert.equal((await first.call('GET', path, { key: null })).status, 200, path);
  }
});

test('the name of the key header is case-insensitive', async () => {
  const answer = await send(first.url, { method: 'GET', path: vaults, headers: { 'X-API-KEY': first.key } });
  assert.equal(answer.status, 200);
});

test('no key appears in the log or in an answer', async () => {
  await first.call('GET', `${vaults}/0x1?key=${first.key}`);
  await first.call('GET', vaults, { key: `${first.key}x` });
  assert.ok(!first.logged().includes(first.key));
  const list = await first.call('GET', keys);
  assert.ok(!list.text.includes(first.key));
});
