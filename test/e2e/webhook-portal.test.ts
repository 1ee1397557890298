/** Portal links: what they show and do, for how long, and that they reach nothing beyond their endpoint. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/runtime/caller.ts';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Operation, readOperations, smallestRequest } from '../support/openapi/openapi-operations.ts';
import { makePerson, makeThings, tokenOf } from '../support/openapi/openapi-things.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const base = '/api-v1/platform/webhooks';
const portal = `${base}/portal`;
let service: Service;
let receiver: Receiver;
let vault: string;
before(async () => {
  service = await startService({
    env: {
      HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
      HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
      HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '12h',
    },
  });
  receiver = await startReceiver();
  vault = (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json.address;
});
after(async () => {
  await receiver?.close();
  await service?.close();
});

async function endpoint(body: object = {}): Promise<{ id: string; secret: string }> {
  const made = await service.call('POST', `${base}/endpoints`, {
    body: { url: receiver.url, eventTypes: ['vault.*'], description: 'pays late', ...body },
  });
  assert.equal(made.status, 201, made.text);
  return made.json;
}

const make = (endpointId: string, body: object = {}, options: object = {}) =>
  service.call('POST', `${base}/endpoints/${endpointId}/portal-links`, { body, ...options });

async function linked(endpointId: string, body: object = {}): Promise<{ id: string; token: string }> {
  const made = await make(endpointId, body);
  assert.equal(made.status, 201, made.text);
  return { id: made.json.id, token: tokenOf(made.json.link) };
}

const ask = (name: string, token: string, body: object = {}) =>
  service.call('POST', `${portal}/${name}`, { key: null, body: { token, ...body } });

/** Two events; resolves with the delivery of the second once it has ended. */
async function delivered(endpointId: string): Promise<{ id: string; status: string }> {
  for (const action of ['deactivate', 'reactivate'])
    await service.call('PATCH', `/api-v1/platform/vaults/${vault}/${action}`);
  return waitUntil(async () => {
    const query = `endpointId=${endpointId}&type=vault.reactivated`;
    const { json } = await service.call('GET', `${base}/deliveries?${query}`);
    const settled =
      json[0]?.status === 'succeeded' || Date.parse(json[0]?.nextAttemptAt) > Date.now() + 60_000;
    return settled ? json[0] : null;
  });
}

test('a link shows its endpoint with deliveries, attempts and payloads, and nothing else', async () => {
  const own = await endpoint({ ed25519: true, filter: 'data.vault_id != "x"' });
  const other = await endpoint();
  const { token } = await linked(own.id);
  const delivery = await delivered(own.id);
  const foreign = await delivered(other.id);
  const { json: opened } = await ask('open', token);
  assert.deepEqual(Object.keys(opened).sort(), [
    'disabledReason',
    'eventTypes',
    'expiresAt',
    'mayChangeUrl',
    'mayManageSecret',
    'publicKey',
    'status',
    'url',
  ]);
  assert.deepEqual([opened.url, opened.status, opened.eventTypes], [receiver.url, 'active', ['vault.*']]);
  const { json: first, headers } = await ask('deliveries', token, { limit: 2 });
  const cursor = headers.get('x-next-cursor');
  assert.ok(cursor);
  const { json: rest } = await ask('deliveries', token, { cursor });
  const listed = [...first, ...rest].map(({ id }: { id: string }) => id);
  const { json: all } = await service.call('GET', `${base}/deliveries?endpointId=${own.id}`);
  assert.deepEqual(
    listed,
    all.map(({ id }: { id: string }) => id),
  );
  assert.ok(!listed.includes(foreign.id));
  const { json: failed } = await ask('deliveries', token, { status: 'failed' });
  assert.deepEqual(failed, []);
  const { json: whole } = await ask('delivery', token, { deliveryId: delivery.id });
  const received = receiver.received.filter(({ headers }) => headers['webhook-id'] === whole.eventId);
  assert.ok(received.some(({ body }) => body === whole.envelope));
  assert.equal(whole.attempts[0].statusCode, 204);
  for (const name of ['delivery', 'retry']) {
    assertError(await ask(name, token, { deliveryId: foreign.id }), 'resource_not_found');
  }
  // A cursor of another list, and the cursor of this one elsewhere.
  const elsewhere = (await linked(other.id)).token;
  assertError(await ask('deliveries', elsewhere, { cursor }), 'invalid_cursor');
});

