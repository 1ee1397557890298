/** Lists page by page, and the event feed: nothing twice, nothing missed, and no cursor but our own. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { someTarget, webhookSettings } from '../support/openapi/openapi-operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const workers = '/api-v1/damc/workers/';
const events = '/api-v1/platform/events';
const endpoints = '/api-v1/platform/webhooks/endpoints';
const deliveries = '/api-v1/platform/webhooks/deliveries';

const env = { ...webhookSettings, HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
let database: TestDatabase;
let service: Service;
/** Ids and addresses of all vaults, newest first. */
let all: { id: string; address: string }[];

before(async () => {
  database = await createTestDatabase();
  service = await startService({ env, databaseUrl: database.url });
  const made = await Promise.all(
    Array.from({ length: 250 }, (_, turn) =>
      service.call('POST', vaults, { body: { name: `Vault ${turn}` } }),
    ),
  );
  all = made.map(({ json }) => json).sort((one, other) => (one.id < other.id ? 1 : -1));
  await Promise.all(['a', 'b', 'c'].map((name) => service.call('POST', workers, { body: { name } })));
});
after(async () => {
  await service.close();
  await database.drop();
});

function next(answer: Answer): string | null {
  return answer.headers.get('x-next-cursor');
}

/** All items of a list, following the cursors. */
async function walk(path: string, key?: string): Promise<{ ids: string[]; pages: number[] }> {
  const ids: string[] = [];
  const pages: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await service.call('GET', path + from, key ? { key } : {});
    assert.equal(page.status, 200, page.text);
    ids.push(...page.json.map(({ id }: { id: string }) => id));
    pages.push(page.json.length);
    cursor = next(page);
  }
  return { ids, pages };
}

test('250 vaults come once each, newest first, and the last page has no cursor', async () => {
  const wanted = all.map(({ id }) => id);
  assert.deepEqual(await walk(`${vaults}?limit=100`), { ids: wanted, pages: [100, 100, 50] });
  assert.deepEqual(await walk(`${vaults}?limit=125`), { ids: wanted, pages: [125, 125] });
  assert.deepEqual(await walk(`${vaults}?limit=1000`), { ids: wanted, pages: [250] });
  assert.deepEqual((await walk(`${vaults}?status=active`)).pages, [100, 100, 50]);
});

test('every list can be read in small pages', async () => {
  for (const path of [workers, '/api-v1/platform/api-keys', '/api-v1/platform/audit-log']) {
    const whole = await walk(`${path}?limit=1000`);
    const small = await walk(`${path}?limit=${path === workers ? 1 : 60}`);
    assert.deepEqual(small.ids, whole.ids);
    assert.deepEqual(whole.ids, [...whole.ids].sort().reverse());
    assert.equal(new Set(whole.ids).size, whole.ids.length);
  }
});

test('endpoints and deliveries can be read in small pages, by every filter', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  const call = (method: string, path: string, body?: object) => service.call(method, path, { key, body });
  const body = { url: someTarget, eventTypes: ['vault.deactivated', 'vault.reactivated'] };
  const made: string[] = [];
  for (let turn = 0; turn < 5; turn += 1) made.push((await call('POST', endpoints, body)).json.id);
  const { json: vault } = await call('POST', vaults, { name: 'Watched' });
  for (const move of ['deactivate', 'reactivate', 'deactivate'])
    await call('PATCH', `${vaults}/${vault.address}/${move}`);
  assert.deepEqual(await walk(`${endpoints}?limit=2`, key), {
    ids: made.toReversed(),
    pages: [2, 2, 1],
  });
  const day = 86_400_000;
  const [from, to] = [Date.now() - day, Date.now() + day].map((at) => new Date(at).toISOString());
  for (const [filter, count] of [
    ['', 20],
    [`&endpointId=${made[0]}`, 4],
    ['&type=webhook.test', 5],
    ['&type=vault.deactivated', 10],
    [`&from=${from}&to=${to}`, 20],
    [`&from=${to}`, 0],
    [`&to=${from}`, 0],
  ] as const) {
    const whole = await walk(`${deliveries}?limit=1000${filter}`, key);
    assert.equal(whole.ids.length, count, filter);
    assert.deepEqual((await walk(`${deliveries}?limit=3${filter}`, key)).ids, whole.ids, filter);
    assert.deepEqual(whole.ids, [...whole.ids].sort().reverse());
  }
});

