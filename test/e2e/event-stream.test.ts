/** The event stream as its clients meet it: nothing missed, nothing twice, however often they come back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Server, Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Agent, EventSource } from 'undici';
import { hashApiKey } from '../../src/access/api-keys/api-key-text.ts';
import { type EventReader, type Message, readEvents, streamPath } from '../support/clients/event-reader.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const events = '/api-v1/platform/events';

const env = { HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
/** Two nodes on one database. */
let first: Service;
let second: Service;

before(async () => {
  first = await startService({ env });
  second = await startService({ env, databaseUrl: first.databaseUrl });
});
after(async () => {
  await second?.close();
  await first?.close();
});

interface Workspace {
  key: string;
  /** Changes the vault there and back, each time one event. */
  makeEvents(count: number, node?: Service): Promise<void>;
}

async function makeWorkspace(): Promise<Workspace> {
  const key = await first.makeKey({ newWorkspace: true });
  const { json: vault } = await first.call('POST', vaults, { key, body: { name: 'Watched' } });
  let made = 0;
  return {
    key,
    async makeEvents(count, node = first) {
      for (let turn = 0; turn < count; turn += 1, made += 1) {
        const move = made % 2 === 0 ? 'deactivate' : 'reactivate';
        const moved: Answer = await node.call('PATCH', `${vaults}/${vault.address}/${move}`, { key });
        assert.equal(moved.status, 200);
      }
    },
  };
}

/** The whole feed as text, event by event, once it has this many. */
async function feedOf(key: string, wanted: number): Promise<string[]> {
  const { json } = await waitUntil(async () => {
    const page = await first.call('GET', `${events}?limit=1000`, { key });
    return page.json.length >= wanted && page;
  });
  return json.map((envelope: unknown) => JSON.stringify(envelope));
}

function dataOf(messages: Message[]): string[] {
  return messages.map(({ data }) => data);
}

async function waitForMessages(reader: EventReader, count: number): Promise<void> {
  await waitUntil(() => reader.messages.length >= count);
}

test('the stream answers at once, begins with what happens next, and carries the envelopes of the feed', async () => {
  const { key, makeEvents } = await makeWorkspace();
  await makeEvents(2);
  const past = await feedOf(key, 2);
  const reader = await readEvents(first, '', { key });
  await waitUntil(() => reader.greeting() !== '');
  assert.equal(reader.response.statusCode, 200);
  const { headers } = reader.response;
  assert.equal(headers['content-type'], 'text/event-stream');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-accel-buffering'], 'no');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.match(reader.greeting(), /^: .+\nretry: \d+\nid: [\w-]+\n\n$/);

  await makeEvents(3);
  await waitForMessages(reader, 3);
  const feed = await feedOf(key, 5);
  assert.deepEqual(dataOf(reader.messages), feed.slice(2));
  assert.deepEqual(feed.slice(0, 2), past);
  assert.deepEqual(
    reader.messages.map(({ event }) => event),
    feed.slice(2).map((envelope) => JSON.parse(envelope).type),
  );
  reader.close();
});

test('every id leads to right after its event, in the stream and in the feed', async () => {
  const { key, makeEvents } = await makeWorkspace();
  const empty = await readEvents(first, '', { key });
  await waitUntil(() => empty.lastId() !== '');
  empty.close();
  await makeEvents(4);
  const feed = await feedOf(key, 4);

  const all = await readEvents(second, `?cursor=${empty.lastId()}`, { key });
  await waitForMessages(all, 4);
  all.close();
  assert.deepEqual(dataOf(all.messages), feed, 'also what came while nobody was connected');
  for (const [turn, { id }] of all.messages.entries()) {
    const page = await second.call('GET', `${events}?cursor=${id}`, { key });
    assert.equal(page.status, 200, page.text);
    assert.deepEqual(
      page.json.map((envelope: unknown) => JSON.stringify(envelope)),
      feed.slice(turn + 1),
    );
    const again = await readEvents(first, `?cursor=${id}`, { key });
    await waitForMessages(again, feed.length - turn - 1);
    assert.deepEqual(dataOf(again.messages), feed.slice(turn + 1));
    again.close();
  }
  const start = (await first.call('GET', `${events}?limit=1`, { key })).headers.get('x-next-cursor');
  const both = await readEvents(first, `?cursor=${start}`, {
    key,
    headers: { 'last-event-id': all.messages[2]?.id ?? '' },
  });
  await waitForMessages(both, 1);
  assert.deepEqual(dataOf(both.messages), feed.slice(3), 'Last-Event-ID goes before the cursor');
  both.close();
  const none = await readEvents(first, `?cursor=${start}`, { key, headers: { 'last-event-id': '' } });
  await waitForMessages(none, 3);
  assert.deepEqual(dataOf(none.messages), feed.slice(1), 'an empty Last-Event-ID is none');
  none.close();
});

