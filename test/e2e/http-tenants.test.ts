/** Walls between workspaces and between scopes, walked route by route as /openapi.json lists them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isAtLeast, onBehalf, roles, type Scope, scopes } from '../../src/runtime/caller.ts';
import type { Visitor } from '../support/clients/browser-session.ts';
import { readEvents, streamPath } from '../support/clients/event-reader.ts';
import { untilLookedAt } from '../support/fixtures/notices-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import {
  asPerson,
  isSuccess,
  type Operation,
  type PathValues,
  readOperations,
  smallestRequest,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import { makePerson, makeThings, thingsFor } from '../support/openapi/openapi-things.ts';
import { waitUntil } from '../support/service/process.ts';
import { type CallOptions, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const records = '/api-v1/platform/records';
const files = '/api-v1/platform/files';
const workers = '/api-v1/damc/workers/';
const assets = '/api-v1/damc/assets/';
const keys = '/api-v1/platform/api-keys';
const endpoints = '/api-v1/platform/webhooks/endpoints';
const deliveries = '/api-v1/platform/webhooks/deliveries';
const replays = '/api-v1/platform/webhooks/replays';
const events = '/api-v1/platform/events';
const auditLog = '/api-v1/platform/audit-log';
const lists = [
  ...[vaults, files, records, workers, assets, keys, events, auditLog, endpoints, deliveries],
  ...['notices', 'holds', 'erasures', 'approvals'].map((name) => `/api-v1/platform/${name}`),
];
const rules = '/api-v1/damc/signoffs/rules/';
const workRules = `${rules}work/`;
const organisation = '/api-v1/damc/signoffs/organisation/';
const stats = '/api-v1/platform/stats';
const usage = '/api-v1/platform/usage';
const noticeMail = '/api-v1/platform/notices/mail';
/** For whoever was sent a link. */
const byLink = [
  ...['options', 'register', 'open', 'sign'].map((name) => `POST /api-v1/damc/passkeys/${name}`),
  ...['open', 'file', 'sign'].map((name) => `POST /api-v1/damc/sign-requests/${name}`),
  ...['open', 'deliveries', 'delivery', 'retry', 'test', 'change-url', 'secret', 'rotate-secret'].map(
    (name) => `POST /api-v1/platform/webhooks/portal/${name}`,
  ),
];
/** What is needed beside the scope. */
const alsoNeeded: Record<string, Scope> = {
  // The service holds the key of the worker.
  [`POST ${assets}{assetId}/maintenances/{maintenanceId}/signoffs/`]: onBehalf,
  // Whoever has the link reads, and so does every visitor of a page.
  [`POST ${endpoints}/{endpointId}/portal-links`]: 'webhooks:read',
  [`POST ${assets}{assetId}/published-pages/`]: 'assets:read',
};
/** For people, who see what is theirs. */
const peopleLists = ['me', 'members', 'invitations', 'sessions'].map((name) => `/api-v1/platform/${name}`);
/** For people, about how they sign in. */
const signIn = ['passkeys', 'sign-in-rules', 'approval-rules'].map((name) => `/api-v1/platform/${name}`);

let service: Service;
let operations: Operation[];
/** A key of a workspace that owns nothing. */
let stranger: string;
/** The cookie of somebody who owns another workspace, and is a member of no other. */
let visitor: string;
/** What the first workspace owns, by the path parameter that names it. */
let owned: PathValues;

before(async () => {
  // What fails once is not tried again while these tests look at it.
  service = await startService({
    env: {
      ...webhookSettings,
      HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '12h',
      HOLDFAST_WORKSPACE_CREATION: 'everyone',
    },
  });
  operations = (await readOperations(service)).filter(({ path }) => path.startsWith('/api-v1/'));
  stranger = await service.makeKey({ newWorkspace: true });
  visitor = (await makeStranger()).cookies();
  owned = await makeThings(service, 'Canary');
  // The loops give events their place in the feed and send them a moment after the change.
  await waitUntil(async () => {
    const { json: feed } = await service.call('GET', events);
    const { json: replay } = await service.call('GET', `${replays}/${owned.replayId}`);
    const { json: sent } = await service.call('GET', `${deliveries}?endpointId=${owned.endpointId}`);
    const isSettled = ({ status, nextAttemptAt }: { status: string; nextAttemptAt: string | null }) =>
      status === 'failed' || (nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now() + 60_000);
    return feed.length >= 2 && replay.enqueued === replay.total && sent.every(isSettled);
  });
});
after(() => service.close());

