/** Replays through the API: what they pick, how they pace themselves, and that they survive what happens meanwhile. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { idBound } from '../../src/runtime/ids.ts';
import { createReplays } from '../../src/webhooks/replays/replays.ts';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { openTestDatabase, withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const base = '/api-v1/platform/webhooks';
let service: Service;
let receiver: Receiver;
let vault: string;
let begin: string;

before(async () => {
  service = await startService({
    env: {
      HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
      HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
      HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '20ms',
    },
  });
});
after(() => service.close());
beforeEach(async () => {
  receiver = await startReceiver();
  vault = (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json.address;
  begin = new Date().toISOString();
});
afterEach(async () => {
  for (const { id } of (await service.call('GET', `${base}/endpoints`)).json) {
    await service.call('DELETE', `${base}/endpoints/${id}`);
  }
  await receiver.close();
});

async function subscribe(body: object = {}): Promise<string> {
  const made = await service.call('POST', `${base}/endpoints`, {
    body: { url: receiver.url, eventTypes: ['vault.deactivated', 'vault.reactivated'], ...body },
  });
  assert.equal(made.status, 201, made.text);
  return made.json.id;
}

/** Alternates between the two events of a vault. */
async function makeEvents(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const action = made % 2 === 0 ? 'deactivate' : 'reactivate';
    const answer = await service.call('PATCH', `/api-v1/platform/vaults/${vault}/${action}`);
    assert.equal(answer.status, 200, answer.text);
  }
}

const range = (more: object = {}) => ({
  from: begin,
  to: new Date(Date.now() + 1000).toISOString(),
  ...more,
});
const replay = (endpointId: string, more: object = {}) =>
  service.call('POST', `${base}/endpoints/${endpointId}/replay`, { body: range(more) });
const countOf = async (endpointId: string, more: object = {}) => {
  const answer = await replay(endpointId, { dryRun: true, ...more });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.count as number;
};
const deliveriesOf = async (endpointId: string, more = '') =>
  (await service.call('GET', `${base}/deliveries?endpointId=${endpointId}${more}`)).json.filter(
    ({ type }: { type: string }) => type !== 'webhook.test',
  );
const ended = (id: string) =>
  waitUntil(async () => {
    const { json } = await service.call('GET', `${base}/replays/${id}`);
    return json.status === 'completed' || json.status === 'cancelled' ? json : null;
  });
const eventsReceived = () =>
  receiver.received
    .map(({ body }) => JSON.parse(body))
    .filter(({ type }) => type !== 'webhook.test')
    .map(({ id }) => id as string);

test('sends failed deliveries again, once, and logs them beside the first ones', async () => {
  const endpointId = await subscribe();
  receiver.answer = (response) => response.writeHead(500).end();
  await makeEvents(4);
  await waitUntil(async () => (await deliveriesOf(endpointId, '&status=failed')).length === 4);
  receiver.answer = (response) => response.writeHead(204).end();
  receiver.received.length = 0;

  assert.equal(await countOf(endpointId), 4);
  assert.equal(await countOf(endpointId, { status: 'failed' }), 4);
  assert.equal(await countOf(endpointId, { status: 'succeeded' }), 0);
  assert.equal(await countOf(endpointId, { status: 'failed', types: ['vault.deactivated'] }), 2);
  assert.deepEqual(receiver.received, [], 'a dry run sends nothing');

  const started = await replay(endpointId, { status: 'failed' });
  assert.equal(started.status, 202, started.text);
  assert.equal(started.json.total, 4);
  const done = await ended(started.json.id);
  assert.deepEqual(
    [done.status, done.total, done.enqueued, done.succeeded, done.failed, done.skipped],
    ['completed', 4, 4, 4, 0, 0],
  );
  assert.ok(done.finishedAt);
  const log = await deliveriesOf(endpointId);
  const again = log.filter(({ replayId }: { replayId: string }) => replayId === started.json.id);
  assert.equal(log.length, 8);
  assert.equal(again.length, 4);
  assert.deepEqual(
    eventsReceived().sort(),
    again.map(({ eventId }: { eventId: string }) => eventId).sort(),
    'each event once',
  );
  assert.equal(
    await countOf(endpointId, { status: 'failed' }),
    0,
    'the last delivery of each is a success now',
  );
  assert.equal(await countOf(endpointId, { status: 'succeeded' }), 4);
});

test('an endpoint created later can get earlier events', async () => {
  await makeEvents(3);
  const endpointId = await subscribe({ eventTypes: ['vault.deactivated'] });
  assert.equal(await countOf(endpointId), 2);
  assert.equal(await countOf(endpointId, { types: ['vault.reactivated'] }), 1);
  const { json } = await replay(endpointId);
  assert.equal((await ended(json.id)).succeeded, 2);
  assert.equal(eventsReceived().length, 2);
});