test('a stream of one type carries that type, and its ids are good for that type alone', async () => {
  const { key, makeEvents } = await makeWorkspace();
  const query = '?type=vault.reactivated';
  const reader = await readEvents(first, query, { key });
  await makeEvents(6);
  await waitForMessages(reader, 3);
  const wanted = (await feedOf(key, 6)).filter((envelope) => envelope.includes('vault.reactivated'));
  assert.deepEqual(dataOf(reader.messages), wanted);
  reader.close();
  const id = reader.messages[0]?.id;
  const rest = await readEvents(first, `${query}&cursor=${id}`, { key });
  await waitForMessages(rest, 2);
  assert.deepEqual(dataOf(rest.messages), wanted.slice(1));
  rest.close();
  assertError(await first.call('GET', `${streamPath}?cursor=${id}`, { key }), 'invalid_cursor');
  assertError(
    await first.call('GET', `${streamPath}?type=vault.deactivated&cursor=${id}`, { key }),
    'invalid_cursor',
  );
  assertError(await first.call('GET', `${streamPath}${query}&cursor=${id}`), 'invalid_cursor');
});

test('what is wrong with a request is said before the stream begins, in the shape of every error', async () => {
  const call = (query: string, options = {}) => first.call('GET', streamPath + query, options);
  assertError(await call('?cursor=nonsense'), 'invalid_cursor');
  assertError(await call('', { headers: { 'last-event-id': 'nonsense' } }), 'invalid_cursor');
  assertError(await call('?type=nonsense'), 'invalid_request', /^type /);
  assertError(await call('?limit=1'), 'invalid_request', /limit/);
  assertError(await call('', { key: null }), 'unauthorized');
  const key = await first.makeKey({ scopes: ['vaults:read'] });
  assertError(await call('', { key }), 'forbidden', /events:read/);
  const posted = await first.call('POST', streamPath);
  assertError(posted, 'method_not_allowed');
  assert.equal(posted.headers.get('allow'), 'GET, HEAD');
  const head = await first.call('HEAD', streamPath);
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream']);
  assert.equal((await first.call('HEAD', streamPath, { key: null })).status, 401);
});

test('a client that is cut off again and again, on either node and under load, sees each event once and in order', async () => {
  const workspaces = await Promise.all(Array.from({ length: 6 }, makeWorkspace));
  const key = workspaces[0]?.key ?? '';
  const more = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const { json } = await first.call('POST', vaults, { key, body: { name: 'Another' } });
      return json.address as string;
    }),
  );
  const perVault = 20;
  const wanted = perVault * (more.length + 1);
  const nodes = [first, second];
  const opened = await readEvents(first, '', { key });
  await waitUntil(() => opened.lastId() !== '');
  opened.close();

  const load = Promise.all([
    // Other workspaces are busy too.
    ...workspaces.map(({ makeEvents }, turn) => makeEvents(perVault, nodes[turn % 2])),
    ...more.map(async (address, turn) => {
      for (let move = 0; move < perVault; move += 1) {
        const to = move % 2 === 0 ? 'deactivate' : 'reactivate';
        const node = nodes[(turn + move) % 2] as Service;
        assert.equal((await node.call('PATCH', `${vaults}/${address}/${to}`, { key })).status, 200);
      }
    }),
  ]);
  const seen: Message[] = [];
  let lastId = opened.lastId();
  let connections = 0;
  for (; seen.length < wanted; connections += 1) {
    const node = nodes[connections % 2] as Service;
    const reader = await readEvents(node, '', { key, headers: { 'last-event-id': lastId } });
    const few = 1 + ((connections * 7) % 23);
    await waitForMessages(reader, Math.min(few, wanted - seen.length));
    reader.close();
    // What came along with these was not processed yet: it has to come again.
    seen.push(...reader.messages.slice(0, few));
    lastId = seen.at(-1)?.id ?? '';
  }
  await load;
  assert.deepEqual(dataOf(seen), await feedOf(key, wanted));
  assert.equal(new Set(seen.map(({ id }) => id)).size, wanted);
  assert.ok(connections >= 5, `cut off only ${connections} times`);
});

const [bigCount, bigSize] = [1_600, 10_000];

