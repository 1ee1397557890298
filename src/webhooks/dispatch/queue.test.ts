/** What is claimed from the queue of deliveries: what is due, in fair turns, never by two nodes at once. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
  attempt,
  openQueueFixture,
  type QueueFixture,
} from '../../../test/support/fixtures/webhook-queue-fixture.ts';
import { attemptDelivery } from './attempt.ts';
import type { ClaimedDelivery } from './queue.ts';

let fixture: QueueFixture;
before(async () => {
  fixture = await openQueueFixture();
});
after(() => fixture.close());
beforeEach(() => fixture.clear());

const ids = (deliveries: ClaimedDelivery[]) => deliveries.map(({ id }) => id).sort();

test('claims only what is due, with everything needed to send it', async () => {
  const endpointId = await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  await fixture.change("next_attempt_at = now() + interval '1 minute'");
  await fixture.makeEvents(1);
  const [only, ...more] = await fixture.claim({ claimId: 'claim-1', nodeId: 7 });
  assert.ok(only);
  assert.deepEqual(more, []);
  const { envelope } = (await fixture.pool.query('select envelope from events where id = $1', [only.eventId]))
    .rows[0];
  assert.equal(only.envelope, envelope);
  assert.equal(only.endpoint.workspaceId, fixture.workspaceId());
  assert.equal(only.attemptCount, 0);
  assert.equal(only.firstAttemptAt, null);
  assert.equal(only.claimId, 'claim-1');
  const { id, url, enabled } = only.endpoint;
  assert.deepEqual(
    { id, url, enabled },
    { id: endpointId, url: new URL('https://example.org/'), enabled: true },
  );
  const row = (await fixture.rows()).find((row) => row.id === only.id);
  assert.deepEqual(
    [row?.status, row?.queued, row?.claim_id, row?.claimed_by],
    ['pending', true, 'claim-1', 7],
  );
  assert.deepEqual(await fixture.claim(), [], 'claimed once, it is not claimed again');
});

test('knows when the next delivery is due', async () => {
  assert.equal(await fixture.queue.nextDueMs(), null);
  await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  assert.equal(await fixture.queue.nextDueMs(), 0);
  const [delivery] = await fixture.claim();
  assert.ok(delivery);
  assert.equal(await fixture.queue.nextDueMs(), 0, 'it is being sent');
  await fixture.queue.complete([{ delivery, status: 'pending', retryInMs: 60_000, attempt: attempt(1) }]);
  const dueInMs = (await fixture.queue.nextDueMs()) ?? 0;
  assert.ok(dueInMs > 30_000 && dueInMs <= 60_000, `${dueInMs} ms`);
  await fixture.makeEvents(1);
  assert.equal(await fixture.queue.nextDueMs(), 0);
});

test('claims as many from each endpoint as it has room for, and in total at most the limit', async () => {
  const [full, some, unnamed] = [
    await fixture.makeEndpoint(),
    await fixture.makeEndpoint(),
    await fixture.makeEndpoint(),
  ];
  await fixture.makeEvents(20);
  const room = [
    { endpointId: full, free: 0 },
    { endpointId: some, free: 3 },
  ];
  const claimed = await fixture.claim({ room, usual: 5 });
  const count = (id: string) => claimed.filter(({ endpoint }) => endpoint.id === id).length;
  assert.deepEqual([count(full), count(some), count(unnamed)], [0, 3, 5]);
  assert.equal((await fixture.claim({ usual: 100, limit: 7 })).length, 7);
});

test('claims first attempts before retries, and the longest waiting first', async () => {
  await fixture.makeEndpoint();
  const now = Date.now();
  for (const ago of [3000, 1000, 2000, 5000]) await fixture.makeEvents(1, new Date(now - ago));
  const oldest = (await fixture.claim({ usual: 1 }))[0];
  assert.equal(oldest?.createdAt.getTime(), now - 5000);
  await fixture.queue.complete([
    {
      delivery: oldest as ClaimedDelivery,
      status: 'pending',
      retryInMs: -4000,
      attempt: attempt(1, 500),
    },
  ]);
  const order: number[] = [];
  for (let turn = 0; turn < 4; turn += 1)
    for (const { createdAt } of await fixture.claim({ usual: 1 })) order.push(now - createdAt.getTime());
  assert.deepEqual(order, [3000, 2000, 1000, 5000]);
});

test('the backlog of one endpoint does not delay others, and the rows of a full one are not read', async () => {
  const busy = await fixture.makeEndpoint();
  await fixture.makeEvents(3000);
  const quiet = await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  assert.ok(busy < quiet, 'the busy one comes first in every index');
  const claimed = await fixture.claim();
  assert.equal(claimed.filter(({ endpoint }) => endpoint.id === quiet).length, 1);
  assert.equal(claimed.filter(({ endpoint }) => endpoint.id === busy).length, 8);
});

test('nodes that claim concurrently never get the same delivery, and together get all', async () => {
  for (let endpoint = 0; endpoint < 5; endpoint += 1) await fixture.makeEndpoint();
  await fixture.makeEvents(200);
  const nodes = [1, 2, 3, 4];
  const claimSome = (nodeId: number) => fixture.claim({ nodeId, usual: 7, limit: 23 });
  // Once side by side, so that each has a part in it, however much faster one of them may be.
  const shares = (await Promise.all(nodes.map(claimSome))).map(ids);
  assert.ok(shares.every((share) => share.length > 0));
  const work = async (nodeId: number) => {
    const mine: string[] = [];
    for (let empty = 0; empty < 3; ) {
      const claimed = await claimSome(nodeId);
      mine.push(...ids(claimed));
      empty = claimed.length === 0 ? empty + 1 : 0;
    }
    return mine;
  };
  shares.push(...(await Promise.all(nodes.map(work))));
  assert.equal(shares.flat().length, 1000);
  assert.equal(new Set(shares.flat()).size, 1000);
});

test('skips new deliveries to a disabled endpoint, and claims waiting ones as not to be sent', async () => {
  const disabled = await fixture.makeEndpoint(false);
  const enabled = await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  const kept = await fixture.rows();
  assert.deepEqual(kept.map(({ status, queued }) => `${status} ${queued}`).sort(), [
    'pending true',
    'skipped false',
  ]);
  // Disabled by a commit that did not see the event, and deleted the same way.
  for (const assignment of ["enabled = false, disabled_reason = 'owner'", 'deleted_at = now()']) {
    await fixture.pool.query(`update webhook_endpoints set ${assignment} where id = $1`, [enabled]);
    const [claimed, ...more] = await fixture.claim();
    assert.deepEqual(more, []);
    assert.equal(claimed?.endpoint.id, enabled);
    assert.notEqual(claimed?.endpoint.id, disabled);
    assert.equal(claimed?.endpoint.enabled, false);
    await fixture.change('claim_id = null, claimed_by = null, lease_until = null');
  }
});

test('never sends an event of another workspace with the same id', async () => {
  const makeTenant = async () => {
    const workspaceId = await fixture.newWorkspace();
    await fixture.makeEndpoint();
    await fixture.pool.query(
      "insert into events (workspace_id, id, type, envelope) values ($1, 'evt_same', 'vault.deactivated', $2)",
      [workspaceId, `of ${workspaceId}`],
    );
  };
  await makeTenant();
  await makeTenant();
  const claimed = await fixture.claim();
  assert.equal(claimed.length, 2);
  for (const { envelope, endpoint } of claimed) assert.equal(envelope, `of ${endpoint.workspaceId}`);
});

test('a change of an endpoint reaches its waiting deliveries', async () => {
  const id = await fixture.makeEndpoint();
  await fixture.makeEvents(2);
  const [delivery] = await fixture.claim({ usual: 1 });
  assert.equal(delivery?.endpoint.enabled, true);
  await fixture.pool.query('update webhook_endpoints set deleted_at = now()');
  await fixture.claim({ room: [{ endpointId: id, free: 0 }], waiting: [id] });
  assert.equal(delivery?.endpoint.enabled, false);
});

for (const isSaved of [true, false]) {
  const outcome = isSaved ? 'stays disabled' : 'is asked again when that could not be saved';
  test(`an endpoint that answered 410 ${outcome}, whatever an earlier read says`, async () => {
    const id = await fixture.makeEndpoint();
    await fixture.makeEvents(2);
    const [delivery] = await fixture.claim({ usual: 1 });
    assert.ok(delivery);
    const answer = { durationMs: 1, statusCode: 410, error: 'gone', responseHeaders: {}, responseBody: '' };
    const look = () => fixture.claim({ room: [{ endpointId: id, free: 0 }], waiting: [id] });
    const result = await attemptDelivery(
      {
        exchanger: { post: async () => ({ ...answer, retryAfter: null, cutOff: false }) } as never,
        retryStepsMs: [],
        senderOf: async () => ({ sign: () => ({}), client: null }),
        async onHealth() {
          // Sees the row as it was, before the change is committed.
          await look();
          assert.equal(delivery.endpoint.enabled, false);
          if (!isSaved) throw new Error('away');
        },
        log: { error() {} },
      },
      delivery,
    );
    assert.equal(result.status, 'failed');
    assert.equal(delivery.endpoint.enabled, !isSaved);
    await fixture.pool.query('update webhook_endpoints set revision = revision + 1');
    await look();
    assert.equal(delivery.endpoint.enabled, true, 'enabled again by its owner');
  });
}

test('endpoints take turns: those that a claim had no room for come first in the next', async () => {
  const endpoints = [
    await fixture.makeEndpoint(),
    await fixture.makeEndpoint(),
    await fixture.makeEndpoint(),
  ];
  await fixture.makeEvents(20);
  const turns: string[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const claimed = await fixture.claim({ limit: 5, usual: 5 });
    assert.equal(claimed.length, 5);
    assert.equal(new Set(claimed.map(({ endpoint }) => endpoint.id)).size, 1);
    turns.push(claimed[0]?.endpoint.id ?? '');
  }
  assert.deepEqual(turns, [...endpoints, ...endpoints]);
});
