/** The partitions of the delivery log: when they are created and dropped. */
// own process: it makes ids while the clock is ahead
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
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

/** Returns the partition that holds a delivery created at this time. */
async function insertAt(createdAt: Date): Promise<string> {
  const { rows } = await database.pool.query(
    `insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
     values ('ws_1', 'dlv_' || gen_random_uuid(), 'evt_1', 'whe_1', 'vault.deactivated', 'failed', $1)
     returning tableoid::regclass::text as place`,
    [createdAt],
  );
  return rows[0].place;
}

/** A delivery that is still pending. */
async function openAt(createdAt: Date): Promise<string> {
  const { rows } = await database.pool.query(
    `with made as (
       insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
       values ('ws_1', 'dlv_' || gen_random_uuid(), 'evt_1', 'whe_1', 'vault.deactivated', 'pending', $1)
       returning workspace_id, id, event_id, endpoint_id, created_at
     )
     insert into webhook_queue (workspace_id, delivery_id, event_id, endpoint_id, created_at, next_attempt_at)
     select workspace_id, id, event_id, endpoint_id, created_at, created_at from made returning delivery_id`,
    [createdAt],
  );
  return rows[0].delivery_id;
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

test('creates the partitions of today and the next three days, and repeating it changes nothing', async () => {
  assert.deepEqual((await keepPartitions(database.db, 90, day('2026-03-01'))).dropped, []);
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

test('puts a delivery into the partition of its UTC day, to the last millisecond', async () => {
  await keepPartitions(database.db, 90, day('2026-03-01'));
  assert.equal(await insertAt(new Date('2026-03-01T00:00:00Z')), 'webhook_deliveries_20260301');
  assert.equal(await insertAt(new Date('2026-03-01T23:59:59.999Z')), 'webhook_deliveries_20260301');
  assert.equal(await insertAt(new Date('2026-03-02T00:00:00Z')), 'webhook_deliveries_20260302');
});

test('the default partition takes a whole day that has none of its own, and drops it when it is over', async () => {
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

test('drops whole days that are older than the retention, and none earlier', async () => {
  const now = day('2026-08-10');
  for (let ago = 5; ago >= 0; ago -= 1)
    await keepPartitions(database.db, 30, new Date(now.getTime() - ago * dayMs));
  await insertAt(new Date('2026-08-07T12:00:00Z'));
  const kept = await insertAt(new Date('2026-08-08T00:00:00Z'));
  for (const time of ['2026-08-07T23:59:59.999Z', '2026-08-08T00:00:00Z']) await queueAt(new Date(time));
  const { dropped } = await keepPartitions(database.db, 2, now);
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

test('fails open deliveries of a day past its retention, and shows that before it drops the day', async () => {
  const now = day('2026-10-10');
  await keepPartitions(database.db, 30, new Date(now.getTime() - 5 * dayMs));
  const [left, beingSent] = [await openAt(day('2026-10-05')), await openAt(day('2026-10-06'))];
  const claim = "claim_id = 'c', claimed_by = 1, lease_until = now() + interval '1 hour'";
  await database.pool.query(`update webhook_queue set ${claim} where delivery_id = $1`, [beingSent]);
  const status = async (id: string) =>
    (await database.pool.query('select status from webhook_deliveries where id = $1', [id])).rows[0]?.status;

  const { dropped } = await keepPartitions(database.db, 2, now);
  assert.deepEqual([await status(left), await status(beingSent)], ['failed', 'pending']);
  assert.deepEqual(
    dropped.filter((name) => name > 'webhook_deliveries_202610'),
    ['webhook_deliveries_20261007'],
  );
  await keepPartitions(database.db, 2, now);
  assert.deepEqual([await status(left), await status(beingSent)], [undefined, 'pending']);
  await database.pool.query('delete from webhook_queue where delivery_id = $1', [beingSent]);
  await keepPartitions(database.db, 2, now);
  assert.equal(await status(beingSent), undefined);
});

test('a node whose clock is months ahead drops nothing', async (t) => {
  await keepPartitions(database.db, 90);
  const id = await openAt(new Date());
  const before = await partitions();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 91 * dayMs });
  const { dropped } = await keepPartitions(database.db, 90);
  t.mock.timers.reset();
  assert.deepEqual(dropped, []);
  const kept = await partitions();
  // If midnight has passed in between, there is one more day.
  assert.deepEqual(
    before.filter((name) => !kept.includes(name)),
    [],
  );
  const { rows } = await database.pool.query(
    'select status from webhook_deliveries join webhook_queue on delivery_id = id where id = $1',
    [id],
  );
  assert.deepEqual(rows, [{ status: 'pending' }]);
});

test('a long reader of the log holds up neither the maintenance of partitions nor commits', async () => {
  await keepPartitions(database.db, 90);
  const today = new Date();
  const old = new Date(Date.now() - 5 * dayMs);
  await keepPartitions(database.db, 90, old);
  const reader = await database.pool.connect();
  try {
    await reader.query('begin');
    await reader.query('select from webhook_deliveries limit 1');
    const { dropped, unfinished } = await keepPartitions(database.db, 1);
    assert.deepEqual({ dropped, unfinished }, { dropped: [], unfinished: true });
    assert.ok(await insertAt(today));
    await reader.query('commit');
  } finally {
    reader.release();
  }
  const { dropped, unfinished } = await keepPartitions(database.db, 1);
  assert.equal(unfinished, false);
  assert.ok(dropped.includes(`webhook_deliveries_${old.toISOString().slice(0, 10).replaceAll('-', '')}`));
});
