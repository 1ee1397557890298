import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import { newId } from '../../runtime/ids.ts';
import type { Attempt } from '../deliveries/deliveries.ts';
import { keepPartitions } from '../deliveries/partitions.ts';
import { attemptDelivery } from './attempt.ts';
import { type ClaimedDelivery, type ClaimRequest, createQueue, mostAttempts, type Queue } from './queue.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let queueDatabase: Database;
let queue: Queue;
let workspaceId: string;
before(async () => {
  database = await openTestDatabase();
  queueDatabase = openDatabase({
    connection: () => ({ connectionString: database.url }),
    onError() {},
    indexOnly: true,
  });
  queue = createQueue(queueDatabase.pool);
  await keepPartitions(database.db, 90);
});
after(async () => {
  await queueDatabase.close();
  await database.close();
});
beforeEach(async () => {
  await database.pool.query('truncate webhook_deliveries, webhook_queue, webhook_endpoints, events');
  workspaceId = (await createWorkspace(database.db, { name: `Queue ${randomUUID()}` })).id;
});

async function makeEndpoint(enabled = true): Promise<string> {
  const id = newId('whe');
  await database.pool.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types, enabled, disabled_reason)
     values ($1, $2, 'https://example.org/', '{vault.deactivated}', $3, $4)`,
    [workspaceId, id, enabled, enabled ? null : 'owner'],
  );
  return id;
}

/** Each event creates a delivery to every endpoint. */
async function makeEvents(count: number, at = new Date()): Promise<void> {
  const data = { vault_id: 'vlt_1', address: '0x', deactivated_at: at.toISOString() };
  const one = () => eventWrite({ workspaceId, type: 'vault.deactivated', at, data });
  await insertAll(database.db, Array.from({ length: count }, one));
}

function claim(change: Partial<ClaimRequest> = {}, from = queue): Promise<ClaimedDelivery[]> {
  const usual = {
    nodeId: 1,
    leaseMs: 60_000,
    room: [],
    usual: 8,
    fullWorkspaces: [],
    waiting: [],
    limit: 1000,
  };
  return from.claim({ claimId: randomUUID(), ...usual, ...change });
}

/** Columns of the log, and of the queue if the delivery is in it. */
interface Row {
  id: string;
  status: string;
  attempts: Attempt[];
  attempt_count: number;
  queued: boolean;
  retrying: boolean | null;
  next_attempt_at: Date | null;
  claim_id: string | null;
  claimed_by: number | null;
  lease_until: Date | null;
}

async function rows(): Promise<Row[]> {
  const { rows } = await database.pool.query<Row>(
    `select d.id, d.status, d.attempts, d.attempt_count, q.delivery_id is not null as queued, q.retrying,
            q.next_attempt_at, q.claim_id, q.claimed_by, q.lease_until
     from webhook_deliveries d left join webhook_queue q on q.workspace_id = d.workspace_id and q.delivery_id = d.id
     order by d.id`,
  );
  return rows;
}

const change = (assignments: string) => database.pool.query(`update webhook_queue set ${assignments}`);

function attempt(number: number, statusCode = 204): Attempt {
  const at = new Date(1_700_000_000_000 + number * 1000).toISOString();
  return { number, at, durationMs: 12, statusCode, error: null, responseHeaders: {}, responseBody: '' };
}

const ids = (deliveries: ClaimedDelivery[]) => deliveries.map(({ id }) => id).sort();

test('only what is due is claimed, with all it takes to send it', async () => {
  const endpointId = await makeEndpoint();
  await makeEvents(1);
  await change("next_attempt_at = now() + interval '1 minute'");
  await makeEvents(1);
  const [only, ...more] = await claim({ claimId: 'claim-1', nodeId: 7 });
  assert.ok(only);
  assert.deepEqual(more, []);
  const { envelope } = (
    await database.pool.query('select envelope from events where id = $1', [only.eventId])
  ).rows[0];
  assert.equal(only.envelope, envelope);
  assert.equal(only.endpoint.workspaceId, workspaceId);
  assert.equal(only.attemptCount, 0);
  assert.equal(only.firstAttemptAt, null);
  assert.equal(only.claimId, 'claim-1');
  const { id, url, enabled } = only.endpoint;
  assert.deepEqual(
    { id, url, enabled },
    { id: endpointId, url: new URL('https://example.org/'), enabled: true },
  );
  const row = (await rows()).find((row) => row.id === only.id);
  assert.deepEqual(
    [row?.status, row?.queued, row?.claim_id, row?.claimed_by],
    ['pending', true, 'claim-1', 7],
  );
  assert.deepEqual(await claim(), [], 'claimed once, it is not claimed again');
});

test('each endpoint gives as many as it has room for, and all together no more than the limit', async () => {
  const [full, some, unnamed] = [await makeEndpoint(), await makeEndpoint(), await makeEndpoint()];
  await makeEvents(20);
  const room = [
    { endpointId: full, free: 0 },
    { endpointId: some, free: 3 },
  ];
  const claimed = await claim({ room, usual: 5 });
  const count = (id: string) => claimed.filter(({ endpoint }) => endpoint.id === id).length;
  assert.deepEqual([count(full), count(some), count(unnamed)], [0, 3, 5]);
  assert.equal((await claim({ usual: 100, limit: 7 })).length, 7);
});

test('first attempts go before retries, and among them what has waited longest', async () => {
  await makeEndpoint();
  const now = Date.now();
  for (const ago of [3000, 1000, 2000, 5000]) await makeEvents(1, new Date(now - ago));
  const oldest = (await claim({ usual: 1 }))[0];
  assert.equal(oldest?.createdAt.getTime(), now - 5000);
  await queue.complete([
    {
      delivery: oldest as ClaimedDelivery,
      status: 'pending',
      retryInMs: -4000,
      attempt: attempt(1, 500),
    },
  ]);
  const order: number[] = [];
  for (let turn = 0; turn < 4; turn += 1)
    for (const { createdAt } of await claim({ usual: 1 })) order.push(now - createdAt.getTime());
  assert.deepEqual(order, [3000, 2000, 1000, 5000]);
});

test('of many attempts the first and the newest are kept, and all are counted', async () => {
  await makeEndpoint();
  await makeEvents(1);
  for (let number = 1; number <= mostAttempts + 2; number += 1) {
    const [delivery] = await claim();
    assert.ok(delivery);
    await queue.complete([{ delivery, status: 'pending', retryInMs: -1, attempt: attempt(number, 500) }]);
  }
  const [row] = await rows();
  const newest = Array.from({ length: mostAttempts - 1 }, (_, place) => place + 4);
  assert.deepEqual(
    row?.attempts.map(({ number }) => number),
    [1, ...newest],
  );
  assert.equal(row?.attempt_count, mostAttempts + 2);
});

test('a backlog of one endpoint does not keep others waiting, nor does a full one cost a look at its rows', async () => {
  const busy = await makeEndpoint();
  await makeEvents(3000);
  const quiet = await makeEndpoint();
  await makeEvents(1);
  assert.ok(busy < quiet, 'the busy one comes first in every index');
  const claimed = await claim();
  assert.equal(claimed.filter(({ endpoint }) => endpoint.id === quiet).length, 1);
  assert.equal(claimed.filter(({ endpoint }) => endpoint.id === busy).length, 8);
});

test('nodes that claim at the same time never get the same delivery, and together get all', async () => {
  for (let endpoint = 0; endpoint < 5; endpoint += 1) await makeEndpoint();
  await makeEvents(200);
  const nodes = [1, 2, 3, 4];
  const claimSome = (nodeId: number) => claim({ nodeId, usual: 7, limit: 23 });
  // One concurrent round first, so that each node gets a share, even if one of them is much faster.
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

test('an expired claim goes to another node; the late result of the first is refused, that of the second taken', async () => {
  await makeEndpoint();
  await makeEvents(1);
  const [first] = await claim({ nodeId: 1 });
  assert.ok(first);
  assert.deepEqual(await claim({ nodeId: 2 }), [], 'not while the first has it');
  await change(`lease_until = now() - interval '1 second'`);
  const [second] = await claim({ nodeId: 2 });
  assert.equal(second?.id, first.id);
  const result = { status: 'succeeded' as const, retryInMs: null };
  const late = { ...result, delivery: first, attempt: attempt(1, 200) };
  assert.equal(await queue.complete([late]), 0);
  assert.deepEqual(
    (await rows()).map(({ status, attempts, claim_id }) => [status, attempts, claim_id]),
    [['pending', [], second?.claimId]],
  );
  const good = { ...result, delivery: second as ClaimedDelivery, attempt: attempt(1, 204) };
  assert.equal(await queue.complete([good]), 1);
  assert.equal(await queue.complete([late, good]), 0, 'nor after it is done');
  const [row] = await rows();
  assert.deepEqual(row?.attempts, [attempt(1, 204)]);
  assert.equal(row?.attempt_count, 1);
});

test('a late result is refused also where the row has come to lie in its old place again', async () => {
  await makeEndpoint();
  await makeEvents(1);
  const [first] = await claim({ nodeId: 1 });
  await change(`lease_until = now() - interval '1 second'`);
  const [second] = await claim({ nodeId: 2 });
  assert.ok(first && second);
  // PostgreSQL reuses the ctid of a row that no transaction sees any more.
  const late = { ...first, rowAt: second.rowAt };
  for (const status of ['succeeded', 'failed', 'pending'] as const) {
    const result = { delivery: late, status, retryInMs: status === 'pending' ? 1 : null };
    assert.equal(await queue.complete([{ ...result, attempt: attempt(1, 200) }]), 0, status);
  }
  assert.deepEqual(
    (await rows()).map(({ status, attempts, claim_id }) => [status, attempts, claim_id]),
    [['pending', [], second.claimId]],
  );
});

test('results are written down in batches, each attempt added to those before it', async () => {
  await makeEndpoint();
  await makeEvents(4);
  const claimed = await claim();
  const outcomes = ['succeeded', 'pending', 'failed', 'skipped'] as const;
  const taken = await queue.complete(
    claimed.map((delivery, index) => {
      const status = outcomes[index] ?? 'failed';
      return {
        delivery,
        status,
        retryInMs: status === 'pending' ? -1 : null,
        attempt: status === 'skipped' ? null : attempt(1),
      };
    }),
  );
  assert.equal(taken, 4);
  const by = new Map((await rows()).map((row) => [row.id, row]));
  for (const [index, { id }] of claimed.entries()) {
    const row = by.get(id);
    assert.ok(row);
    assert.equal(row.status, outcomes[index]);
    assert.equal(row.queued, row.status === 'pending');
    assert.equal(row.attempt_count, row.status === 'skipped' ? 0 : 1);
    assert.deepEqual(row.attempts, row.status === 'skipped' ? [] : [attempt(1)]);
    assert.deepEqual([row.claim_id, row.claimed_by, row.lease_until], [null, null, null]);
  }
  const [again] = await claim();
  assert.equal(again?.id, claimed[1]?.id);
  assert.equal(again?.attemptCount, 1);
  assert.equal(again?.firstAttemptAt?.toISOString(), attempt(1).at);
  await queue.complete([
    { delivery: again as ClaimedDelivery, status: 'pending', retryInMs: -1, attempt: attempt(2, 500) },
  ]);
  const [last] = await claim();
  assert.equal(last?.attemptCount, 2);
  assert.equal(last?.firstAttemptAt?.toISOString(), attempt(1).at, 'the first stays the first');
  await queue.complete([
    { delivery: last as ClaimedDelivery, status: 'failed', retryInMs: null, attempt: attempt(3, 500) },
  ]);
  const row = (await rows()).find(({ id }) => id === again?.id);
  assert.deepEqual(row?.attempts, [attempt(1), attempt(2, 500), attempt(3, 500)]);
  assert.deepEqual([row?.status, row?.attempt_count, row?.queued], ['failed', 3, false]);
  assert.deepEqual(await claim(), [], 'what is done is never claimed');
});

test('what is given back untried counts as no attempt, and keeps its place before retries', async () => {
  await makeEndpoint();
  await makeEvents(1);
  const [before] = await rows();
  const [delivery] = await claim();
  assert.ok(delivery);
  await queue.complete([{ delivery, status: 'pending', retryInMs: null, attempt: null }]);
  const [row] = await rows();
  assert.deepEqual([row?.status, row?.attempt_count, row?.retrying], ['pending', 0, false]);
  assert.deepEqual(row?.next_attempt_at, before?.next_attempt_at, 'it is due since when it was');
  assert.equal((await claim()).length, 1);
});

test('what was made while its endpoint was disabled is kept as skipped; what was waiting is claimed as not to be sent', async () => {
  const disabled = await makeEndpoint(false);
  const enabled = await makeEndpoint();
  await makeEvents(1);
  const kept = await rows();
  assert.deepEqual(kept.map(({ status, queued }) => `${status} ${queued}`).sort(), [
    'pending true',
    'skipped false',
  ]);
  // Disabled, and then deleted, by a commit that did not see the event.
  for (const assignment of ["enabled = false, disabled_reason = 'owner'", 'deleted_at = now()']) {
    await database.pool.query(`update webhook_endpoints set ${assignment} where id = $1`, [enabled]);
    const [claimed, ...more] = await claim();
    assert.deepEqual(more, []);
    assert.equal(claimed?.endpoint.id, enabled);
    assert.notEqual(claimed?.endpoint.id, disabled);
    assert.equal(claimed?.endpoint.enabled, false);
    await change('claim_id = null, claimed_by = null, lease_until = null');
  }
});

test('what is left of earlier days is claimed, and written down in the log of its own day', async () => {
  const dayMs = 24 * 60 * 60 * 1000;
  await makeEndpoint();
  const old = new Date(Date.now() - 5 * dayMs);
  await makeEvents(1, old);
  await makeEvents(1);
  const claimed = await claim();
  assert.deepEqual(
    claimed.map(({ createdAt }) => createdAt.getTime() === old.getTime()),
    [true, false],
  );
  const end = (delivery: ClaimedDelivery) =>
    ({ delivery, status: 'failed', retryInMs: null, attempt: attempt(1, 500) }) as const;
  assert.equal(await queue.complete(claimed.map(end)), 2);
  assert.deepEqual(
    (await rows()).map(({ status, attempts, queued }) => [status, attempts, queued]),
    [
      ['failed', [attempt(1, 500)], false],
      ['failed', [attempt(1, 500)], false],
    ],
  );
});

test('an event of another workspace with the same id is not the one that is sent', async () => {
  const makeTenant = async () => {
    workspaceId = (await createWorkspace(database.db, { name: `Queue ${randomUUID()}` })).id;
    await makeEndpoint();
    await database.pool.query(
      "insert into events (workspace_id, id, type, envelope) values ($1, 'evt_same', 'vault.deactivated', $2)",
      [workspaceId, `of ${workspaceId}`],
    );
  };
  await makeTenant();
  await makeTenant();
  const claimed = await claim();
  assert.equal(claimed.length, 2);
  for (const { envelope, endpoint } of claimed) assert.equal(envelope, `of ${endpoint.workspaceId}`);
});

test('a retry is due after so long by the clock of the database', async () => {
  await makeEndpoint();
  // Created by a node whose clock is an hour ahead.
  await makeEvents(1, new Date(Date.now() + 60 * 60 * 1000));
  const [delivery] = await claim();
  assert.ok(delivery, 'sent at once all the same');
  const asked = await database.pool.query('select clock_timestamp() as at');
  await queue.complete([{ delivery, status: 'pending', retryInMs: 60_000, attempt: attempt(1, 500) }]);
  const { rows } = await database.pool.query(
    `select next_attempt_at - interval '60 s' >= $1 as not_early, next_attempt_at - interval '60 s' <= now() as not_late
     from webhook_queue`,
    [asked.rows[0].at],
  );
  assert.deepEqual(rows, [{ not_early: true, not_late: true }]);
});

test('what changes in an endpoint reaches the deliveries of it that wait', async () => {
  const id = await makeEndpoint();
  await makeEvents(2);
  const [delivery] = await claim({ usual: 1 });
  assert.equal(delivery?.endpoint.enabled, true);
  await database.pool.query('update webhook_endpoints set deleted_at = now()');
  await claim({ room: [{ endpointId: id, free: 0 }], waiting: [id] });
  assert.equal(delivery?.endpoint.enabled, false);
});

for (const isSaved of [true, false]) {
  const outcome = isSaved ? 'stays disabled' : 'is asked again when that could not be saved';
  test(`an endpoint that answered 410 ${outcome}, whatever a look from before says`, async () => {
    const id = await makeEndpoint();
    await makeEvents(2);
    const [delivery] = await claim({ usual: 1 });
    assert.ok(delivery);
    const answer = { durationMs: 1, statusCode: 410, error: 'gone', responseHeaders: {}, responseBody: '' };
    const look = () => claim({ room: [{ endpointId: id, free: 0 }], waiting: [id] });
    const result = await attemptDelivery(
      {
        exchanger: { post: async () => ({ ...answer, retryAfter: null, cutOff: false }) } as never,
        retryStepsMs: [],
        signerOf: async () => () => ({}) as never,
        async onHealth() {
          // Reads the row before the change is committed.
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
    await database.pool.query('update webhook_endpoints set revision = revision + 1');
    await look();
    assert.equal(delivery.endpoint.enabled, true, 'enabled again by its owner');
  });
}

test('endpoints take turns: what one claim had no room for comes first in the next', async () => {
  const endpoints = [await makeEndpoint(), await makeEndpoint(), await makeEndpoint()];
  await makeEvents(20);
  const turns: string[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const claimed = await claim({ limit: 5, usual: 5 });
    assert.equal(claimed.length, 5);
    assert.equal(new Set(claimed.map(({ endpoint }) => endpoint.id)).size, 1);
    turns.push(claimed[0]?.endpoint.id ?? '');
  }
  assert.deepEqual(turns, [...endpoints, ...endpoints]);
});