/** A client that has stopped reading in the middle of far more than any socket holds. */
async function stalledReader(node: Service): Promise<{ key: string; reader: EventReader; socket: Socket }> {
  const { key, makeEvents } = await makeWorkspace();
  await makeEvents(1);
  await feedOf(key, 1);
  const start = (await first.call('GET', events, { key })).headers.get('x-next-cursor');
  await withClient({ connectionString: first.databaseUrl }, (client) =>
    client.query(
      `insert into events (workspace_id, id, type, envelope)
       select workspace_id, 'evt_' || lpad(n::text, 26, '0'), type,
              json_build_object('n', n, 'padding', repeat('x', $2))::text
       from events, generate_series(1, $1::integer) as n
       where workspace_id = (select workspace_id from api_keys where secret_hash = $3)`,
      [bigCount, bigSize, hashApiKey(key)],
    ),
  );
  const connected = new Promise<Socket>((resolve) =>
    (node.app.server.http.server as Server).once('connection', resolve),
  );
  const reader = await readEvents(node, `?cursor=${start}`, { key });
  reader.response.pause();
  const socket = await connected;
  let before = -1;
  await waitUntil(() => {
    const stalled = socket.writableLength > 0 && socket.bytesWritten === before;
    before = socket.bytesWritten;
    return stalled;
  });
  return { key, reader, socket };
}

test('a client that does not read is waited for, costs a page of memory, and gets everything in the end', async () => {
  const { reader, socket } = await stalledReader(first);
  assert.ok(socket.bytesWritten < (bigCount * bigSize) / 2, `${socket.bytesWritten} bytes were written`);
  assert.ok(socket.writableLength < 2 * 100 * bigSize, `${socket.writableLength} bytes wait in memory`);
  reader.response.resume();
  await waitForMessages(reader, bigCount);
  assert.deepEqual(
    reader.messages.map(({ data }) => JSON.parse(data).n),
    Array.from({ length: bigCount }, (_, turn) => turn + 1),
  );
  reader.close();
});

test('a workspace has at most 100 streams on a node, and a client that leaves makes room', async () => {
  const { key, makeEvents } = await makeWorkspace();
  // Leaving while the stream is being opened must not cost a place either.
  const hasty = Array.from({ length: 150 }, () => new AbortController());
  const left = hasty.map(({ signal }) =>
    fetch(first.url + streamPath, { headers: { 'x-api-key': key }, signal }).catch(() => null),
  );
  for (const each of hasty) {
    await setImmediate();
    each.abort();
  }
  await Promise.all(left);

  const readers: EventReader[] = [];
  await waitUntil(async () => {
    const missing = Array.from({ length: 100 - readers.length }, () => readEvents(first, '', { key }));
    readers.push(...(await Promise.all(missing)).filter(({ response }) => response.statusCode === 200));
    return readers.length === 100;
  });
  const refused = await first.call('GET', streamPath, { key });
  assertError(refused, 'budget_exceeded', /100 open event streams .*HOLDFAST_BUDGET_STREAMS/);
  assert.equal(refused.headers.get('x-budget'), 'streams');
  const { json: usage } = await first.call('GET', '/api-v1/platform/usage', { key });
  assert.deepEqual(
    usage.budgets.find(({ name }: { name: string }) => name === 'streams'),
    { name: 'streams', limit: 100, used: 100, resetsAt: null, perNode: true },
  );
  assert.equal((await first.call('GET', streamPath)).status, 200, 'another workspace is not affected');
  assert.equal((await second.call('GET', streamPath, { key })).status, 200, 'nor is another node');
  await makeEvents(1, second);
  await waitUntil(() => readers.every(({ messages }) => messages.length === 1));
  readers[50]?.close();
  const again = await waitUntil(async () => {
    const reader = await readEvents(first, '', { key });
    return reader.response.statusCode === 200 && reader;
  });
  for (const reader of [...readers, again]) reader.close();
});

test('a stream outlives the loss of its database connections', async () => {
  const { key, makeEvents } = await makeWorkspace();
  const reader = await readEvents(second, '', { key });
  await makeEvents(1);
  await waitForMessages(reader, 1);
  await withClient({ connectionString: process.env.HOLDFAST_TEST_SERVER }, (client) =>
    client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
      new URL(first.databaseUrl).pathname.slice(1),
    ]),
  );
  await waitUntil(async () => (await first.call('GET', vaults, { key })).status === 200);
  await makeEvents(2);
  await waitForMessages(reader, 3);
  assert.deepEqual(dataOf(reader.messages), await feedOf(key, 3));
  reader.close();
});