test('deliveries skipped while the endpoint was disabled are kept and can be replayed', async () => {
  const endpointId = await subscribe({ enabled: false });
  await makeEvents(2);
  assert.equal((await deliveriesOf(endpointId, '&status=skipped')).length, 2);
  const refused = await replay(endpointId, { status: 'skipped' });
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.json.message, /Enable it first/);
  await service.call('PATCH', `${base}/endpoints/${endpointId}`, { body: { enabled: true } });
  const { json } = await replay(endpointId, { status: 'skipped' });
  assert.equal((await ended(json.id)).succeeded, 2);
  assert.equal(eventsReceived().length, 2);
});

test('a replay with failures ends as completed and says how many failed', async () => {
  const endpointId = await subscribe();
  await makeEvents(2);
  await waitUntil(() => eventsReceived().length === 2);
  receiver.answer = (response) => response.writeHead(500).end();
  const { json } = await replay(endpointId);
  const done = await ended(json.id);
  assert.deepEqual([done.status, done.succeeded, done.failed], ['completed', 0, 2]);
});

/** Nobody who asks for an event gets an answer until it is released; tests of the endpoint do. */
function holdAnswers(): { release(): void } {
  const held: (() => void)[] = [];
  let holding = true;
  receiver.answer = (response, { body }) => {
    const answer = () => response.writeHead(204).end();
    if (holding && JSON.parse(body).type !== 'webhook.test') held.push(answer);
    else answer();
  };
  return {
    release() {
      holding = false;
      for (const answer of held) answer();
    },
  };
}

test('a cancelled replay sends nothing more, and deleting an endpoint cancels its replays', async () => {
  const endpointId = await subscribe();
  await makeEvents(4);
  await waitUntil(() => eventsReceived().length === 4);
  // At one a second a node takes no more than one at a time, from the first on that it takes at this rate.
  await service.call('PATCH', `${base}/endpoints/${endpointId}`, { body: { rateLimit: 1 } });
  await makeEvents(1);
  await waitUntil(() => eventsReceived().length === 5);
  for (const end of ['cancel', 'delete']) {
    receiver.received.length = 0;
    // The one waits for its answer, so that no replay gets to its end by itself.
    const { release } = holdAnswers();
    const { json } = await replay(endpointId);
    await waitUntil(() => eventsReceived().length > 0);
    if (end === 'cancel') {
      const cancel = () => service.call('DELETE', `${base}/replays/${json.id}`);
      assert.equal((await cancel()).status, 204);
      assert.equal((await cancel()).status, 204, 'a repeat is fine');
    } else {
      await service.call('DELETE', `${base}/endpoints/${endpointId}`);
    }
    assert.equal((await ended(json.id)).status, 'cancelled');
    release();
    await waitUntil(async () => {
      const all = await deliveriesOf(endpointId);
      return !all.some(({ status }: { status: string }) => status === 'pending' || status === 'delivering');
    });
    assert.equal(new Set(eventsReceived()).size, 1, 'the one that was being sent');
  }
});

test('pauses a replay while its endpoint is disabled, and continues when it is enabled', async () => {
  const endpointId = await subscribe({ rateLimit: 5 });
  await makeEvents(6);
  await waitUntil(() => eventsReceived().length === 6);
  const { release } = holdAnswers();
  const { json } = await replay(endpointId);
  await service.call('PATCH', `${base}/endpoints/${endpointId}`, { body: { enabled: false } });
  const paused = (await service.call('GET', `${base}/replays/${json.id}`)).json;
  assert.equal(paused.status, 'paused');
  release();
  await service.call('PATCH', `${base}/endpoints/${endpointId}`, {
    body: { enabled: true, rateLimit: null },
  });
  const done = await ended(json.id);
  assert.equal(done.status, 'completed');
  assert.equal(done.enqueued, 6);
  assert.equal(done.succeeded + done.skipped, 6);
});

