/** Walls between workspaces and between scopes, walked route by route as /openapi.json lists them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../src/caller.ts';
import { assertError } from './openapi-answers.ts';
import { type Operation, readOperations, smallestRequest } from './openapi-operations.ts';
import { type CallOptions, type Service, startService } from './service.ts';

const vaults = '/api-v1/platform/vaults';
const workers = '/api-v1/damc/workers/';
const keys = '/api-v1/platform/api-keys';
const lists = [vaults, workers, keys, '/api-v1/platform/events', '/api-v1/platform/audit-log'];

let service: Service;
let operations: Operation[];
/** A key of a workspace that owns nothing. */
let stranger: string;
/** What the first workspace owns, by the path parameter that names it. */
let owned: Record<string, string>;

before(async () => {
  service = await startService();
  operations = (await readOperations(service)).filter(({ path }) => path.startsWith('/api-v1/'));
  stranger = await service.makeKey({ newWorkspace: true });
  const vault = await service.call('POST', vaults, { body: { name: 'Canary vault' } });
  const worker = await service.call('POST', workers, { body: { name: 'Canary worker' } });
  const key = await service.call('POST', keys, { body: { name: 'Canary key' } });
  await service.call('PATCH', `${vaults}/${vault.json.address}/deactivate`);
  await service.call('PATCH', `${vaults}/${vault.json.address}/reactivate`);
  // The loop gives events their place in the feed a moment after the change.
  while ((await service.call('GET', '/api-v1/platform/events')).json.length < 2);
  owned = { vaultAddress: vault.json.address, address: worker.json.address, keyId: key.json.id };
});
after(() => service.close());

test('with the key of another workspace every route that names a thing is 404, and the thing stays as it was', async () => {
  const before = await ownLists();
  const named = operations.filter(({ parameters }) =>
    parameters.some((parameter) => parameter.in === 'path'),
  );
  assert.notEqual(named.length, 0);
  for (const operation of named) {
    const [method, path, options] = smallestRequest(operation, owned);
    assertError(await service.call(method, path, { ...options, key: stranger }), 'resource_not_found');
    const changing = { key: stranger, body: { name: 'Stolen' } };
    const changed = await service.call(
      method,
      path,
      operation.body?.properties?.name ? changing : { key: stranger },
    );
    assertError(changed, 'resource_not_found');
  }
  assert.deepEqual(await ownLists(), before);
});

test('what is foreign is answered exactly as what does not exist', async () => {
  const absent = '0x00000000000000000000000000000000000000aa';
  for (const [list, address] of [
    [vaults, owned.vaultAddress],
    [workers.replace(/\/$/, ''), owned.address],
  ]) {
    const foreign = await service.call('GET', `${list}/${address}`, { key: stranger });
    const nowhere = await service.call('GET', `${list}/${absent}`, { key: stranger });
    assert.equal(foreign.json.message.replace(address, ''), nowhere.json.message.replace(absent, ''));
  }
});

test('the lists of one workspace show nothing of another, whatever they are filtered by', async () => {
  const listed = operations.filter(({ path, method }) => method === 'GET' && !path.includes('{'));
  assert.deepEqual(
    listed.map(({ path }) => path).sort(),
    [...lists].sort(),
    'a list is missing in this test',
  );
  const canaries = [...Object.values(owned), 'Canary', 'vault.deactivated', 'vlt_', 'wrk_'];
  for (const path of lists) {
    const { text } = await service.call('GET', path, { key: stranger });
    for (const canary of canaries) assert.ok(!text.includes(canary), `${path} shows ${canary}`);
  }
  const { json: ownEntries } = await service.call('GET', '/api-v1/platform/audit-log');
  for (const { targetId, actor } of ownEntries) {
    for (const filter of [`targetId=${targetId}`, `actorId=${actor.id}`]) {
      const { json } = await service.call('GET', `/api-v1/platform/audit-log?${filter}`, { key: stranger });
      assert.deepEqual(
        json.filter((entry: { targetId: string }) => entry.targetId === targetId),
        [],
      );
    }
  }
});

test('the owner sees all of it', async () => {
  const [vault, worker, key, events, audit] = await ownLists();
  assert.match(vault ?? '', /Canary vault/);
  assert.match(worker ?? '', /Canary worker/);
  assert.match(key ?? '', /Canary key/);
  assert.match(events ?? '', /vault\.deactivated.*vault\.reactivated/);
  assert.match(audit ?? '', /vault\.deactivate"/);
});

test('two workspaces may have a worker with the same address, each its own', async () => {
  const address = '0x00000000000000000000000000000000000000bb';
  for (const [key, name] of [
    [service.key, 'Ours'],
    [stranger, 'Theirs'],
  ] as const) {
    assert.equal((await service.call('POST', workers, { key, body: { name, address } })).status, 201);
    assertError(await service.call('POST', workers, { key, body: { name, address } }), 'conflict');
  }
  assert.equal((await service.call('GET', workers + address)).json.name, 'Ours');
  assert.equal((await service.call('GET', workers + address, { key: stranger })).json.name, 'Theirs');
});

test('a key made over the API belongs to the workspace of its maker', async () => {
  const { json } = await service.call('POST', keys, { key: stranger, body: { name: 'Mine' } });
  assert.deepEqual((await service.call('GET', vaults, { key: json.key })).json, []);
});

test('every route needs its scope and nothing but its scope', async (t) => {
  for (const operation of operations) {
    await t.test(operation.name, async () => {
      const { scope } = operation;
      assert.ok(scope && scopes.includes(scope), 'the document names no scope');
      const [method, path, options] = requestWithin(operation);
      const allBut = await service.makeKey({ scopes: scopes.filter((other) => other !== scope) });
      const refused = await service.call(method, path, { ...options, key: allBut });
      assertError(refused, 'forbidden', new RegExp(scope));
      const onlyThis = await service.makeKey({ scopes: [scope] });
      const { status, text } = await service.call(method, path, { ...options, key: onlyThis });
      assert.ok(status < 300, text);
    });
  }
});

test('reading never needs a write scope, and changing always does', () => {
  for (const { method, scope, name } of operations) {
    const wanted = method === 'GET' || name.endsWith('/transactions') ? /:read$/ : /:write$/;
    assert.match(scope ?? '', wanted, name);
  }
});

/** A key cannot grant more than it has, so the one that is made must ask for no more than its maker may do. */
function requestWithin(operation: Operation): [string, string, CallOptions] {
  const [method, path, options] = smallestRequest(operation, owned);
  const makesKey = operation.name === `POST ${keys}`;
  return [method, path, makesKey ? { body: { name: 'x', scopes: [operation.scope] } } : options];
}

/** The lists as text; the audit log without the places its loop gives, and none of what this very look changes. */
async function ownLists(): Promise<string[]> {
  const texts: string[] = [];
  for (const path of lists) {
    const { json } = await service.call('GET', path);
    const volatile = new Set(['lastUsedAt', 'sequence', 'previousHash', 'hash']);
    texts.push(JSON.stringify(json, (name, value) => (volatile.has(name) ? undefined : value)));
  }
  return texts;
}
