/** The claim statement: its cost, the share of retries, and deliveries that cannot be sent. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { Pool } from 'pg';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { type Database, indexOnly, openDatabase } from '../../db/database.ts';
import { newId } from '../../runtime/ids.ts';
import { keepPartitions } from '../deliveries/partitions.ts';
import { putInAgain } from '../deliveries/queue-admin.ts';
import type { Outcome } from '../exchange/exchange.ts';
import { attemptDelivery } from './attempt.ts';
import { type ClaimedDelivery, type ClaimRequest, createQueue, type Queue } from './queue.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let queueDatabase: Database;
let queue: Queue;
let workspaceId: string;
before(async () => {
  database = await openTestDatabase({ fresh: true });
  const connection = () => ({ connectionString: database.url });
  queueDatabase = openDatabase({ connection, onError() {}, settings: indexOnly });
  queue = createQueue(queueDatabase.pool);
  await keepPartitions(database.db, 90);
});
after(async () => {
  await queueDatabase.close();
  await database.close();
});
beforeEach(async () => {
  await database.pool.query(
    'truncate webhook_deliveries, webhook_queue, webhook_portal_links, webhook_endpoints, events',
  );
  workspaceId = (await createWorkspace(database.db, { name: `Claim ${randomUUID()}` })).id;
});

async function makeEndpoints(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('whe')).sort();
  await database.pool.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types)
     select $1, id, 'https://example.org/', '{vault.deactivated}' from unnest($2::text[]) as id`,
    [workspaceId, ids],
  );
  return ids;
}

async function makeEvents(count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('evt'));
  await database.pool.query(
    `insert into events (workspace_id, id, type, envelope)
     select $1, id, 'vault.deactivated', '{}' from unnest($2::text[]) as id`,
    [workspaceId, ids],
  );
}

function claim(change: Partial<ClaimRequest> = {}, from = queue): Promise<ClaimedDelivery[]> {
  const request = { nodeId: 1, leaseMs: 60_000, room: [], usual: 8, fullWorkspaces: [], waiting: [] };
  return from.claim({ claimId: randomUUID(), limit: 1000, ...request, ...change });
}

const change = (assignments: string) => database.pool.query(`update webhook_queue set ${assignments}`);

/** The number of index scans of the queue that the claim makes. */
async function countLooks(work: (pool: Pool) => Promise<unknown>): Promise<number> {
  const client = await queueDatabase.pool.connect();
  try {
    await client.query('begin');
    await work(client as unknown as Pool);
    const { rows } = await client.query(
      "select idx_scan from pg_stat_xact_user_tables where relname = 'webhook_queue'",
    );
    await client.query('rollback');
    return rows[0].idx_scan;
  } finally {
    client.release();
  }
}

test('endpoints with nothing due cost a claim nothing, however many there are', async () => {
  const ids = await makeEndpoints(3000);
  await makeEvents(1);
  await change("asleep = true, retrying = true, next_attempt_at = now() + interval '1 hour'");
  const room = ids.map((endpointId) => ({ endpointId, free: 8 }));
  const looks = await countLooks(async (pool) =>
    assert.deepEqual(await claim({ room }, createQueue(pool)), []),
  );
  assert.ok(looks <= 10, `${looks} looks`);
  await database.pool.query('update webhook_queue set next_attempt_at = now() where endpoint_id = $1', [
    ids[7],
  ]);
  assert.deepEqual(
    (await claim({ room })).map(({ endpoint }) => endpoint.id),
    [ids[7]],
  );
});

test('a claim examines a limited number of endpoints, and the next claims continue with the others', async () => {
  const ids = await makeEndpoints(250);
  await makeEvents(1);
  const looks = await countLooks((pool) => claim({ usual: 0 }, createQueue(pool, 100)));
  assert.ok(looks <= 350, `${looks} looks`);
  const stepwise = createQueue(queueDatabase.pool, 100);
  const got: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    for (const { endpoint } of await claim({}, stepwise)) got.push(endpoint.id);
    assert.equal(stepwise.isMidRound(), turn < 2);
  }
  assert.deepEqual(got.sort(), ids);
});

test("overdue retries get a quarter of a receiver's capacity, behind any number of first attempts", async () => {
  await makeEndpoints(1);
  await makeEvents(40);
  await change("retrying = true, next_attempt_at = now() - interval '1 minute'");
  await makeEvents(400);
  const retries = (await claim({ usual: 16 })).filter(({ lateMs }) => lateMs >= 60_000);
  assert.ok(retries.length === 4 || retries.length === 5, `${retries.length} of 16`);
  // One at a time, as with a rate limit: retries get a quarter of the turns, so 200 turns without one do not happen.
  let turns = 0;
  for (let late = 0; late < 60_000; turns += 1) {
    assert.ok(turns < 200, 'retries never get their turn');
    late = (await claim({ usual: 1 }))[0]?.lateMs ?? 0;
  }
});

