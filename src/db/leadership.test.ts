/** Leadership: deaths, hangs, and late commits, on a real server and with real processes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  candidate,
  holdUp,
  leadByHand,
  leadElsewhere,
  neverHung,
  openProxy,
  type TestDatabase,
} from '../../test/support/fixtures/leadership-fixture.ts';
import { openTestDatabase } from '../../test/support/service/database.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { LostLead, type Term } from './leadership.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('one of two candidates leads, and the other takes over with a higher epoch', async (t) => {
  const one = candidate(t, { database, ...neverHung });
  const first = await one.leads();
  const two = candidate(t, { database, ...neverHung });
  await waitUntil(() => two.looks > 2);
  assert.equal(two.current, null);
  await first.commit((db) => db.selectFrom('leaders').select('epoch').execute());

  await one.stop();
  assert.ok(first.signal.aborted);
  assert.equal(first.term(), null);
  const second = await two.leads();
  assert.ok(second.epoch > first.epoch);
});

test('a leader whose work fails throws its error, and another node takes the lead', async (t) => {
  const failing = candidate(t, {
    database,
    during: async () => {
      throw new Error('no chain here');
    },
  });
  await assert.rejects(failing.done, /no chain here/);
  await candidate(t, { database }).leads();
});

test('a leader whose connection ends stops at once, and another leads', async (t) => {
  const one = candidate(t, { database, ...neverHung });
  const first = await one.leads();
  // It does not take over because the first is silent: that would take longer than this test.
  const two = candidate(t, { database, ...neverHung });
  await waitUntil(() => two.looks > 0);
  await database.pool.query("select pg_terminate_backend(backend_pid) from leaders where work = 'chain'");
  await assert.rejects(one.done, LostLead);
  const second = await two.leads();
  assert.ok(first.signal.aborted);
  assert.equal(first.term(), null);
  await assert.rejects(
    first.commit(async () => assert.fail('must not run')),
    LostLead,
  );
  await second.commit(async () => {});
});

test('refuses a commit under a past epoch, even if the node does not know yet', async (t) => {
  const one = candidate(t, { database, beatMs: 600_000, ...neverHung });
  const first = await one.leads();
  await database.pool.query("update leaders set epoch = epoch + 1 where work = 'chain'");
  await assert.rejects(
    first.commit(async () => assert.fail('must not run')),
    LostLead,
  );
  assert.equal(first.signal.aborted, false);
});

test('a hung leader is replaced within 5 s, and what it writes later is refused', async (t) => {
  const { child, lines } = await leadElsewhere(t, database);
  child.kill('SIGSTOP');
  const stoppedBeat = await beatAt();
  // With the default times of the service: it looks every half second.
  const two = candidate(t, { database });
  const second = await two.leads();
  assert.ok((await beatAt()) - stoppedBeat > 3_000);
  assert.ok(two.looks < 10, `${two.looks} looks`);
  child.kill('SIGCONT');
  assert.equal(await lines.next('refused'), 'refused LostLead');
  await second.commit(async () => {});
  const { rows } = await database.pool.query<{ count: string }>('select count(*) from chain_reorgs');
  assert.equal(Number(rows[0]?.count), 0);
});

test('a leader that hangs during a commit does not delay its successor', async (t) => {
  const { child, lines } = await leadElsewhere(t, { url: database.url, hangInCommit: true });
  await lines.next('inside');
  child.kill('SIGSTOP');
  const two = candidate(t, { database, beatMs: 100, hungAfterMs: 300 });
  await two.leads();
  child.kill('SIGCONT');
  assert.match(await lines.next('refused'), /^refused (?!NOT)/);
  const { rows } = await database.pool.query<{ count: string }>('select count(*) from chain_reorgs');
  assert.equal(Number(rows[0]?.count), 0);
});

test('a killed leader is replaced at once', async (t) => {
  const { child } = await leadElsewhere(t, database);
  // This one does not wait for silence either.
  const two = candidate(t, { database, ...neverHung });
  await waitUntil(() => two.looks > 0);
  child.kill('SIGKILL');
  await two.leads();
});

test('a successor waits for a running commit, and no two epochs commit concurrently', async (t) => {
  const one = candidate(t, { database, ...neverHung });
  const first = await one.leads();
  const two = candidate(t, { database, patienceMs: 600_000, ...neverHung });
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
  await waitUntil(() => somebodyWaitsFor('for update'));
  assert.equal(two.current, null);
  goOn.resolve();
  await commit;
  await two.leads();
  order.push('leads');
  assert.deepEqual(order, ['committed', 'leads']);
  await database.pool.query('delete from chain_reorgs');
});

test('heartbeats do not wait for a long commit', async (t) => {
  const one = candidate(t, { database, beatMs: 100, ...neverHung });
  const first = await one.leads();
  await first.commit(async () => {
    const began = await beatAt();
    await waitUntil(async () => (await beatAt()) > began);
  });
  assert.equal(first.signal.aborted, false);
});

test('a leader whose database stops answering ends its own term before another may lead', async (t) => {
  const proxy = await openProxy(t, new URL(database.url));
  const times = { beatMs: 100, hungAfterMs: 1_000, deafAfterMs: 1_000 };
  const one = candidate(t, { database, connectionString: proxy.url, ...times });
  const first = await one.leads();
  const term = await waitUntil(() => first.term());
  proxy.silence();
  let beside: Term | null = term;
  const two = candidate(t, {
    database,
    ...times,
    during: async () => {
      beside = first.term();
    },
  });
  await two.leads();
  assert.equal(beside, null);
  assert.ok(term.signal.aborted);
  await assert.rejects(one.done, /no longer leads: the database does not answer/);
  assert.ok(first.signal.aborted);
});

test('a node that waits for the lead gives up a connection that has gone silent', async (t) => {
  await leadByHand(t, database);
  const proxy = await openProxy(t, new URL(database.url));
  const one = candidate(t, { database, connectionString: proxy.url, ...neverHung });
  await waitUntil(() => one.looks > 0);
  proxy.silence();
  await assert.rejects(one.done, /timeout/);
});

test('a leader with late heartbeats has no term meanwhile, but keeps the lead if nobody takes it', async (t) => {
  const proxy = await openProxy(t, new URL(database.url));
  const times = { beatMs: 20, hungAfterMs: 1_000, deafAfterMs: 600_000 };
  const one = candidate(t, { database, connectionString: proxy.url, ...times });
  const tenure = await one.leads();
  const hindrances = {
    'its database does not answer': () => proxy.silence(),
    'it is held up itself': () => holdUp(times.hungAfterMs),
  };
  for (const [name, hinder] of Object.entries(hindrances)) {
    const term = await waitUntil(() => tenure.term());
    hinder();
    await waitUntil(() => tenure.term() === null || term.signal.aborted);
    proxy.resume();
    const next = await waitUntil(() => tenure.term());
    await waitUntil(() => term.signal.aborted);
    assert.equal(next.epoch, term.epoch, name);
    await next.commit(async () => {});
    assert.equal(tenure.signal.aborted, false, name);
  }
});

test('delays of a candidate do not count against the leader', async (t) => {
  const leader = await leadByHand(t, database);
  const proxy = await openProxy(t, new URL(database.url));
  await leader.sign();
  const times = { beatMs: 20, hungAfterMs: 2_000 };
  const two = candidate(t, { database, connectionString: proxy.url, ...times });
  await waitUntil(() => two.looks > 1);
  // Its current query is answered only after the leader has given many more signs of life.
  proxy.holdAnswerTo('pg_locks');
  await waitUntil(() => proxy.held.answers === 1);
  await leader.sign();
  const heldAt = await beatAt();
  await waitUntil(async () => {
    await leader.sign();
    return (await beatAt()) > heldAt + times.hungAfterMs;
  });
  proxy.resume();
  const looks = two.looks;
  await waitUntil(async () => {
    await leader.sign();
    return two.looks > looks + 1;
  });
  assert.equal(two.current, null);
});

test('a heartbeat during an attempt to take the lead keeps it', async (t) => {
  const leader = await leadByHand(t, database);
  const giving = await database.pool.connect();
  t.after(() => giving.release());
  await giving.query('begin');
  await giving.query("update leaders set beat_at = clock_timestamp() where work = 'chain'");
  // It waits for the row as long as one beat, which is longer than this test needs to see it wait.
  const two = candidate(t, { database, beatMs: 4_000, hungAfterMs: 500 });
  await waitUntil(() => somebodyWaitsFor('for no key update'));
  const { looks } = two;
  await giving.query('commit');
  await waitUntil(() => two.looks > looks);
  await leader.sign();
  assert.equal(two.current, null);
});

async function somebodyWaitsFor(endOfQuery: string): Promise<boolean> {
  const { rows } = await database.pool.query(
    `select 1 from pg_stat_activity where datname = current_database() and query like $1 and wait_event_type = 'Lock'`,
    [`%${endOfQuery}`],
  );
  return rows.length > 0;
}

async function beatAt(): Promise<number> {
  const { rows } = await database.pool.query<{ beat_at: Date }>(
    "select beat_at from leaders where work = 'chain'",
  );
  return rows[0]?.beat_at.getTime() ?? 0;
}