test('its holder retries and sends tests; the audit log names the link', async () => {
  const { id } = await endpoint();
  const { id: linkId, token } = await linked(id, { description: 'Crane Ltd' });
  receiver.answer = (response) => response.writeHead(500).end('broken');
  const { id: deliveryId } = await delivered(id);
  receiver.answer = (response) => response.writeHead(204).end();
  const retried = await ask('retry', token, { deliveryId });
  assert.equal(retried.status, 202, retried.text);
  const attempts = await waitUntil(async () => {
    const { json } = await ask('delivery', token, { deliveryId });
    return json.status === 'succeeded' && json.attempts;
  });
  assert.deepEqual(
    attempts.map(({ statusCode, responseBody }: Record<string, unknown>) => [statusCode, responseBody]),
    [
      [500, 'broken'],
      [204, ''],
    ],
  );
  assertError(await ask('retry', token, { deliveryId }), 'conflict');
  const { json: outcome } = await ask('test', token);
  assert.deepEqual([outcome.delivered, outcome.statusCode], [true, 204]);
  const { rows } = await service.sql(
    `select action, actor_kind, actor_id from audit_entries
     where (target_id in ($1, $2)) and action != 'webhook_endpoint.create' order by id`,
    [id, deliveryId],
  );
  const byLink = { actor_kind: 'portal_link', actor_id: linkId };
  assert.deepEqual(
    rows.filter(({ actor_kind: kind }) => kind !== 'api_key'),
    [
      { action: 'webhook_delivery.retry', ...byLink },
      { action: 'webhook_endpoint.test', ...byLink },
    ],
  );
  const { json: links } = await service.call('GET', `${base}/endpoints/${id}/portal-links`);
  assert.deepEqual([links.length, links[0].id, links[0].description], [1, linkId, 'Crane Ltd']);
  assert.ok(Date.parse(links[0].lastUsedAt) >= Date.parse(links[0].createdAt));
});

test('URL and secret only if the link includes them, and under the rules of URLs', async () => {
  const { id, secret } = await endpoint();
  const { token: plain } = await linked(id);
  for (const [name, body] of [
    ['change-url', { url: receiver.url }],
    ['secret', {}],
    ['rotate-secret', {}],
  ] as const)
    assertError(await ask(name, plain, body), 'forbidden', /does not include/);
  const { token } = await linked(id, { mayChangeUrl: true, mayManageSecret: true });
  assert.equal((await ask('secret', token)).json.secret, secret);
  const rotated = await ask('rotate-secret', token);
  assert.notEqual(rotated.json.secret, secret);
  assert.equal((await ask('secret', token)).json.secret, rotated.json.secret);
  for (const url of [
    'https://10.0.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:10.0.0.1]/',
    'http://example.org/hook',
    'https://user:password@example.org/',
    'ftp://example.org/',
    'not a url',
  ])
    assertError(await ask('change-url', token, { url }), 'invalid_request');
  assert.equal((await ask('open', token)).json.url, receiver.url);
  const moved = await ask('change-url', token, { url: `${receiver.url}/new?key=secret` });
  assert.deepEqual([moved.json.url, moved.json.test.delivered], [`${receiver.url}/new?key=secret`, true]);
  const { rows } = await service.sql(
    `select action, details from audit_entries where target_id = $1 and actor_kind = 'portal_link' order by id`,
    [id],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['read_secret', 'rotate_secret', 'read_secret', 'update'].map((name) => `webhook_endpoint.${name}`),
  );
  assert.doesNotMatch(JSON.stringify(rows), /key=secret|whsec_/);
});

test('a holder cannot take headers of the endpoint to another host', async () => {
  const { id } = await endpoint({ headers: [{ name: 'authorization', value: 'Bearer of the gateway' }] });
  const { token } = await linked(id, { mayChangeUrl: true });
  const before = receiver.received.length;
  const url = receiver.url.replace('localhost', '127.0.0.1');
  assertError(await ask('change-url', token, { url }), 'conflict', /headers that belong to its host/);
  assert.equal(receiver.received.length, before);
  const moved = await ask('change-url', token, { url: `${receiver.url}/other` });
  assert.equal(moved.status, 200, moved.text);
});

