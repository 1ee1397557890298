/** How the database counts what a workspace uses: exact near the limit, without waiting far below it, at a constant cost. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createWorkspace } from './workspaces.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase({ fresh: true });
});
after(() => database.close());

async function newWorkspace(): Promise<string> {
  return (await createWorkspace(database.db, { name: randomUUID() })).id;
}

async function limit(workspaceId: string, bytes: number | null): Promise<void> {
  await database.pool.query('update workspaces set limits = $2 where id = $1', [
    workspaceId,
    { stored_bytes: bytes },
  ]);
}

async function used(workspaceId: string): Promise<number> {
  const { rows } = await database.pool.query("select used from budget_use($1, 'stored_bytes', 'epoch')", [
    workspaceId,
  ]);
  return Number(rows[0].used);
}

async function connect(): Promise<pg.Client> {
  // Like the service's connections: by index, whatever the statistics of a new table say.
  const client = new pg.Client({ connectionString: database.url, options: '-c enable_seqscan=off' });
  await client.connect();
  return client;
}

test('commits wait for each other only near the limit, and never exceed it together', async () => {
  const workspaceId = await newWorkspace();
  const [one, other] = [await connect(), await connect()];
  const use = (client: pg.Client, amount: number, isChecked = true) =>
    client.query(`select use_budget($1, 'stored_bytes', 'epoch', $2, $3)`, [workspaceId, amount, isChecked]);
  try {
    await limit(workspaceId, 1_000_000);
    await use(one, 10);
    await one.query('begin');
    await use(one, 10);
    // If it had to wait for the first transaction, which stays open, this would hang.
    await use(other, 10);
    await use(other, -5, false);
    assert.equal(await used(workspaceId), 15, 'without what is not committed');
    const second = use(other, 999_980);
    second.catch(() => {});
    await waitUntil(async () => {
      const { rows } = await database.pool.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%use_budget%' and datname = current_database()`,
      );
      return rows.length > 0;
    });
    await one.query('commit');
    await assert.rejects(second, {
      constraint: 'within_budget',
      detail: `stored_bytes 1000000 ${workspaceId}`,
    });
    await use(other, 999_975);
    await assert.rejects(use(one, 1), { constraint: 'within_budget' });
    assert.equal(await used(workspaceId), 1_000_000);
    // A changed limit takes effect at once.
    await limit(workspaceId, 1_000_001);
    await use(one, 1);
    await limit(workspaceId, null);
    await use(one, 1_000_000);
    await limit(workspaceId, 2_000_000);
    await assert.rejects(use(one, 1), { constraint: 'within_budget' });
  } finally {
    await one.end();
    await other.end();
  }
});

test('two concurrent streams of small commits never deadlock', async () => {
  const workspaceId = await newWorkspace();
  const [one, other] = [await connect(), await connect()];
  try {
    const uses = async (client: pg.Client) => {
      for (let n = 0; n < 100; n += 1) {
        await client.query(`select use_budget($1, 'stored_bytes', 'epoch', 1, true)`, [workspaceId]);
      }
    };
    await Promise.all([uses(one), uses(other)]);
    assert.equal(await used(workspaceId), 200);
    const { rows } = await one.query('select 1 from workspace_usage where workspace_id = $1', [workspaceId]);
    // The total, thirty more, and one that read at the same moment as the thirtieth.
    assert.ok(rows.length <= 32, `${rows.length} rows are added up`);
  } finally {
    await one.end();
    await other.end();
  }
});

test('a commit reads no rows that were added up long ago, even while an old snapshot keeps them', async () => {
  const workspaceId = await newWorkspace();
  const [one, snapshot] = [await connect(), await connect()];
  try {
    const use = () => one.query(`select use_budget($1, 'stored_bytes', 'epoch', 1, true)`, [workspaceId]);
    await use();
    await snapshot.query('begin isolation level repeatable read');
    await snapshot.query('select count(*) from workspace_usage');
    for (let n = 0; n < 300; n += 1) await use();
    await one.query('begin');
    const looked = async (): Promise<number> => {
      const { rows } = await one.query(`
        select pg_stat_get_xact_tuples_returned('workspace_usage_pkey'::regclass)
          + pg_stat_get_xact_tuples_returned('workspace_usage_totals'::regclass)
          + pg_stat_get_xact_tuples_returned('workspace_usage'::regclass) as count`);
      return Number(rows[0].count);
    };
    const before = await looked();
    for (let n = 0; n < 30; n += 1) await use();
    const each = ((await looked()) - before) / 30;
    assert.ok(each <= 2 * 31 + 2, `${each} entries were looked at for each`);
    await one.query('rollback');
  } finally {
    await one.end();
    await snapshot.end();
  }
});
