/** The delivery log: how much its pages read, and the locks of a retry. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createWorkspace, operatorIn } from '../../access/workspaces/workspaces.ts';
import type { Db } from '../../db/database.ts';
import { createDeliveries, type DeliveryQuery } from './deliveries.ts';

/** A log in which only the oldest deliveries failed. */
const logged = 1_000;
const failed = ['dlv_0000', 'dlv_0001', 'dlv_0002'];
const bounds = { walkLength: 100, walksPerPage: 2 };

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let workspaceId: string;
before(async () => {
  database = await openTestDatabase({ fresh: true });
  workspaceId = (await createWorkspace(database.db, { name: 'Log' })).id;
  await database.pool.query(
    `insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
     select $1, 'dlv_' || lpad(n::text, 4, '0'), 'evt_' || n, 'whe_' || n % 2,
            case when n < $3 then 'anchor.reorged' else 'vault.deactivated' end,
            case when n < $3 then 'failed' else 'succeeded' end, now()
     from generate_series(0, $2::integer - 1) as n`,
    [workspaceId, logged, failed.length],
  );
  // Autovacuum would do this in time.
  await database.pool.query('analyze webhook_deliveries');
});
after(() => database.close());

const list = (db: Db, query: Partial<DeliveryQuery>) =>
  createDeliveries({ db, wakeup: { wake() {} }, bounds }).list(workspaceId, {
    before: undefined,
    limit: 50,
    ...query,
  });

/** Counts the log rows that one page reads. */
function countRows(query: Partial<DeliveryQuery>): Promise<number> {
  return database.db.transaction().execute(async (db) => {
    const read = async (): Promise<number> => {
      const { rows } = await sql<{ read: number }>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_xact_user_tables
        where relname like 'webhook_deliveries%'`.execute(db);
      return rows[0]?.read ?? 0;
    };
    // The count may still include reads of earlier transactions.
    const start = await read();
    await list(db, query);
    return (await read()) - start;
  });
}

async function walk(query: Partial<DeliveryQuery>): Promise<{ ids: string[]; pages: number[] }> {
  const ids: string[] = [];
  const pages: number[] = [];
  for (let before: string | undefined; ; ) {
    const { items, next } = await list(database.db, { ...query, before });
    ids.push(...items.map(({ id }) => id));
    pages.push(items.length);
    if (next === null) return { ids, pages };
    before = next;
  }
}

test('finds rare deliveries in a long log page by page, and no page exceeds its limit of rows read', async () => {
  for (const query of [
    { status: 'failed' as const },
    { type: 'anchor.reorged' },
    { status: 'delivering' as const },
  ]) {
    const read = await countRows(query);
    const most = 2 * bounds.walkLength * bounds.walksPerPage + 10;
    assert.ok(read <= most, `${read} rows of ${logged} were read for ${JSON.stringify(query)}`);
  }
  const { ids, pages } = await walk({ status: 'failed' });
  assert.deepEqual(ids, [...failed].reverse());
  assert.ok(pages.length >= 5 && pages.length <= 6, `${pages} items`);
});

test('fills pages with common deliveries, each once and newest first, under every filter', async () => {
  const all = Array.from({ length: logged }, (_, n) => `dlv_${String(n).padStart(4, '0')}`).reverse();
  assert.deepEqual((await walk({})).ids, all);
  const common = await walk({ status: 'succeeded' });
  assert.deepEqual(common.ids, all.slice(0, -failed.length));
  assert.ok(common.pages.slice(0, -1).every((items) => items === 50));
  assert.deepEqual(
    (await walk({ status: 'succeeded', endpointId: 'whe_1' })).ids,
    all.filter((id) => Number(id.slice(4)) % 2 === 1 && !failed.includes(id)),
  );
});

test('a retry takes its locks in the same order as a sending node, so there is no deadlock', async (t) => {
  await database.pool.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types) values ($1, 'whe_9', 'https://example.org', '{a}')`,
    [workspaceId],
  );
  await database.pool.query(
    `insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
     values ($1, 'dlv_again', 'evt_again', 'whe_9', 'vault.deactivated', 'failed', now())`,
    [workspaceId],
  );
  const [other, sender] = [await connect(), await connect()];
  t.after(() => Promise.all([other.end(), sender.end()]));
  const lockInLog = "select 1 from webhook_deliveries where id = 'dlv_again' for update";
  const caller = operatorIn(workspaceId);
  await other.query(`begin; ${lockInLog}`);
  const retried = createDeliveries({ db: database.db, wakeup: { wake() {} } }).retry(caller, 'dlv_again');
  // Prevents an unhandled rejection when the test fails earlier.
  retried.catch(() => {});
  await isWaiting(1);
  // Another retry enqueues the delivery, and a sending node holds its queue row when the log row is released.
  await database.pool.query(
    `insert into webhook_queue (workspace_id, delivery_id, created_at, event_id, endpoint_id, next_attempt_at)
     select workspace_id, id, created_at, event_id, endpoint_id, now() from webhook_deliveries where id = 'dlv_again'`,
  );
  await sender.query("begin; select 1 from webhook_queue where delivery_id = 'dlv_again' for update");
  await other.query('rollback');
  await isWaiting(1, 'webhook_queue');
  await sender.query(lockInLog);
  await sender.query('commit');
  assert.equal((await retried).status, 'pending');
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return client;
}

/** Waits until this many statements of this database that mention the table wait for a lock. */
async function isWaiting(count: number, table = ''): Promise<void> {
  await waitUntil(async () => {
    const { rows } = await database.pool.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%' || $1 || '%'`,
      [table],
    );
    return rows.length === count;
  });
}