test('the token opens no other route, however it is sent', async () => {
  const things = await makeThings(service, 'Walked');
  const { token } = await linked(things.endpointId ?? '', { mayChangeUrl: true, mayManageSecret: true });
  const operations = (await readOperations(service)).filter(({ path }) => path.startsWith('/api-v1/'));
  const isOwn = ({ path }: Operation) => path.startsWith(portal);
  const account = { name: 'Zoë', email: 'zoe@example.com', password: 'correct horse battery' };
  assert.equal(operations.filter(isOwn).length, 8);
  let refused = 0;
  for (const operation of operations.filter((one) => !isOwn(one))) {
    const isOpen = operation.scope === null && operation.role === null;
    const [method, path, { body }] = smallestRequest(operation, { ...things, token });
    const waysIn: Record<string, string>[] = [
      { 'x-api-key': token },
      { authorization: `Bearer ${token}` },
      { cookie: `__Host-holdfast=${token}; session=${token}` },
    ];
    // Complete, so that nothing but the token can be wrong with it.
    const sent = operation.name.endsWith('/invitations/accept') ? { ...(body as object), ...account } : body;
    for (const way of waysIn) {
      const headers = { ...way, 'sec-fetch-site': 'same-origin' };
      const answer = await service.call(method, path, { key: null, headers, body: sent });
      assertError(answer, isOpen ? 'resource_not_found' : 'unauthorized');
      refused += 1;
    }
  }
  assert.ok(refused > 300, `${refused} refused`);
  const sent = { ...things, token };
  for (const operation of operations.filter(isOwn)) {
    const [method, path, { body }] = smallestRequest(operation, sent);
    const { status, text } = await service.call(method, path, { key: null, body });
    // A delivery that is being sent, or was, cannot be retried.
    if (status === 409) assert.match(`${path} ${text}`, /\/retry .*so there is nothing to retry/);
    else assert.ok(status < 300, text);
    for (const key of [null, service.key]) {
      const other = { ...(body as object), token: 'portal_unknown' };
      assertError(await service.call(method, path, { key, body: other }), 'resource_not_found');
    }
  }
});

test('a link ends when it is revoked, its endpoint is deleted, or at the very moment that it says', async () => {
  const { id } = await endpoint();
  const revoked = await linked(id);
  assert.equal((await ask('open', revoked.token)).status, 200);
  const one = `${base}/endpoints/${id}/portal-links/${revoked.id}`;
  assert.equal((await service.call('DELETE', one)).status, 204);
  assertError(await service.call('DELETE', one), 'resource_not_found');
  assertError(await ask('open', revoked.token), 'resource_not_found', /was revoked/);

  const { id: linkId, token } = await linked(id);
  await service.sql(
    `update webhook_portal_links set expires_at = now() + interval '400 milliseconds' where id = $1`,
    [linkId],
  );
  assert.equal((await ask('open', token)).status, 200);
  const ended = await waitUntil(async () => {
    const answer = await ask('open', token);
    return answer.status !== 200 && answer;
  });
  assertError(ended, 'conflict', /has expired/);
  const { rows } = await service.sql(
    `select clock_timestamp() >= expires_at as is_over from webhook_portal_links where id = $1`,
    [linkId],
  );
  assert.deepEqual(rows, [{ is_over: true }]);
  for (const name of ['deliveries', 'test', 'secret']) assertError(await ask(name, token), 'conflict');

  const last = await linked(id);
  await service.call('DELETE', `${base}/endpoints/${id}`);
  assertError(await ask('open', last.token), 'resource_not_found');
  assertError(await make(id), 'resource_not_found');
});