test('every route that names a resource is 404 for another workspace, and changes nothing', async () => {
  await untilLookedAt(service);
  const waiting = () => service.sql('select 1 from placed_events where position is null limit 1');
  await waitUntil(async () => (await waiting()).rows.length === 0);
  const before = await ownLists();
  const named = operations.filter(({ parameters }) =>
    parameters.some((parameter) => parameter.in === 'path'),
  );
  assert.notEqual(named.length, 0);
  for (const operation of named) {
    const [method, path, options] = smallestRequest(operation, owned);
    const bodies = [options];
    const text = ['name', 'description'].find((member) => operation.body?.properties?.[member]);
    if (text !== undefined) bodies.push({ body: { ...(options.body as object), [text]: 'Stolen' } });
    for (const { body } of bodies) {
      const [byPerson, byKey] = await Promise.all([
        service.call(method, path, { ...asPerson(visitor), body }),
        service.call(method, path, { body, key: stranger }),
      ]);
      assertError(byPerson, 'resource_not_found');
      assertError(byKey, operation.role === null ? 'resource_not_found' : 'forbidden');
    }
  }
  assert.deepEqual(await ownLists(), before);
});

test('a session can choose only its own workspaces', async () => {
  const { json: me } = await service.call('GET', '/api-v1/platform/me', asPerson(owned.cookie ?? ''));
  for (const path of [...lists, ...peopleLists, ...signIn]) {
    const { key, headers } = asPerson(visitor);
    for (const workspace of [me.workspaceId, `ws_${'0'.repeat(26)}`, 'x', '']) {
      const chosen = { key, headers: { ...headers, 'x-workspace-id': workspace } };
      assertError(await service.call('GET', path, chosen), 'forbidden');
    }
  }
});

test('a foreign resource is answered exactly like one that does not exist', async () => {
  const address = '0x00000000000000000000000000000000000000aa';
  for (const [list, present = '', absent, parts = []] of [
    [vaults, owned.vaultAddress, address],
    [workers.replace(/\/$/, ''), owned.address, address],
    [records, owned.recordId, `rec_${'0'.repeat(26)}`, ['/versions', '/proof']],
    [files, owned.fileId, `fil_${'0'.repeat(26)}`, ['/versions', '/content', '/history', '/proof']],
    [assets.replace(/\/$/, ''), owned.assetId, `ast_${'0'.repeat(26)}`],
    [endpoints, owned.endpointId, `whe_${'0'.repeat(26)}`],
    [deliveries, owned.deliveryId, `dlv_${'0'.repeat(26)}`],
    [replays, owned.replayId, `rpl_${'0'.repeat(26)}`],
  ] as [string, string | undefined, string, string[]?][]) {
    for (const part of ['', ...parts]) {
      const foreign = await service.call('GET', `${list}/${present}${part}`, { key: stranger });
      const nowhere = await service.call('GET', `${list}/${absent}${part}`, { key: stranger });
      assertError(foreign, 'resource_not_found');
      assert.equal(foreign.json.message.replace(present, ''), nowhere.json.message.replace(absent, ''), part);
    }
  }
});