test('a cursor of deliveries is bound to all its filters, and one of endpoints to its list', async () => {
  const body = { url: someTarget, eventTypes: ['vault.deactivated'] };
  for (let turn = 0; turn < 3; turn += 1) await service.call('POST', endpoints, { body });
  const list = next(await service.call('GET', `${endpoints}?limit=1`));
  const log = next(await service.call('GET', `${deliveries}?limit=1`));
  const typed = next(await service.call('GET', `${deliveries}?limit=1&type=webhook.test`));
  const stranger = await service.makeKey({ newWorkspace: true });
  for (const path of [`${endpoints}?cursor=${list}`, `${deliveries}?cursor=${log}`]) {
    assert.equal((await service.call('GET', path)).status, 200);
    assertError(await service.call('GET', path, { key: stranger }), 'invalid_cursor');
  }
  assert.equal((await service.call('GET', `${deliveries}?type=webhook.test&cursor=${typed}`)).status, 200);
  for (const path of [
    `${endpoints}?cursor=${log}`,
    `${deliveries}?cursor=${list}`,
    `${deliveries}?cursor=${typed}`,
    ...['endpointId=whe_1', 'status=failed', 'type=webhook.test', 'from=2020-01-01T00:00:00Z'].map(
      (filter) => `${deliveries}?${filter}&cursor=${log}`,
    ),
  ]) {
    assertError(await service.call('GET', path), 'invalid_cursor');
  }
});

test('the Link header leads from page to page and keeps the filters', async () => {
  const seen: string[] = [];
  let path: string | null = `${vaults}?limit=90&status=active`;
  while (path !== null) {
    const page: Answer = await service.call('GET', path);
    assert.equal(page.status, 200, page.text);
    seen.push(...page.json.map(({ id }: { id: string }) => id));
    const link: string | null = page.headers.get('link');
    assert.equal(link === null, next(page) === null);
    const target = link === null ? null : /^<([^>]+)>; rel="next"$/.exec(link)?.[1];
    path = target
      ? `${new URL(target, service.url + path).pathname}${new URL(target, service.url).search}`
      : null;
    if (path !== null) assert.match(path, /limit=90&status=active&cursor=/);
  }
  assert.deepEqual(
    seen,
    all.map(({ id }) => id),
  );
});

test('new vaults do not disturb the pages being read', async () => {
  const first = await service.call('GET', `${vaults}?limit=100`);
  const late = await service.call('POST', vaults, { body: { name: 'Late' } });
  const second = await service.call('GET', `${vaults}?limit=200&cursor=${next(first)}`);
  assert.deepEqual(
    [...first.json, ...second.json].map(({ id }) => id),
    all.map(({ id }) => id),
  );
  all.unshift(late.json);
});

test('a cursor works with another limit and after a restart', async () => {
  const first = await service.call('GET', `${vaults}?limit=10`);
  const feed = await service.call('GET', events);
  await service.close();
  service = await startService({ env, databaseUrl: database.url });
  const rest = await service.call('GET', `${vaults}?limit=1000&cursor=${next(first)}`);
  assert.deepEqual(
    rest.json.map(({ id }: { id: string }) => id),
    all.slice(10).map(({ id }) => id),
  );
  assert.equal((await service.call('GET', `${events}?cursor=${next(feed)}`)).status, 200);
});

