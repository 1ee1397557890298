/** Who leads: deaths, hangs, and commits that come too late, on a real server and with real processes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../test/database.ts';
import { waitUntil } from '../../test/process.ts';
import { candidate, leadElsewhere, openProxy, type TestDatabase } from './leadership.test-bed.ts';
import { LostLead } from './leadership.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('one of two leads; the other follows when the first gives up, with a higher epoch', async (t) => {
  const one = candidate(t, { database });
  const first = await one.term();
  const two = candidate(t, { database });
  await waitUntil(() => two.looks > 2);
  assert.equal(two.current, null);
  await first.commit((db) => db.selectFrom('leaders').select('epoch').execute());

  await one.stop();
  assert.ok(first.signal.aborted);
  const second = await two.term();
  assert.ok(second.epoch > first.epoch);
});

test('work that fails gives the lead to another node, and is told', async (t) => {
  const failing = candidate(t, {
    database,
    during: async () => {
      throw new Error('no chain here');
    },
  });
  await assert.rejects(failing.done, /no chain here/);
  await candidate(t, { database }).term();
});

test('a leader whose connection is ended stops at once, and another leads', async (t) => {
  const one = candidate(t, { database });
  const first = await one.term();
  const two = candidate(t, { database });
  await waitUntil(() => two.looks > 0);
  const ended = performance.now();
  await database.pool.query("select pg_terminate_backend(backend_pid) from leaders where work = 'chain'");
  await assert.rejects(one.done, LostLead);
  const second = await two.term();
  assert.ok(performance.now() - ended < 2_000);
  assert.ok(first.signal.aborted);
  await assert.rejects(
    first.commit(async () => assert.fail('must not run')),
    LostLead,
  );
  await second.commit(async () => {});
});

test('a leader that hangs is replaced within 5 s, and what it writes when it wakes is refused', async (t) => {
  const { child, lines } = await leadElsewhere(t, database);
  const two = candidate(t, { database });
  await waitUntil(() => two.looks > 0);
  const stoppedAt = performance.now();
  child.kill('SIGSTOP');
  const second = await two.term();
  const tookMs = performance.now() - stoppedAt;
  assert.ok(tookMs > 2_000 && tookMs < 5_000, `${tookMs} ms`);
  child.kill('SIGCONT');
  assert.equal(await lines.next('refused'), 'refused LostLead');
  await second.commit(async () => {});
  const { rows } = await database.pool.query<{ count: string }>('select count(*) from chain_reorgs');
  assert.equal(Number(rows[0]?.count), 0);
});

test('a leader that hangs inside a commit does not hold up its successor', async (t) => {
  const { child, lines } = await leadElsewhere(t, { url: database.url, hangInCommit: true });
  const two = candidate(t, { database });
  await lines.next('inside');
  await waitUntil(() => two.looks > 0);
  const stoppedAt = performance.now();
  child.kill('SIGSTOP');
  await two.term();
  assert.ok(performance.now() - stoppedAt < 5_000);
  child.kill('SIGCONT');
  assert.match(await lines.next('refused'), /^refused /);
  const { rows } = await database.pool.query<{ count: string }>('select count(*) from chain_reorgs');
  assert.equal(Number(rows[0]?.count), 0);
});

test('a killed leader is replaced at once', async (t) => {
  const { child } = await leadElsewhere(t, database);
  const two = candidate(t, { database });
  await waitUntil(() => two.looks > 0);
  const killedAt = performance.now();
  child.kill('SIGKILL');
  await two.term();
  assert.ok(performance.now() - killedAt < 3_000);
});

test('a successor waits for a commit that is under way, and no two epochs commit at once', async (t) => {
  const one = candidate(t, { database });
  const first = await one.term();
  const two = candidate(t, { database, patienceMs: 30_000 });
  const order: string[] = [];
  const inside = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const commit = first.commit(async (db) => {
    await db.insertInto('chain_reorgs').values({ fork_number: 1, old_head: 2 }).execute();
    inside.resolve();
    await goOn.promise;
    order.push('committed');
  });
  await inside.promise;
  await database.pool.query("select pg_terminate_backend(backend_pid) from leaders where work = 'chain'");
  await assert.rejects(one.done, LostLead);
  await waitUntil(async () => {
    const { rows } = await database.pool.query(
      "select 1 from pg_stat_activity where datname = current_database() and query like '%for update' and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  });
  assert.equal(two.current, null);
  goOn.resolve();
  await commit;
  await two.term();
  order.push('leads');
  assert.deepEqual(order, ['committed', 'leads']);
  await database.pool.query('delete from chain_reorgs');
});

test('signs of life do not wait for a long commit', async (t) => {
  const one = candidate(t, { database });
  const first = await one.term();
  await first.commit(async () => {
    const began = await beatAt();
    await waitUntil(async () => (await beatAt()) > began + 500);
  });
  assert.equal(first.signal.aborted, false);
});

test('a leader whose database stops answering ends its own term before another may lead', async (t) => {
  const proxy = await openProxy(t, new URL(database.url));
  const one = candidate(t, { database, connectionString: proxy.url });
  const first = await one.term();
  const silentSince = performance.now();
  proxy.silence();
  await assert.rejects(one.done, /does not lead any more/);
  assert.ok(first.signal.aborted);
  assert.ok(performance.now() - silentSince < 3_000);
  const two = candidate(t, { database });
  await two.term();
});

async function beatAt(): Promise<number> {
  const { rows } = await database.pool.query<{ beat_at: Date }>(
    "select beat_at from leaders where work = 'chain'",
  );
  return rows[0]?.beat_at.getTime() ?? 0;
}
