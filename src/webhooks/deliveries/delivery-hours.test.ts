/** The counted hours of deliveries: they say what counting all deliveries would say, whatever becomes of those later. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { countAgain, countHours, readDeliveryCounts } from './delivery-hours.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const hourMs = 60 * 60 * 1000;
const statuses = ['succeeded', 'failed', 'skipped', 'pending'] as const;
type Status = (typeof statuses)[number];

const at = (time: string) => new Date(`2026-03-01T${time}Z`);
const from = new Date('2026-02-27T00:00:00Z');

async function deliver(workspaceId: string, createdAt: Date, status: Status): Promise<string> {
  const { rows } = await database.pool.query(
    `insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
     values ($1, 'dlv_' || gen_random_uuid(), 'evt_1', 'whe_1', 'vault.deactivated', $3, $2) returning id`,
    [workspaceId, createdAt, status],
  );
  const [{ id }] = rows;
  if (status === 'pending') await enqueue(workspaceId, id, createdAt);
  return id;
}

async function enqueue(workspaceId: string, id: string, createdAt: Date): Promise<void> {
  await database.pool.query(
    `insert into webhook_queue (workspace_id, delivery_id, event_id, endpoint_id, created_at, next_attempt_at)
     values ($1, $2, 'evt_1', 'whe_1', $3, $3)`,
    [workspaceId, id, createdAt],
  );
}

async function end(id: string, status: Status): Promise<void> {
  await database.pool.query('update webhook_deliveries set status = $2 where id = $1', [id, status]);
  await database.pool.query('delete from webhook_queue where delivery_id = $1', [id]);
}

/** As if the pause between two counts had passed. */
async function countLater(now: Date): Promise<void> {
  await database.pool.query("update delivery_hours set counted_at = counted_at - interval '1 hour'");
  while ((await countHours(database.db, now)) === true);
}

/** By hours where these are kept, and by minutes, which are always counted anew. */
async function figures(workspaceId: string, to: Date) {
  const added = async (bucketSeconds: number) => {
    const rows = await readDeliveryCounts(database.db, { workspaceId, from, to, bucketSeconds });
    const sum = (status: 'succeeded' | 'failed' | 'skipped') =>
      rows.reduce((total, row) => total + row[status], 0);
    return { succeeded: sum('succeeded'), failed: sum('failed'), skipped: sum('skipped') };
  };
  return { kept: await added(3_600), anew: await added(60) };
}

async function counted(): Promise<string | null> {
  const { rows } = await database.pool.query('select until from delivery_hours_counted');
  return rows[0]?.until.toISOString() ?? null;
}

test('hours that are over are counted once, those before the first delivery never', async () => {
  await deliver('ws_a', at('05:59:59.999'), 'succeeded');
  await deliver('ws_a', at('06:00:00'), 'failed');
  await deliver('ws_b', at('06:30:00'), 'skipped');
  await deliver('ws_a', at('07:10:00'), 'succeeded');
  assert.equal(await countHours(database.db, at('07:20:00')), false);
  assert.equal(await counted(), '2026-03-01T07:00:00.000Z');
  const { rows } = await database.pool.query(
    'select workspace_id, hour, succeeded, failed, skipped from delivery_hours order by 1, 2',
  );
  assert.deepEqual(
    rows.map(({ workspace_id, hour, succeeded, failed, skipped }) => [
      workspace_id,
      hour.toISOString().slice(11, 13),
      succeeded,
      failed,
      skipped,
    ]),
    [
      ['ws_a', '05', 1, 0, 0],
      ['ws_a', '06', 0, 1, 0],
      ['ws_b', '06', 0, 0, 1],
    ],
  );
  const { kept, anew } = await figures('ws_a', at('08:00:00'));
  assert.deepEqual(kept, { succeeded: 2, failed: 1, skipped: 0 });
  assert.deepEqual(anew, kept);
});

test('an hour is not counted before clocks that are slow have passed it', async () => {
  await countHours(database.db, at('08:09:59'));
  assert.equal(await counted(), '2026-03-01T07:00:00.000Z');
  await countHours(database.db, at('08:10:00'));
  assert.equal(await counted(), '2026-03-01T08:00:00.000Z');
});

test('a delivery that ends after its hour was counted is counted as what it became', async () => {
  const id = await deliver('ws_c', at('08:05:00'), 'pending');
  await countLater(at('09:30:00'));
  await end(id, 'succeeded');
  await countLater(at('09:31:00'));
  assert.deepEqual((await figures('ws_c', at('10:00:00'))).kept, { succeeded: 1, failed: 0, skipped: 0 });
});

test('a delivery that is retried by hand leaves its old count', async () => {
  const id = await deliver('ws_d', at('08:15:00'), 'failed');
  await deliver('ws_d', at('08:16:00'), 'failed');
  await database.pool.query(
    "delete from delivery_hours_counted; delete from delivery_hours where workspace_id = 'ws_d'",
  );
  await countLater(at('09:40:00'));
  assert.deepEqual((await figures('ws_d', at('10:00:00'))).kept, { succeeded: 0, failed: 2, skipped: 0 });
  await countAgain(database.db, 'ws_d', at('08:15:00'));
  // Sent between two counts, which so never see it in the queue.
  await end(id, 'succeeded');
  await countLater(at('09:45:00'));
  assert.deepEqual((await figures('ws_d', at('10:00:00'))).kept, { succeeded: 1, failed: 1, skipped: 0 });
});

test('a delivery that is committed after its hour was counted shows by its place in the queue', async () => {
  const id = await deliver('ws_e', at('06:45:00'), 'pending');
  await countLater(at('09:50:00'));
  await end(id, 'failed');
  await countLater(at('09:55:00'));
  assert.deepEqual((await figures('ws_e', at('10:00:00'))).kept, { succeeded: 0, failed: 1, skipped: 0 });
});

test('kept and counted anew, the figures are the same for any range and in the middle of any hour', async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let n = 0; n < 300; n += 1) {
    const createdAt = new Date(from.getTime() + random(60 * hourMs));
    await deliver(`ws_${random(3)}`, createdAt, statuses[random(4)] as Status);
  }
  await database.pool.query('delete from delivery_hours_counted; delete from delivery_hours');
  await countLater(new Date(from.getTime() + 50 * hourMs));
  for (let n = 0; n < 40; n += 1) {
    const to = new Date(from.getTime() + random(70 * hourMs));
    const { kept, anew } = await figures(`ws_${random(3)}`, to);
    assert.deepEqual(kept, anew, to.toISOString());
  }
});

test('what was counted is not read again', async () => {
  await database.pool.query('delete from webhook_deliveries');
  const { kept, anew } = await figures('ws_0', new Date(from.getTime() + 48 * hourMs));
  assert.equal(anew.succeeded + anew.failed + anew.skipped, 0);
  assert.ok(kept.succeeded > 0);
});

test('an hour whose deliveries were dropped from the log is not counted for ever', async () => {
  await database.pool.query("update delivery_hours set pending = 1 where workspace_id = 'ws_0'");
  const before = (await figures('ws_0', new Date(from.getTime() + 48 * hourMs))).kept;
  await database.pool.query('delete from webhook_queue');
  await countLater(new Date(from.getTime() + 51 * hourMs));
  const { rows } = await database.pool.query('select 1 from delivery_hours where pending > 0');
  assert.equal(rows.length, 0);
  assert.deepEqual((await figures('ws_0', new Date(from.getTime() + 48 * hourMs))).kept, before);
});