test('refuses a cursor that was changed in any way', async () => {
  const cursor = next(await service.call('GET', `${vaults}?limit=10`)) ?? '';
  const bytes = Buffer.from(cursor, 'base64url');
  const flipped = Array.from({ length: bytes.length }, (_, at) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy.toString('base64url');
  });
  const others = [
    '',
    'x',
    '0',
    'null',
    cursor.slice(1),
    cursor.slice(0, -1),
    `${cursor}A`,
    `${cursor}=`,
    `${cursor}%00`,
  ];
  for (const wrong of [...flipped, ...others, cursor.toLowerCase(), 'a'.repeat(2048), all[0]?.id ?? '']) {
    const answer = await service.call('GET', `${vaults}?limit=10&cursor=${wrong}`);
    if (/%00/.test(wrong)) assertError(answer, 'invalid_request');
    else assertError(answer, 'invalid_cursor');
  }
  const tooLong = await service.call('GET', `${vaults}?cursor=${'a'.repeat(2049)}`);
  assert.equal(tooLong.status, 400);
});

test('a cursor is valid only for its list, filters and workspace', async () => {
  const stranger = await service.makeKey({ newWorkspace: true });
  const plain = next(await service.call('GET', `${vaults}?limit=10`));
  const active = next(await service.call('GET', `${vaults}?limit=10&status=active`));
  const feed = next(await service.call('GET', events));
  const typed = next(await service.call('GET', `${events}?type=vault.deactivated`));
  for (const path of [
    `${vaults}?cursor=${active}`,
    `${vaults}?status=active&cursor=${plain}`,
    `${vaults}?status=inactive&cursor=${active}`,
    `${vaults}?cursor=${feed}`,
    `${workers}?cursor=${plain}`,
    `${events}?cursor=${plain}`,
    `${events}?cursor=${typed}`,
    `${events}?type=vault.deactivated&cursor=${feed}`,
    `/api-v1/platform/api-keys?cursor=${plain}`,
    `/api-v1/platform/audit-log?cursor=${plain}`,
  ]) {
    assertError(await service.call('GET', path), 'invalid_cursor');
  }
  for (const path of [`${vaults}?cursor=${plain}`, `${events}?cursor=${feed}`]) {
    assert.equal((await service.call('GET', path)).status, 200);
    assertError(await service.call('GET', path, { key: stranger }), 'invalid_cursor');
  }
});

test('an empty feed has a cursor too, and polling from it returns exactly what happens next', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  const empty = await service.call('GET', events, { key });
  assert.deepEqual(empty.json, []);
  const again = await service.call('GET', `${events}?cursor=${next(empty)}`, { key });
  assert.deepEqual([again.json, next(again)], [[], next(empty)]);

  const { json: vault } = await service.call('POST', vaults, { key, body: { name: 'Watched' } });
  const moves = ['deactivate', 'reactivate', 'deactivate'];
  for (const move of moves) await service.call('PATCH', `${vaults}/${vault.address}/${move}`, { key });
  const types = moves.map((move) => `vault.${move}d`);
  const { seen, cursor } = await poll(key, next(empty), 3);
  assert.deepEqual(
    seen.map(({ type }) => type),
    types,
  );

  const tail = await service.call('GET', `${events}?cursor=${cursor}`, { key });
  assert.deepEqual([tail.json, next(tail)], [[], cursor]);
  const one = await service.call('GET', `${events}?limit=1`, { key });
  const rest = await service.call('GET', `${events}?cursor=${next(one)}`, { key });
  assert.deepEqual([...one.json, ...rest.json], seen);
  assert.match(one.headers.get('link') ?? '', /rel="next"/);
  const filtered = await service.call('GET', `${events}?type=vault.reactivated`, { key });
  assert.deepEqual(filtered.json, [seen[1]]);
});

