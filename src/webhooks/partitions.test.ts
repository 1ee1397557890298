import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../test/database.ts';
import { keepPartitions } from './partitions.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const dayMs = 24 * 60 * 60 * 1000;
const day = (date: string) => new Date(`${date}T12:00:00Z`);

async function partitions(): Promise<string[]> {
  const { rows } = await database.pool.query(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'webhook_deliveries'::regclass order by 1",
  );
  return rows.map(({ name }) => name);
}

/** Where the delivery went that was made at this time. */
async function insertAt(createdAt: Date): Promise<string> {
  const { rows } = await database.pool.query(
    `insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
     values ('ws_1', 'dlv_' || gen_random_uuid(), 'evt_1', 'whe_1', 'vault.deactivated', 'failed', $1)
     returning tableoid::regclass::text as place`,
    [createdAt],
  );
  return rows[0].place;
}

async function queueAt(createdAt: Date): Promise<void> {
  await database.pool.query(
    `insert into webhook_queue (workspace_id, delivery_id, event_id, endpoint_id, created_at, next_attempt_at)
     values ('ws_1', 'dlv_' || gen_random_uuid(), 'evt_1', 'whe_1', $1, $1)`,
    [createdAt],
  );
}

async function countIn(table: string): Promise<number> {
  return (await database.pool.query(`select count(*) from ${table}`)).rows[0].count;
}

test('today and the three days after have their partition, and making them again changes nothing', async () => {
  assert.deepEqual(await keepPartitions(database.db, 90, day('2026-03-01')), []);
  const made = [
    'webhook_deliveries_20260301',
    'webhook_deliveries_20260302',
    'webhook_deliveries_20260303',
    'webhook_deliveries_20260304',
    'webhook_deliveries_other',
  ];
  assert.deepEqual(await partitions(), made);
  await Promise.all([1, 2, 3].map(() => keepPartitions(database.db, 90, day('2026-03-01'))));
  assert.deepEqual(await partitions(), made);
});

test('a delivery lies in its day by UTC, to the last millisecond', async () => {
  await keepPartitions(database.db, 90, day('2026-03-01'));
  assert.equal(await insertAt(new Date('2026-03-01T00:00:00Z')), 'webhook_deliveries_20260301');
  assert.equal(await insertAt(new Date('2026-03-01T23:59:59.999Z')), 'webhook_deliveries_20260301');
  assert.equal(await insertAt(new Date('2026-03-02T00:00:00Z')), 'webhook_deliveries_20260302');
});

test('a day without a partition is caught by the other one, stays there whole, and goes when its time is over', async () => {
  await keepPartitions(database.db, 90, day('2026-03-01'));
  const early = new Date('2026-03-05T00:00:00Z');
  assert.equal(await insertAt(early), 'webhook_deliveries_other');
  await keepPartitions(database.db, 90, day('2026-03-03'));
  const present = await partitions();
  assert.ok(!present.includes('webhook_deliveries_20260305'), 'its rows are elsewhere already');
  assert.ok(present.includes('webhook_deliveries_20260306'), 'the next day is not held up by it');
  assert.equal(await insertAt(new Date(early.getTime() + 1000)), 'webhook_deliveries_other');

  await keepPartitions(database.db, 90, new Date(early.getTime() + 90 * dayMs));
  assert.equal(await countIn('webhook_deliveries_other'), 2, 'kept for as long as any other day');
  await keepPartitions(database.db, 90, new Date(early.getTime() + 91 * dayMs));
  assert.equal(await countIn('webhook_deliveries_other'), 0);
});

test('days older than the retention are dropped whole, and none before', async () => {
  const now = day('2026-08-10');
  for (let ago = 5; ago >= 0; ago -= 1)
    await keepPartitions(database.db, 30, new Date(now.getTime() - ago * dayMs));
  await insertAt(new Date('2026-08-07T12:00:00Z'));
  const kept = await insertAt(new Date('2026-08-08T00:00:00Z'));
  for (const time of ['2026-08-07T23:59:59.999Z', '2026-08-08T00:00:00Z']) await queueAt(new Date(time));
  const dropped = await keepPartitions(database.db, 2, now);
  assert.deepEqual(dropped.sort(), [
    'webhook_deliveries_20260805',
    'webhook_deliveries_20260806',
    'webhook_deliveries_20260807',
  ]);
  assert.equal((await partitions())[0], 'webhook_deliveries_20260808');
  assert.equal(await countIn(kept), 1);
  assert.equal(await countIn('webhook_deliveries'), 1);
  assert.equal(await countIn('webhook_queue'), 1, 'nothing is sent that the log no longer has');
});
