/** The event stream as its clients meet it: nothing missed, nothing twice, however often they come back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Message, readEvents, streamPath } from '../support/clients/event-reader.ts';
import {
  dataOf,
  openStreamFixture,
  type StreamFixture,
  waitForMessages,
} from '../support/fixtures/event-stream-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import type { Service } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
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

test('the stream answers at once, starts with the next event, and sends the envelopes of the feed', async () => {
  const { key, makeEvents } = await fixture.makeWorkspace();
  await makeEvents(2);
  const past = await fixture.feedOf(key, 2);
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
  const feed = await fixture.feedOf(key, 5);
  assert.deepEqual(dataOf(reader.messages), feed.slice(2));
  assert.deepEqual(feed.slice(0, 2), past);
  assert.deepEqual(
    reader.messages.map(({ event }) => event),
    feed.slice(2).map((envelope) => JSON.parse(envelope).type),
  );
  reader.close();
});

test('every id resumes right after its event, in the stream and in the feed', async () => {
  const { key, makeEvents } = await fixture.makeWorkspace();
  const empty = await readEvents(first, '', { key });
  await waitUntil(() => empty.lastId() !== '');
  empty.close();
  await makeEvents(4);
  const feed = await fixture.feedOf(key, 4);

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

test('a stream of one type sends only that type, and its ids are valid only for that type', async () => {
  const { key, makeEvents } = await fixture.makeWorkspace();
  const query = '?type=vault.reactivated';
  const reader = await readEvents(first, query, { key });
  await makeEvents(6);
  await waitForMessages(reader, 3);
  const wanted = (await fixture.feedOf(key, 6)).filter((envelope) => envelope.includes('vault.reactivated'));
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

test('rejects a bad request with the usual error body before the stream begins', async () => {
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

test('a client that is cut off repeatedly, on two nodes under load, sees each event once in order', async () => {
  const workspaces = await Promise.all(Array.from({ length: 6 }, () => fixture.makeWorkspace()));
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
  assert.deepEqual(dataOf(seen), await fixture.feedOf(key, wanted));
  assert.equal(new Set(seen.map(({ id }) => id)).size, wanted);
  assert.ok(connections >= 5, `cut off only ${connections} times`);
});

test('a stream survives the loss of its database connections', async () => {
  const { key, makeEvents } = await fixture.makeWorkspace();
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
  assert.deepEqual(dataOf(reader.messages), await fixture.feedOf(key, 3));
  reader.close();
});
