/** Which nodes count as alive, and what becomes of the claims of dead ones. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { openSilentProxy } from '../../../test/support/service/silent-proxy.ts';
import { createNodes, isAnyNodeAlive, type Nodes } from './nodes.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const made: Nodes[] = [];
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
afterEach(async () => {
  for (const nodes of made.splice(0)) await nodes.close();
  await database.pool.query('truncate webhook_nodes, webhook_queue');
});

function node(id: number, onGivenBack = (_count: number) => {}): Nodes {
  const connection = () => ({ connectionString: database.url });
  const nodes = createNodes(id, { connection, pool: database.pool, onGivenBack });
  made.push(nodes);
  return nodes;
}

async function claimedBy(nodeId: number, count: number): Promise<void> {
  await database.pool.query(
    `insert into webhook_queue (workspace_id, delivery_id, event_id, endpoint_id, created_at, next_attempt_at, claim_id,
       claimed_by, lease_until)
     select 'ws_1', 'dlv_' || $1::integer || '_' || n, 'evt_1', 'whe_1', now(), now(), 'c', $1::integer,
       now() + interval '1 hour'
     from generate_series(1, $2) as n`,
    [nodeId, count],
  );
}

async function claims(): Promise<Record<string, number>> {
  const { rows } = await database.pool.query(
    "select coalesce(claimed_by::text, 'pending') as who, count(*) from webhook_queue group by 1 order by 1",
  );
  return Object.fromEntries(rows.map(({ who, count }) => [who, count]));
}

/** Like a killed process: the server sees its connection end. */
async function kill(nodeId: number): Promise<void> {
  const [holder, ...more] = await holders(nodeId);
  assert.ok(holder && more.length === 0);
  await database.pool.query('select pg_terminate_backend($1)', [holder.pid]);
  await waitUntil(async () => (await holders(nodeId)).length === 0);
}

/** In this database only: other test files have nodes with the same ids. */
async function holders(nodeId: number): Promise<{ pid: number }[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_locks where locktype = 'advisory' and objid = $1 and objsubid = 2 and granted
       and database = (select oid from pg_database where datname = current_database())`,
    [nodeId],
  );
  return rows;
}

test('releases the claims of a dead node at once, and leaves those of a living one', async () => {
  let told = 0;
  const [living, dying] = [node(11, (count) => (told += count)), node(12)];
  await living.hold();
  await dying.hold();
  await claimedBy(11, 3);
  await claimedBy(12, 2);
  assert.equal(await living.releaseDead(), 0);
  assert.deepEqual(await claims(), { 11: 3, 12: 2 });
  await kill(12);
  assert.equal(await living.releaseDead(), 2);
  assert.deepEqual(await claims(), { 11: 3, pending: 2 });
  assert.equal(told, 2);
  assert.equal(await living.releaseDead(), 0, 'once');
});

test('a node that stops with unfinished claims leaves them to the others', async () => {
  const [living, leaving] = [node(21), node(22)];
  await living.hold();
  await leaving.hold();
  await claimedBy(22, 2);
  await leaving.close();
  await waitUntil(async () => (await living.releaseDead()) === 2);
});

test('a node that lost its connection registers again before it looks for dead ones', async () => {
  const nodes = node(31);
  await nodes.hold();
  await claimedBy(31, 1);
  await kill(31);
  // The node must not release its own claims when it notices the loss.
  await waitUntil(async () => {
    await nodes.hold();
    return (await holders(31)).length === 1;
  });
  assert.equal(await nodes.releaseDead(), 0);
  assert.deepEqual(await claims(), { 31: 1 });
});

test('a node whose connection went silent registers again', async (t) => {
  const proxy = await openSilentProxy(database.url);
  t.after(() => proxy.close());
  const nodes = createNodes(71, {
    connection: () => ({ connectionString: proxy.url }),
    pool: database.pool,
    answerMs: 1_000,
  });
  made.push(nodes);
  await nodes.hold();
  const [first] = await holders(71);
  assert.ok(first);
  proxy.silence();
  // The server does not notice either, until it ends the connection on its side.
  await nodes.hold();
  await database.pool.query('select pg_terminate_backend($1)', [first.pid]);
  const second = await waitUntil(async () => {
    await nodes.hold();
    const [holder] = await holders(71);
    return holder && holder.pid !== first.pid ? holder : null;
  });
  await nodes.hold();
  assert.deepEqual(await holders(71), [second], 'one that answers is kept');
});

test('a node does not wait while the server still sees its old connection, and counts as alive', async () => {
  const [before, same] = [node(41), node(41)];
  await before.hold();
  await claimedBy(41, 1);
  await same.hold();
  assert.equal(await same.releaseDead(), 0);
  await before.close();
  await waitUntil(async () => {
    await same.hold();
    const { rows } = await database.pool.query('select id from webhook_nodes');
    return rows.length === 1;
  });
  assert.equal(await same.releaseDead(), 0);
  assert.deepEqual(await claims(), { 41: 1 });
});

test('a node with the same id in another database does not keep a dead one alive', async (t) => {
  const other = await openTestDatabase();
  t.after(() => other.close());
  const namesake = createNodes(61, {
    connection: () => ({ connectionString: other.url }),
    pool: other.pool,
  });
  await namesake.hold();
  t.after(() => namesake.close());
  const dying = node(61);
  await dying.hold();
  await claimedBy(61, 1);
  await kill(61);
  assert.equal(await isAnyNodeAlive(database.pool), false);
  assert.equal(await isAnyNodeAlive(other.pool), true);
  assert.equal(await node(62).releaseDead(), 1);
  assert.equal(await namesake.releaseDead(), 0);
});

test('throws if the database is unreachable, and leaves no connection behind', async () => {
  const away = createNodes(51, { connection: () => ({ host: '127.0.0.1', port: 1 }), pool: database.pool });
  await assert.rejects(away.hold(), { code: 'ECONNREFUSED' });
  await database.pool.query('alter table webhook_nodes rename to webhook_nodes_away');
  const nodes = node(52);
  try {
    await assert.rejects(nodes.hold(), { code: '42P01' });
  } finally {
    await database.pool.query('alter table webhook_nodes_away rename to webhook_nodes');
  }
  await waitUntil(async () => {
    const { rows } = await database.pool.query(
      "select 1 from pg_stat_activity where application_name = 'holdfast webhooks' and datname = current_database()",
    );
    return rows.length === 0;
  });
  await nodes.hold();
});