test('valid for seven days or as many as it says, at most 90, and never longer than the key that makes it', async () => {
  const { id } = await endpoint();
  const { json: usual } = await make(id);
  const dayMs = 86_400_000;
  assert.equal(Date.parse(usual.expiresAt) - Date.parse(usual.createdAt), 7 * dayMs);
  for (const validDays of [0, 91, -1, 1.5]) assertError(await make(id, { validDays }), 'invalid_request');
  const { json: longest } = await make(id, { validDays: 90 });
  assert.equal(Date.parse(longest.expiresAt) - Date.parse(longest.createdAt), 90 * dayMs);
  const expiresAt = new Date(Date.now() + 2 * dayMs).toISOString();
  const body = { name: 'short', expiresAt };
  const { json: made } = await service.call('POST', '/api-v1/platform/api-keys', { body });
  assert.equal((await make(id, {}, { key: made.key })).json.expiresAt, expiresAt);
  assert.equal((await make(id, { validDays: 1 }, { key: made.key })).status, 201);
  assertError(await make(id, { validDays: 3 }, { key: made.key }), 'forbidden', /outlives/);
});

test('made and revoked by who may write, in their own workspace; the token is stored nowhere', async () => {
  const { id } = await endpoint();
  const viewer = await makePerson(service, 'viewer');
  assertError(await viewer.call('POST', `${base}/endpoints/${id}/portal-links`, { body: {} }), 'forbidden');
  const stranger = await service.makeKey({ newWorkspace: true });
  assertError(await make(id, {}, { key: stranger }), 'resource_not_found');
  const { id: linkId, token } = await linked(id);
  const one = `${base}/endpoints/${id}/portal-links/${linkId}`;
  assertError(await service.call('DELETE', one, { key: stranger }), 'resource_not_found');
  const another = await endpoint();
  const wrong = `${base}/endpoints/${another.id}/portal-links/${linkId}`;
  assertError(await service.call('DELETE', wrong), 'resource_not_found');
  const scopes: Scope[] = ['webhooks:write'];
  assertError(await make(id, {}, { key: await service.makeKey({ scopes }) }), 'forbidden', /webhooks:read/);
  const { rows } = await service.sql(
    `select (select string_agg(l::text, '') from webhook_portal_links l)
       || (select string_agg(e.details::text, '') from audit_entries e) as all_text`,
  );
  assert.ok(!rows[0].all_text.includes(token));
  assert.ok(!service.logged().includes(token));
});

test('a repeat with the same Idempotency-Key gets the same link, and at most 20 exist at a time', async () => {
  const { id } = await endpoint();
  const headers = { 'idempotency-key': 'portal-1' };
  const [first, second] = [await make(id, {}, { headers }), await make(id, {}, { headers })];
  assert.equal(first.json.link, second.json.link);
  const answers = await Promise.all(Array.from({ length: 24 }, () => make(id)));
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(
    [statuses.filter((s) => s === 201).length, statuses.filter((s) => s === 409).length],
    [19, 5],
  );
  await service.sql('update webhook_portal_links set expires_at = now() where endpoint_id = $1', [id]);
  assert.equal((await make(id)).status, 201, 'expired ones do not count');
  assert.equal((await service.call('GET', `${base}/endpoints/${id}/portal-links`)).json.length, 1);
});

test('a holder cannot flood: one test at a time, and few actions a minute', async () => {
  const { id } = await endpoint();
  const { token } = await linked(id);
  let release = () => {};
  receiver.answer = (response) => {
    release = () => response.writeHead(204).end();
  };
  const before = receiver.received.length;
  const running = ask('test', token);
  await waitUntil(() => receiver.received.length > before);
  assertError(await ask('test', token), 'rate_limit_exceeded', /under way/);
  receiver.answer = (response) => response.writeHead(204).end();
  release();
  assert.equal((await running).json.delivered, true);
  const statuses: number[] = [];
  for (let asked = 0; asked < 20; asked += 1)
    statuses.push((await ask('retry', token, { deliveryId: 'dlv_none' })).status);
  assert.deepEqual(new Set(statuses), new Set([404, 429]));
  assert.equal(statuses.filter((status) => status === 404).length, 18);
  // Looking goes on, and others are not concerned.
  assert.equal((await ask('open', token)).status, 200);
  const { token: other } = await linked((await endpoint()).id);
  assert.equal((await ask('test', other)).status, 200);
});