test('the lists of one workspace show nothing of another, under any filter', async () => {
  const listed = operations.filter(({ path, method }) => method === 'GET' && !path.includes('{'));
  assert.deepEqual(
    listed.map(({ path }) => path).sort(),
    [
      ...lists,
      ...peopleLists,
      ...signIn,
      `${auditLog}/proof`,
      rules,
      workRules,
      organisation,
      stats,
      usage,
      noticeMail,
      streamPath,
    ].sort(),
    'a list is missing in this test',
  );
  const canaries = [
    ...Object.values(owned),
    'Canary',
    'vault.deactivated',
    'vlt_',
    'rec_',
    'fil_',
    'ast_',
    'wrk_',
    'whe_',
    'dlv_',
  ];
  // Whoever looks at sign-offs by their number sees no more than a digit.
  const shows = (text: string) => canaries.filter((canary) => canary.length > 1 && text.includes(canary));
  for (const path of [...lists, `${auditLog}/proof`, rules, workRules, organisation, stats, usage]) {
    assert.deepEqual(shows((await service.call('GET', path, { key: stranger })).text), [], path);
  }
  for (const path of [
    ...lists,
    rules,
    workRules,
    organisation,
    stats,
    usage,
    noticeMail,
    ...peopleLists,
    ...signIn,
  ]) {
    const { status, text } = await service.call('GET', path, asPerson(visitor));
    assert.equal(status, 200, text);
    assert.deepEqual(shows(text), [], path);
  }
  const { json: ownEntries } = await service.call('GET', auditLog);
  const entries: { targetId: string; actor: { id: string } }[] = ownEntries;
  const targets = new Set(entries.map(({ targetId }) => targetId));
  const filters = entries.flatMap(({ targetId, actor }) => [`targetId=${targetId}`, `actorId=${actor.id}`]);
  for (const filter of new Set(filters)) {
    const { json } = await service.call('GET', `${auditLog}?${filter}`, { key: stranger });
    assert.deepEqual(
      json.filter((entry: { targetId: string }) => targets.has(entry.targetId)),
      [],
    );
  }
});

test('a filter by a resource of another workspace finds nothing', async () => {
  for (const filter of [`endpointId=${owned.endpointId}`, 'type=vault.deactivated', 'type=webhook.test']) {
    const { json } = await service.call('GET', `${deliveries}?${filter}`, { key: stranger });
    assert.deepEqual(json, []);
    assert.notEqual((await service.call('GET', `${deliveries}?${filter}`)).json.length, 0);
  }
});