const answered = (statusCode: number): Outcome => ({
  durationMs: 1,
  statusCode,
  error: statusCode < 300 ? null : `The receiver answered ${statusCode}.`,
  responseHeaders: {},
  responseBody: '',
  retryAfter: null,
  cutOff: false,
});

const stepsMs = [30_000, 300_000, 1_800_000];

async function fail(delivery: ClaimedDelivery) {
  const result = await attemptDelivery(
    {
      exchanger: { post: async () => answered(500), close: async () => {} },
      retryStepsMs: stepsMs,
      senderOf: async () => ({ sign: () => ({}), client: null }),
      onHealth: async () => {},
      log: { error: () => assert.fail() },
    },
    delivery,
  );
  assert.equal(await queue.complete([result]), 1);
  return result;
}

async function state() {
  const { rows } = await database.pool.query(
    `select d.id, d.status, d.attempt_count, (d.first_attempt is not null)::integer + jsonb_array_length(d.attempts) as attempts, q.next_attempt_at, q.asleep
     from webhook_deliveries d left join webhook_queue q on q.delivery_id = d.id`,
  );
  return rows[0];
}

test('manual retries do not use up or change the schedule', async () => {
  await makeEndpoints(1);
  await makeEvents(1);
  const [first] = await claim();
  assert.ok(first);
  await fail(first);
  const { next_attempt_at: planned } = await state();
  for (let click = 0; click < 5; click += 1) {
    await putInAgain(database.db, workspaceId, first.id);
    await putInAgain(database.db, workspaceId, first.id);
    const [again] = await claim();
    assert.equal(again?.byHand, true);
    await fail(again);
    const now = await state();
    assert.deepEqual([now.status, now.asleep, now.next_attempt_at], ['pending', true, planned]);
    assert.deepEqual([now.attempt_count, now.attempts], [click + 2, click + 2]);
  }
  // The schedule itself continues with its second step, and ends after its last.
  for (const [step, status] of ['pending', 'pending', 'failed'].entries()) {
    await change('next_attempt_at = now()');
    const [next] = await claim();
    assert.equal(next?.byHand, false);
    const { status: told, retryInMs } = await fail(next);
    assert.equal(told, status);
    if (told === 'pending') assert.ok((retryInMs ?? 0) >= 0.8 * (stepsMs[step + 1] ?? 0));
  }
  assert.equal((await state()).attempts, 9);
});

test('a delivery does not fail because of our own delay', async () => {
  await makeEndpoints(1);
  await makeEvents(1);
  const [first] = await claim();
  assert.ok(first);
  await fail(first);
  // Its retry was due 30 hours ago, and no node made it.
  await change(
    "next_attempt_at = now() - interval '30 hours', first_attempt_at = now() - interval '30 hours 1 minute'",
  );
  const [second] = await claim();
  assert.ok(second);
  assert.equal((await fail(second)).status, 'pending');
  await change('next_attempt_at = now()');
  const [third] = await claim();
  assert.ok(third && third.lateMs >= 30 * 3_600_000, 'it is remembered');
  assert.equal((await fail(third)).status, 'pending');
  // A receiver that used up the time itself gets no more.
  await change(
    "next_attempt_at = now(), late_ms = 0, attempt_count = 2, first_attempt_at = now() - interval '25 hours'",
  );
  const [last] = await claim();
  assert.ok(last);
  assert.equal((await fail(last)).status, 'failed');
});

test('fails a delivery whose envelope is gone, instead of claiming it forever', async () => {
  await makeEndpoints(1);
  await makeEvents(2);
  await database.pool.query('delete from events where id = (select min(id) from events)');
  assert.equal((await claim()).length, 1);
  const { rows } = await database.pool.query(
    'select status, (select count(*)::integer from webhook_queue q where q.delivery_id = d.id) as queued from webhook_deliveries d order by id',
  );
  assert.deepEqual(rows.map(({ status, queued }) => `${status} ${queued}`).sort(), ['failed 0', 'pending 1']);
});

test('claims nothing from a workspace that has enough in hand, from any of its endpoints', async () => {
  await makeEndpoints(1);
  await makeEvents(3);
  const busy = workspaceId;
  workspaceId = (await createWorkspace(database.db, { name: `Claim ${randomUUID()}` })).id;
  const [other] = await makeEndpoints(1);
  await makeEvents(1);
  const claimed = await claim({ fullWorkspaces: [busy] });
  assert.deepEqual(
    claimed.map(({ endpoint }) => endpoint.id),
    [other],
  );
  assert.equal((await claim()).length, 3);
});