test('returns the newest events first on request, in a finite list with its own cursor', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  const backwards = `${events}?order=newest`;
  const empty = await service.call('GET', backwards, { key });
  assert.deepEqual([empty.status, empty.json, next(empty)], [200, [], null]);

  const { json: vault } = await service.call('POST', vaults, { key, body: { name: 'Watched' } });
  const move = (to: string) => service.call('PATCH', `${vaults}/${vault.address}/${to}`, { key });
  for (const to of ['deactivate', 'reactivate', 'deactivate', 'reactivate', 'deactivate']) await move(to);
  const { seen, cursor } = await poll(key, null, 5);
  const ids = seen.map(({ id }) => id).reverse();
  assert.deepEqual(await walk(`${backwards}&limit=2`, key), { ids, pages: [2, 2, 1] });
  assert.deepEqual((await walk(`${backwards}&limit=2&type=vault.deactivated`, key)).ids, [
    ids[0],
    ids[2],
    ids[4],
  ]);
  const oldest = await service.call('GET', `${events}?order=oldest`, { key });
  assert.deepEqual([oldest.json, next(oldest)], [seen, cursor]);

  // What comes meanwhile does not shift the pages.
  const first = await service.call('GET', `${backwards}&limit=2`, { key });
  await move('reactivate');
  await poll(key, cursor, 1);
  const second = await service.call('GET', `${backwards}&limit=2&cursor=${next(first)}`, { key });
  assert.deepEqual(
    second.json.map(({ id }: Envelope) => id),
    ids.slice(2, 4),
  );
  for (const path of [
    `${events}?cursor=${next(first)}`,
    `${backwards}&cursor=${cursor}`,
    `${backwards}&type=vault.deactivated&cursor=${next(first)}`,
  ]) {
    assertError(await service.call('GET', path, { key }), 'invalid_cursor');
  }
  assertError(await service.call('GET', `${backwards}&cursor=${next(first)}`), 'invalid_cursor');
  assertError(await service.call('GET', `${events}?order=sideways`, { key }), 'invalid_request', /order/);
});

test('each change of status sends one event of the exact form, and a repeat sends none', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  const { json: vault } = await service.call('POST', vaults, { key, body: { name: 'Watched' } });
  const path = `${vaults}/${vault.address}`;
  const started = Date.now();
  const move = async (to: string) => (await service.call('PATCH', `${path}/${to}`, { key })).json;
  assert.deepEqual(await move('reactivate'), vault, 'an active vault stays as it is');
  const inactive = await move('deactivate');
  assert.equal(inactive.status, 'inactive');
  assert.deepEqual(await move('deactivate'), inactive);
  await Promise.all(Array.from({ length: 10 }, () => move('deactivate')));
  await Promise.all(Array.from({ length: 10 }, () => move('reactivate')));
  assert.equal((await service.call('GET', path, { key })).json.status, 'active');
  // Events are placed in the order of their commits: when this one is seen, nothing earlier is still to come.
  await move('deactivate');
  const { seen } = await poll(key, null, 3);
  assert.equal((await service.call('GET', events, { key })).json.length, 3);

  const [first, second] = seen;
  assert.deepEqual(first, {
    id: first?.id,
    type: 'vault.deactivated',
    timestamp: inactive.updatedAt,
    workspace_id: first?.workspace_id,
    data: { vault_id: vault.id, address: vault.address, deactivated_at: inactive.updatedAt },
  });
  assert.match(first?.id ?? '', /^evt_[0-9A-Z]{26}$/);
  assert.match(first?.workspace_id ?? '', /^ws_[0-9A-Z]{26}$/);
  assert.deepEqual(Object.keys(first ?? {}), ['id', 'type', 'timestamp', 'workspace_id', 'data']);
  assert.equal(second?.type, 'vault.reactivated');
  assert.deepEqual(Object.keys(second?.data ?? {}), ['vault_id', 'address', 'reactivated_at']);
  assert.equal(new Set(seen.map(({ id }) => id)).size, 3);
  for (const { timestamp } of seen) {
    assert.equal(new Date(timestamp).toISOString(), timestamp);
    assert.ok(Date.parse(timestamp) >= started - 1000);
  }
});

interface Envelope {
  id: string;
  type: string;
  timestamp: string;
  workspace_id: string;
  data: Record<string, unknown>;
}

/** Polls the feed as a client would until so many events have come. */
async function poll(
  key: string,
  from: string | null,
  wanted: number,
): Promise<{ seen: Envelope[]; cursor: string | null }> {
  const seen: Envelope[] = [];
  let cursor = from;
  await waitUntil(async () => {
    const page = await service.call('GET', cursor === null ? events : `${events}?cursor=${cursor}`, { key });
    assert.equal(page.status, 200, page.text);
    seen.push(...page.json);
    cursor = next(page);
    assert.notEqual(cursor, null);
    return seen.length >= wanted;
  });
  return { seen, cursor };
}
