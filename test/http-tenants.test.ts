/** Walls between workspaces and between scopes, walked route by route as /openapi.json lists them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../src/caller.ts';
import { readEvents, streamPath } from './event-reader.ts';
import { assertError } from './openapi-answers.ts';
import {
  isSuccess,
  type Operation,
  type PathValues,
  readOperations,
  smallestRequest,
  webhookSettings,
} from './openapi-operations.ts';
import { makeThings, thingsFor } from './openapi-things.ts';
import { waitUntil } from './process.ts';
import { type CallOptions, type Service, startService } from './service.ts';

const vaults = '/api-v1/platform/vaults';
const records = '/api-v1/platform/records';
const workers = '/api-v1/damc/workers/';
const assets = '/api-v1/damc/assets/';
const keys = '/api-v1/platform/api-keys';
const endpoints = '/api-v1/platform/webhooks/endpoints';
const deliveries = '/api-v1/platform/webhooks/deliveries';
const replays = '/api-v1/platform/webhooks/replays';
const lists = [
  vaults,
  records,
  workers,
  assets,
  keys,
  '/api-v1/platform/events',
  '/api-v1/platform/audit-log',
  endpoints,
  deliveries,
];

let service: Service;
let operations: Operation[];
/** A key of a workspace that owns nothing. */
let stranger: string;
/** What the first workspace owns, by the path parameter that names it. */
let owned: PathValues;

before(async () => {
  // What fails once is not tried again while these tests look at it.
  service = await startService({ env: { ...webhookSettings, HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '12h' } });
  operations = (await readOperations(service)).filter(({ path }) => path.startsWith('/api-v1/'));
  stranger = await service.makeKey({ newWorkspace: true });
  owned = await makeThings(service, 'Canary');
  // The loops give events their place in the feed and send them a moment after the change.
  await waitUntil(async () => {
    const { json: feed } = await service.call('GET', '/api-v1/platform/events');
    const { json: replay } = await service.call('GET', `${replays}/${owned.replayId}`);
    const { json: sent } = await service.call('GET', `${deliveries}?endpointId=${owned.endpointId}`);
    const isSettled = ({ status, nextAttemptAt }: { status: string; nextAttemptAt: string | null }) =>
      status === 'failed' || (nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now() + 60_000);
    return feed.length >= 2 && replay.enqueued === replay.total && sent.every(isSettled);
  });
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
    const text = ['name', 'description'].find((member) => operation.body?.properties?.[member]);
    if (text === undefined) continue;
    const changing = { key: stranger, body: { ...(options.body as object), [text]: 'Stolen' } };
    assertError(await service.call(method, path, changing), 'resource_not_found');
  }
  assert.deepEqual(await ownLists(), before);
});

test('what is foreign is answered exactly as what does not exist', async () => {
  const address = '0x00000000000000000000000000000000000000aa';
  for (const [list, present = '', absent] of [
    [vaults, owned.vaultAddress, address],
    [workers.replace(/\/$/, ''), owned.address, address],
    [records, owned.recordId, `rec_${'0'.repeat(26)}`],
    [endpoints, owned.endpointId, `whe_${'0'.repeat(26)}`],
    [deliveries, owned.deliveryId, `dlv_${'0'.repeat(26)}`],
    [replays, owned.replayId, `rpl_${'0'.repeat(26)}`],
  ] as const) {
    const foreign = await service.call('GET', `${list}/${present}`, { key: stranger });
    const nowhere = await service.call('GET', `${list}/${absent}`, { key: stranger });
    assertError(foreign, 'resource_not_found');
    assert.equal(foreign.json.message.replace(present, ''), nowhere.json.message.replace(absent, ''));
  }
});

test('the lists of one workspace show nothing of another, whatever they are filtered by', async () => {
  const listed = operations.filter(({ path, method }) => method === 'GET' && !path.includes('{'));
  assert.deepEqual(
    listed.map(({ path }) => path).sort(),
    [...lists, streamPath].sort(),
    'a list is missing in this test',
  );
  const canaries = [
    ...Object.values(owned),
    'Canary',
    'vault.deactivated',
    'vlt_',
    'rec_',
    'wrk_',
    'whe_',
    'dlv_',
  ];
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

test('a filter by what another workspace owns finds nothing', async () => {
  for (const filter of [`endpointId=${owned.endpointId}`, 'type=vault.deactivated', 'type=webhook.test']) {
    const { json } = await service.call('GET', `${deliveries}?${filter}`, { key: stranger });
    assert.deepEqual(json, []);
    assert.notEqual((await service.call('GET', `${deliveries}?${filter}`)).json.length, 0);
  }
});

test('a stream of one workspace carries nothing of another', async () => {
  const other = await service.makeKey({ newWorkspace: true });
  const [own, foreign] = await Promise.all([readEvents(service), readEvents(service, '', { key: other })]);
  const move = (address: string, key: string) =>
    service.call('PATCH', `${vaults}/${address}/deactivate`, { key });
  const { json: vault } = await service.call('POST', vaults, { key: other, body: { name: 'Mine' } });
  await move(owned.vaultAddress ?? '', service.key);
  await waitUntil(() => own.messages.length === 1);
  await move(vault.address, other);
  await waitUntil(() => foreign.messages.length === 1);
  assert.ok(own.messages[0]?.data.includes(owned.vaultAddress ?? '?'));
  assert.ok(foreign.messages[0]?.data.includes(vault.address));
  const elsewhere = await service.call('GET', `${streamPath}?cursor=${own.lastId()}`, { key: other });
  assertError(elsewhere, 'invalid_cursor');
  own.close();
  foreign.close();
});

test('the owner sees all of it', async () => {
  const [vault, record, worker, key, events, audit, endpoint, delivery] = await ownLists();
  assert.match(vault ?? '', /Canary/);
  assert.match(record ?? '', /Canary/);
  assert.match(worker ?? '', /Canary/);
  assert.match(key ?? '', /Canary/);
  assert.match(endpoint ?? '', /Canary/);
  assert.match(delivery ?? '', new RegExp(owned.endpointId ?? '?'));
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
      const [method, path, options] = requestWithin(operation, await thingsFor(service, operation, owned));
      const allBut = await service.makeKey({ scopes: scopes.filter((other) => other !== scope) });
      const refused = await service.call(method, path, { ...options, key: allBut });
      assertError(refused, 'forbidden', new RegExp(scope));
      const onlyThis = await service.makeKey({ scopes: [scope] });
      const { status, text } = await service.call(method, path, { ...options, key: onlyThis });
      assert.ok(isSuccess(operation, status), text);
    });
  }
});

test('reading never needs a write scope, and changing always does', () => {
  for (const { method, scope, name } of operations) {
    // Whoever sees the secret can sign as the service does: that is for those who may also change it.
    const reads = (method === 'GET' && !name.endsWith('/secret')) || name.endsWith('/transactions');
    const wanted = reads ? /:read$/ : /:write$/;
    assert.match(scope ?? '', wanted, name);
  }
});

/** A key cannot grant more than it has, so the one that is made must ask for no more than its maker may do. */
function requestWithin(operation: Operation, things: PathValues): [string, string, CallOptions] {
  const [method, path, options] = smallestRequest(operation, things);
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