test('a stream of one workspace sends nothing of another', async () => {
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

test('the owner sees all of these resources', async () => {
  const seen = new Map((await ownLists()).map((text, position) => [lists[position], text]));
  for (const path of [vaults, files, records, workers, assets, keys, endpoints])
    assert.match(seen.get(path) ?? '', /Canary/, path);
  assert.match(seen.get(deliveries) ?? '', new RegExp(owned.endpointId ?? '?'));
  assert.match(seen.get(events) ?? '', /vault\.deactivated.*vault\.reactivated/);
  assert.match(seen.get(auditLog) ?? '', /vault\.deactivate"/);
  for (const path of peopleLists) {
    const { text } = await service.call('GET', path, asPerson(owned.cookie ?? ''));
    assert.match(text, path.endsWith('/sessions') ? new RegExp(owned.sessionId ?? '?') : /canary/, path);
  }
});

test('two workspaces may each have a worker with the same address', async () => {
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

test('a key created over the API belongs to the workspace of its creator', async () => {
  const { json } = await service.call('POST', keys, { key: stranger, body: { name: 'Mine' } });
  assert.deepEqual((await service.call('GET', vaults, { key: json.key })).json, []);
});

test('every route needs its scope and no other', async (t) => {
  const forKeys = operations.filter(
    ({ role, tags, name }) => role === null && tags[0] !== 'people' && !byLink.includes(name),
  );
  for (const operation of forKeys) {
    await t.test(operation.name, async () => {
      const { scope } = operation;
      assert.ok(scope && scopes.includes(scope), 'the document names no scope');
      const [method, path, options] = requestWithin(operation, await thingsFor(service, operation, owned));
      const allBut = await keyWith(scopes.filter((other) => other !== scope));
      const refused = await service.call(method, path, { ...options, key: allBut });
      assertError(refused, 'forbidden', new RegExp(scope));
      const needed = [scope];
      const also = alsoNeeded[operation.name];
      if (also !== undefined) {
        const without = await service.call(method, path, { ...options, key: await keyWith([scope]) });
        assertError(without, 'forbidden', new RegExp(also));
        needed.push(also);
      }
      const onlyThis = await keyWith(needed);
      const { status, text } = await service.call(method, path, { ...options, key: onlyThis });
      // A person or a key that did not ask withdraws and collects nothing.
      assert.ok(isSuccess(operation, status, text) || /Only who asked/.test(text), text);
    });
  }
});

test('a link is enough for whoever was sent it, and no key is enough without it', async () => {
  for (const name of byLink) {
    const operation = operations.find((one) => one.name === name) ?? assert.fail(name);
    assert.deepEqual([operation.scope, operation.role], [null, null], name);
    const [method, path, { body }] = smallestRequest(operation, await thingsFor(service, operation, owned));
    const other = { ...(body as object), token: 'x'.repeat(32) };
    for (const key of [null, stranger, service.key])
      assertError(await service.call(method, path, { body: other, key }), 'resource_not_found');
    const { status, text } = await service.call(method, path, { body, key: null });
    assert.ok(status < 300, text);
  }
});

test('every route for people refuses keys and roles that are too low', async (t) => {
  const forPeople = operations.filter(({ role }) => role !== null);
  assert.ok(forPeople.length > 5);
  const persons = new Map<string, string>();
  for (const role of roles) persons.set(role, (await makePerson(service, role)).cookies());
  for (const operation of forPeople) {
    await t.test(operation.name, async () => {
      const things = await thingsFor(service, operation, owned);
      const [method, path, { body, ...own }] = smallestRequest(operation, things);
      assertError(await service.call(method, path, { body }), 'forbidden', /does not accept API keys/);
      assertError(await service.call(method, path, { body, key: null }), 'unauthorized');
      for (const role of roles.filter((role) => !isAtLeast(role, operation.role ?? 'viewer'))) {
        const lower = await service.call(method, path, { body, ...asPerson(persons.get(role) ?? '') });
        assertError(lower, 'forbidden', new RegExp(`role ${operation.role}`));
      }
      if (method !== 'GET') {
        const elsewhere = { ...own, headers: { ...own.headers, 'sec-fetch-site': 'cross-site' } };
        assertError(await service.call(method, path, { body, ...elsewhere }), 'forbidden', /Origin/);
      }
      const { status, text } = await service.call(method, path, { body, ...own });
      assert.ok(isSuccess(operation, status, text), text);
    });
  }
});

test('a viewer reads with a session what a key reads, and changes nothing', async () => {
  const viewer = asPerson((await makePerson(service, 'viewer')).cookies());
  for (const operation of operations.filter(({ scope }) => scope !== null)) {
    const { scope } = operation;
    const [method, path, { body }] = smallestRequest(operation, owned);
    const answer = await service.call(method, path, { body, ...viewer });
    if (scope?.endsWith(':write') || scope === 'keys:read') {
      assertError(answer, 'forbidden', new RegExp(scope));
    } else assert.ok(isSuccess(operation, answer.status, answer.text), `${operation.name}: ${answer.text}`);
  }
});

test('reading never needs a write scope, and writing always does', () => {
  for (const { method, scope, name } of operations.filter(({ scope }) => scope !== null)) {
    // Whoever sees the secret can sign as the service does: that is for those who may also change it.
    const reads = (method === 'GET' && !name.endsWith('/secret')) || name.endsWith('/transactions');
    const wanted = reads ? /:read$/ : /:write$/;
    assert.match(scope ?? '', wanted, name);
  }
});

const keysMade = new Map<string, Promise<string>>();

/** One for each set of scopes, whichever routes need it. */
function keyWith(wanted: Scope[]): Promise<string> {
  const made = keysMade.get(wanted.join()) ?? service.makeKey({ scopes: wanted });
  keysMade.set(wanted.join(), made);
  return made;
}

/** A key cannot grant more than it has, so the one that is made must ask for no more than its maker may do. */
function requestWithin(operation: Operation, things: PathValues): [string, string, CallOptions] {
  const [method, path, options] = smallestRequest(operation, things);
  const makesKey = operation.name === `POST ${keys}`;
  return [method, path, makesKey ? { body: { name: 'x', scopes: [operation.scope] } } : options];
}

/** Joins the first workspace, makes one of their own, and leaves. */
async function makeStranger(): Promise<Visitor> {
  const person = await makePerson(service, 'viewer', 'Stranger');
  const { json: me } = await person.call('GET', '/api-v1/platform/me');
  const made = await person.call('POST', '/api-v1/platform/workspaces', { body: { name: 'Elsewhere' } });
  assert.equal(made.status, 201, made.text);
  const left = await person.call('DELETE', `/api-v1/platform/members/${me.id}`);
  assert.equal(left.status, 204, left.text);
  return person;
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
