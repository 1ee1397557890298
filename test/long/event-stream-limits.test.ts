/** How long a stream lasts and what it may cost: clients that do not read, too many of them, keys that are revoked, a stop. */
import assert from 'node:assert/strict';
import type { Server, Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Agent, EventSource } from 'undici';
import { hashApiKey } from '../../src/access/api-keys/api-key-text.ts';
import { type EventReader, readEvents, streamPath } from '../support/clients/event-reader.ts';
import {
  openStreamFixture,
  type StreamFixture,
  waitForMessages,
} from '../support/fixtures/event-stream-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import type { Service } from '../support/service/service.ts';

const events = '/api-v1/platform/events';

let fixture: StreamFixture;
/** Two nodes on one database. */
let first: Service;
let second: Service;

before(async () => {
  fixture = await openStreamFixture();
  ({ first, second } = fixture);
});
after(() => fixture?.close());

const [bigCount, bigSize] = [1_600, 10_000];

/** A client that has stopped reading in the middle of far more than any socket holds. */
async function stalledReader(node: Service): Promise<{ key: string; reader: EventReader; socket: Socket }> {
  const { key, makeEvents } = await fixture.makeWorkspace();
  await makeEvents(1);
  await fixture.feedOf(key, 1);
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

test('waits for a slow client with one page of memory, and sends everything in the end', async () => {
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
  const { key, makeEvents } = await fixture.makeWorkspace();
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

// Each of these spends seconds on waiting: for a client that comes back, for the next look at a key, for a client that stalls.
describe('the end of a stream', { concurrency: true }, () => {
  test('an EventSource reconnects by itself and continues where it was', async () => {
    const { key, makeEvents } = await fixture.makeWorkspace();
    const node = await fixture.startNode();
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
      assert.deepEqual(
        seen,
        await fixture.feedOf(key, 3),
        'what came while it was cut off before its first event',
      );
      for (const socket of sockets) socket.destroy();
      await makeEvents(2);
      await waitUntil(() => seen.length >= 5);
      assert.deepEqual(seen, await fixture.feedOf(key, 5));
    } finally {
      source.close();
      await node.close();
    }
  });

  test('a stream ends when its key is revoked or expires, while others go on', async () => {
    const { key, makeEvents } = await fixture.makeWorkspace();
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

  test('open streams do not delay a stop of the service, even if a client does not read', async (t) => {
    const node = await fixture.startNode();
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