// Each of these spends seconds on waiting: for a client that comes back, for the next look at a key, for a client that stalls.
describe('the end of a stream', { concurrency: true }, () => {
  test('an EventSource comes back by itself and goes on where it was', async () => {
    const { key, makeEvents } = await makeWorkspace();
    const node = await startService({ env, databaseUrl: first.databaseUrl });
    const sockets = new Set<Socket>();
    (node.app.server.http.server as Server).on('connection', (socket) => sockets.add(socket));
    const withKey = new Agent().compose((dispatch) => (options, handler) => {
      const headers = { ...(options.headers as Record<string, string>), 'x-api-key': key };
      return dispatch({ ...options, headers }, handler);
    });
    const source = new EventSource(node.url + streamPath, { dispatcher: withKey });
    const seen: string[] = [];
    for (const type of ['vault.deactivated', 'vault.reactivated'])
      source.addEventListener(type, (event) => seen.push((event as MessageEvent).data));
    try {
      // The first id is there as well: it comes in one piece with the head.
      await waitUntil(() => source.readyState === source.OPEN);
      for (const socket of sockets) socket.destroy();
      await makeEvents(3);
      await waitUntil(() => seen.length >= 3);
      assert.deepEqual(seen, await feedOf(key, 3), 'what came while it was cut off before its first event');
      for (const socket of sockets) socket.destroy();
      await makeEvents(2);
      await waitUntil(() => seen.length >= 5);
      assert.deepEqual(seen, await feedOf(key, 5));
    } finally {
      source.close();
      await node.close();
    }
  });

  test('a stream ends when its key is revoked or expires, and others go on', async () => {
    const { key, makeEvents } = await makeWorkspace();
    const make = async (body: object) =>
      (await first.call('POST', '/api-v1/platform/api-keys', { key, body: { name: 'x', ...body } })).json;
    const revoked = await make({});
    const expiring = await make({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    const readers = await Promise.all(
      [revoked.key, expiring.key, key].map((one) => readEvents(second, '', { key: one })),
    );
    assert.deepEqual(
      readers.map(({ response }) => response.statusCode),
      [200, 200, 200],
    );
    assert.equal(
      (await first.call('DELETE', `/api-v1/platform/api-keys/${revoked.id}`, { key })).status,
      204,
    );
    await withClient({ connectionString: first.databaseUrl }, (client) =>
      client.query('update api_keys set expires_at = now() where id = $1', [expiring.id]),
    );
    const [ofRevoked, ofExpired, ofOther] = readers;
    assert.deepEqual(await Promise.all([ofRevoked?.ended, ofExpired?.ended]), ['complete', 'complete']);
    // What docs/api.md promises: keys are looked at every 5 s, long before the first heartbeat after 15 s.
    assert.equal(ofOther?.blocks(), 1);
    await makeEvents(1);
    await waitUntil(() => ofOther?.messages.length === 1);
    assert.deepEqual([ofRevoked?.messages, ofExpired?.messages], [[], []]);
    ofOther?.close();
  });

  test('the service stops at once with streams open, also when a client does not read', async (t) => {
    const node = await startService({ env, databaseUrl: first.databaseUrl });
    let closed: Promise<void> | null = null;
    t.after(() => closed ?? node.close());
    const [stalled, slow] = [await stalledReader(node), await stalledReader(node)];
    const { key } = slow;
    const idle = await Promise.all(Array.from({ length: 20 }, () => readEvents(node, '', { key })));
    // In the event loop of the service: on a busy machine both are late. After 5.2 s every connection is cut.
    const inTime = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(stalled.socket.destroyed), 5_000);
      stalled.socket.once('close', () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    closed = node.close();
    slow.reader.response.resume();
    assert.deepEqual(
      new Set(await Promise.all([...idle, slow.reader].map(({ ended }) => ended))),
      new Set(['complete']),
    );
    assert.equal(await inTime, true);
    await closed;
    stalled.reader.response.resume();
    assert.equal(await stalled.reader.ended, 'cut');

    const { messages, lastId } = slow.reader;
    assert.ok(messages.length > 0 && messages.length < bigCount, `${messages.length} messages`);
    const rest = await readEvents(first, '', { key, headers: { 'last-event-id': lastId() } });
    await waitForMessages(rest, bigCount - messages.length);
    assert.deepEqual(
      [...messages, ...rest.messages].map(({ data }) => JSON.parse(data).n),
      Array.from({ length: bigCount }, (_, turn) => turn + 1),
    );
    rest.close();
  });
});