test('a range must begin before it ends, and an unknown endpoint or replay is 404', async () => {
  const endpointId = await subscribe();
  const turned = await replay(endpointId, { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' });
  assert.equal(turned.status, 400);
  assert.equal(turned.json.errorCode, 'invalid_date_range');
  assert.equal((await replay('whe_nobody')).status, 404);
  assert.equal((await service.call('GET', `${base}/replays/rpl_nobody`)).status, 404);
  assert.equal((await service.call('DELETE', `${base}/replays/rpl_nobody`)).status, 404);
});

test('the same idempotency key starts one replay', async () => {
  const endpointId = await subscribe();
  await makeEvents(1);
  const body = range();
  const ask = () =>
    service.call('POST', `${base}/endpoints/${endpointId}/replay`, {
      body,
      headers: { 'idempotency-key': 'one' },
    });
  const [first, second] = [await ask(), await ask()];
  assert.equal(first.status, 202);
  assert.equal(second.json.id, first.json.id);
});

test('batches respect the rate limit, and two nodes make each delivery once, whichever continues', async () => {
  const database = await openTestDatabase();
  const quiet = await startService({ databaseUrl: database.url, runLoops: false });
  try {
    const events = 9;
    await withClient({ connectionString: database.url }, async (client) => {
      await client.query(`
        insert into webhook_endpoints (workspace_id, id, url, event_types, rate_limit)
        select id, 'whe_1', 'https://example.org/', '{vault.deactivated}', 20 from workspaces`);
      // Another workspace's events are never looked at.
      await client.query("insert into workspaces (id, name, slug) values ('ws_other', 'other', 'other')");
      await client.query(
        `insert into events (workspace_id, id, type, envelope, created_at)
         select w.id, $2 || lpad(n::text, 16, '0'), 'vault.deactivated', '{}', '2025-12-27T00:00:00Z'::timestamptz
         from generate_series(1, $1) as n, workspaces w`,
        [events, idBound('evt', new Date('2025-12-27T00:00:00Z'))],
      );
      await client.query("update webhook_deliveries set status = 'failed'");
      await client.query('delete from webhook_queue');
    });
    const started = await quiet.call('POST', `${base}/endpoints/whe_1/replay`, {
      body: { from: '2025-12-26T00:00:00Z', to: '2025-12-28T00:00:00Z', status: 'failed' },
    });
    assert.equal(started.json.total, events, started.text);
    let wakeups = 0;
    const wakeup = { wake: () => (wakeups += 1) };
    const nodes = [1, 2].map(() => createReplays({ db: database.db, wakeup, deliveryWakeup: wakeup }));
    // Each is due when its batch was committed, by the clock of the database; nobody sends them, so all of them wait.
    const queued = () =>
      withClient({ connectionString: database.url }, async (client) => {
        const { rows } = await client.query<{ event_id: string; due: string }>(
          `select event_id, extract(epoch from next_attempt_at) * 1000000 as due from webhook_queue
           where replay_id is not null order by next_attempt_at`,
        );
        return rows;
      });
    const made = await waitUntil(async () => {
      await Promise.all(nodes.map((node) => node.advance()));
      const rows = await queued();
      return rows.length >= events ? rows : null;
    });
    assert.equal(new Set(made.map(({ event_id }) => event_id)).size, events);
    const batches = [...Map.groupBy(made, ({ due }) => Number(due))];
    assert.deepEqual(
      batches.map(([, { length }]) => length),
      [4, 4, 1],
      '20 a second are 4 a fifth of a second',
    );
    for (const [place, [due]] of batches.slice(1).entries()) {
      const before = batches[place]?.[0] ?? 0;
      assert.ok(due - before >= 200_000, `${due - before} µs between two batches`);
    }
    assert.ok(wakeups > 0);
  } finally {
    await quiet.close();
    await database.close();
  }
});

test('patterns and a filter choose what an endpoint gets, as it happens and from a replay', async () => {
  await makeEvents(2);
  const filter = 'type == "vault.reactivated" and startsWith(data.vault_id, "vlt_")';
  const endpointId = await subscribe({ eventTypes: ['vault.*'], filter });
  assert.equal(await countOf(endpointId), 1);
  assert.equal(await countOf(endpointId, { types: ['*'] }), 1);
  assert.equal(await countOf(endpointId, { types: ['vault.deactivated'] }), 0);
  const { json } = await replay(endpointId);
  assert.deepEqual(json.range.types, ['vault.deactivated', 'vault.reactivated']);
  assert.equal((await ended(json.id)).succeeded, 1);
  await makeEvents(2);
  await waitUntil(() => eventsReceived().length === 2);
  assert.equal((await deliveriesOf(endpointId)).length, 2, 'what is filtered makes no delivery');
  const changed = await service.call('PATCH', `${base}/endpoints/${endpointId}`, { body: { filter: null } });
  assert.equal(changed.json.filter, null, changed.text);
  await makeEvents(2);
  await waitUntil(() => eventsReceived().length === 4);

  const refused = await service.call('PATCH', `${base}/endpoints/${endpointId}`, {
    body: { filter: 'data.vault == "vlt_1"' },
  });
  assert.equal(refused.status, 400);
  assert.equal(refused.json.message, 'filter: column 1: No event has the field data.vault.');
  const unknown = await service.call('PATCH', `${base}/endpoints/${endpointId}`, {
    body: { eventTypes: ['vaults.*'] },
  });
  assert.equal(unknown.status, 400);
});
