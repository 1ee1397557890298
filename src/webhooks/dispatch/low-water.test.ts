/** The low-water mark of the delivery queue, with an old snapshot open. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg, { type Pool } from 'pg';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { type Database, indexOnly, openDatabase } from '../../db/database.ts';
import { newId } from '../../runtime/ids.ts';
import { keepPartitions } from '../deliveries/partitions.ts';
import { fewDone, lowWaterText } from './low-water.ts';
import { type ClaimedDelivery, createQueue, type Queue } from './queue.ts';

const endpoints = 12;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let queueDatabase: Database;
let workspaceId: string;
before(async () => {
  database = await openTestDatabase({ fresh: true });
  const connection = () => ({ connectionString: database.url });
  queueDatabase = openDatabase({ connection, onError() {}, settings: indexOnly });
  await keepPartitions(database.db, 90);
  workspaceId = (await createWorkspace(database.db, { name: 'Low water' })).id;
  await database.pool.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types)
     select $1, id, 'https://example.org/', '{vault.deactivated}' from unnest($2::text[]) as id`,
    [workspaceId, Array.from({ length: endpoints }, () => newId('whe'))],
  );
});
after(async () => {
  await queueDatabase.close();
  await database.close();
});

async function makeEvents(count: number): Promise<void> {
  await database.pool.query(
    `insert into events (workspace_id, id, type, envelope)
     select $1, id, 'vault.deactivated', '{}' from unnest($2::text[]) as id`,
    [workspaceId, Array.from({ length: count }, () => newId('evt'))],
  );
}

function claim(queue: Queue): Promise<ClaimedDelivery[]> {
  const request = { nodeId: 1, leaseMs: 60_000, room: [], usual: 8, fullWorkspaces: [], waiting: [] };
  return queue.claim({ claimId: randomUUID(), limit: 1000, ...request });
}

test('a claim reads nothing that is done, however much an old snapshot keeps in the index', async () => {
  await makeEvents(500);
  // Not an update: a transaction in another database may keep entries of the old row versions, which were due just now.
  await database.pool.query(`
    create temporary table waiting as select * from webhook_queue;
    update waiting set next_attempt_at = now() - interval '1 hour';
    truncate webhook_queue;
    insert into webhook_queue select * from waiting;
    drop table waiting`);
  const snapshot = new pg.Client({ connectionString: database.url });
  await snapshot.connect();
  try {
    await snapshot.query('begin isolation level repeatable read');
    await snapshot.query('select count(*) from webhook_queue');
    await database.pool.query('delete from webhook_queue');
    await waitUntil(async () => {
      await database.pool.query('select pg_stat_force_next_flush()');
      const { rows } = await database.pool.query(
        "select pg_stat_get_dead_tuples('webhook_queue'::regclass) as done",
      );
      return rows[0].done > fewDone;
    });
    const client = await queueDatabase.pool.connect();
    try {
      await client.query('begin');
      const entries = async (): Promise<number> => {
        const { rows } = await client.query(
          "select pg_stat_get_xact_tuples_returned('webhook_queue_due'::regclass) as count",
        );
        return rows[0].count;
      };
      const held = createQueue(client as unknown as Pool);
      // Determines the low-water mark, which is done only once in a while.
      assert.deepEqual(await claim(held), []);
      const before = await entries();
      assert.deepEqual(await claim(held), []);
      const looked = (await entries()) - before;
      assert.ok(looked <= 10, `${looked} entries were looked at, and nothing is due`);
    } finally {
      await client.query('rollback');
      client.release();
    }
    const queue = createQueue(queueDatabase.pool);
    assert.deepEqual(await claim(queue), []);
    await makeEvents(2);
    assert.equal((await claim(queue)).length, 2 * endpoints, 'what comes in is due');
  } finally {
    await snapshot.end();
  }
});

test('deliveries that have waited long determine where a claim begins, asleep or not', async () => {
  const lowest = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ hours: number }>(
      `select extract(epoch from now() - mark::timestamptz)::float8 / 3600 as hours from (${lowWaterText}) as low`,
      ['-infinity', 100, -1],
    );
    return Math.round(rows[0]?.hours ?? -1);
  };
  await database.pool.query('delete from webhook_queue');
  assert.equal(await lowest(), 0, 'nothing is open');
  await makeEvents(3);
  await database.pool.query(
    `update webhook_queue set next_attempt_at = now() - interval '2 hours', claim_id = 'c', claimed_by = 1,
       lease_until = now()`,
  );
  assert.equal(await lowest(), 2);
  await database.pool.query(
    `update webhook_queue set asleep = true, retrying = true, next_attempt_at = now() - interval '3 hours'
     where delivery_id = (select min(delivery_id) from webhook_queue)`,
  );
  assert.equal(await lowest(), 3);
});
