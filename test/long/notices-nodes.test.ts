/** Notices of several nodes that are killed: everything is told, and told once. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { notices, toldTimes } from '../support/fixtures/notices-fixture.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { type RunningService, serve, waitUntil } from '../support/service/process.ts';
import { startService } from '../support/service/service.ts';

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const insertKeys = `
  insert into api_keys (workspace_id, id, name, hint, secret_hash, scopes, expires_at, created_at)
  select w.id, 'key_' || $1 || '_' || n, 'soon', 'hf', sha256(($1 || '/' || n)::bytea), '{}',
    now() + interval '3 days', now() - interval '1 year'
  from workspaces w, generate_series(1, 80) as n where w.slug = 'default'`;

test('nodes that are killed while they tell neither lose nor repeat anything', async () => {
  const database = await createTestDatabase();
  cleanups.push(() => database.drop());
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-notices-'));
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  const start = () =>
    serve({
      DATABASE_URL: database.url,
      HOLDFAST_DATA_DIR: dir,
      HOLDFAST_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      HOLDFAST_CHAIN_RPC_URLS: 'http://127.0.0.1:9',
    });
  const nodes: RunningService[] = [await start(), await start()];
  cleanups.push(async () => {
    for (const { child, exited } of nodes) {
      child.kill('SIGKILL');
      await exited;
    }
  });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  cleanups.push(() => client.end());
  const count = async (state: string) => {
    const { rows } = await client.query(
      `select count(*)::integer as count from events where type = 'api_key.expiring' and envelope::json -> 'data' ->> 'state' = $1`,
      [state],
    );
    return rows[0].count as number;
  };
  for (const round of [1, 2]) {
    await client.query(insertKeys, [String(round)]);
    // In the middle of them, if this machine is slow enough; in any case between two steps of the loop.
    const before = (round - 1) * 80;
    await waitUntil(async () => (await count('raised')) > before);
    const [killed] = nodes.splice(round % 2, 1);
    killed?.child.kill('SIGKILL');
    await killed?.exited;
    nodes.push(await start());
  }
  await waitUntil(async () => (await count('raised')) >= 160);
  await client.query(`update api_keys set revoked_at = now() where name = 'soon'`);
  await waitUntil(async () => (await count('cleared')) >= 160);
  await waitUntil(async () => {
    const { rows } = await client.query('select 1 from notice_looks where at <= now() limit 1');
    return rows.length === 0;
  });
  const { rows } = await client.query(
    `select envelope::json -> 'data' ->> 'key_id' as key, envelope::json -> 'data' ->> 'state' as state, count(*)::integer
     from events where type = 'api_key.expiring' group by 1, 2 having count(*) <> 1`,
  );
  assert.deepEqual(rows, []);
  assert.deepEqual([await count('raised'), await count('cleared')], [160, 160]);
});

test('what several nodes see is told once; it is cleared when it is over, and told again when it comes back', async () => {
  const master = { HOLDFAST_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
  const one = await startService({ env: master, noticeTimes: { holdMs: 500, lookMs: 100 } });
  cleanups.push(() => one.close());
  const env = { ...master, HOLDFAST_DISK_LOW_BYTES: '9999999999999' };
  const low = await startService({
    databaseUrl: one.databaseUrl,
    env,
    noticeTimes: { holdMs: 500, lookMs: 100 },
  });
  const alsoLow = await startService({
    databaseUrl: one.databaseUrl,
    env,
    noticeTimes: { holdMs: 500, lookMs: 100 },
  });
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await low.close();
    await alsoLow.close();
  };
  cleanups.push(close);
  const [raised] = await toldTimes(one, 'operator.disk.low', { times: 1 });
  assert.ok(raised && raised.data.free_bytes > 0);
  // All three lack the chain, and say so as one.
  const loops = await waitUntil(async () => {
    const raised = await notices(one, '?state=raised');
    return raised.filter(({ data }: { data: { loop?: string } }) => data.loop === 'chain');
  });
  assert.equal(loops.length <= 1, true);
  await close();
  const [, cleared] = await toldTimes(one, 'operator.disk.low', { times: 2 });
  assert.deepEqual([cleared?.data.state, cleared?.data.notice_id], ['cleared', raised.data.notice_id]);
  const again = await startService({
    databaseUrl: one.databaseUrl,
    env,
    noticeTimes: { holdMs: 500, lookMs: 100 },
  });
  cleanups.push(() => again.close());
  const [, , second] = await toldTimes(one, 'operator.disk.low', { times: 3 });
  assert.equal(second?.data.state, 'raised');
  assert.notEqual(second?.data.notice_id, raised.data.notice_id);
});

test('a loop that fails only for a moment, and a workspace far from its budget, are not told', async () => {
  const service = await startService({ noticeTimes: { holdMs: 24 * 60 * 60_000, lookMs: 100 } });
  cleanups.push(() => service.close());
  const { rows } = await service.sql(`select id from workspaces where slug = 'default'`);
  await service.sql(`update workspaces set limits = '{"api_keys": 10}' where slug = 'default'`);
  for (let made = 1; made < 8; made += 1) await service.makeKey();
  await waitUntil(async () => {
    const { rows } = await service.sql(`select 1 from notice_signs where type = 'operator.loop.failing'`);
    return rows.length > 0;
  });
  assert.deepEqual(await notices(service), []);
  await service.makeKey();
  const [raised] = await toldTimes(service, 'operator.budget.near', { times: 1 });
  assert.deepEqual(
    { ...raised?.data, notice_id: null, since: null },
    {
      ...{ notice_id: null, since: null, state: 'raised' },
      ...{ of_workspace_id: rows[0].id, budget: 'api_keys', used: 9, limit: 10 },
    },
  );
});
