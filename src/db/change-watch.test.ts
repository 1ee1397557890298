/** Loops rest until something is written to the database, and are then woken in time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pool } from 'pg';
import { openTestDatabase } from '../../test/support/service/database.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { pause } from '../runtime/loop.ts';
import { type ChangeWatch, createChangeWatch } from './change-watch.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const rest = (ms: number) => pause(ms, new AbortController().signal);

/** Counts how often a follower is woken; the first look always wakes it, as nothing is known before. */
async function watching(
  pool: Pool,
  use: (watch: ChangeWatch, woken: () => number) => Promise<void>,
): Promise<void> {
  const watch = createChangeWatch(pool);
  const stopping = new AbortController();
  let count = 0;
  const wake = () => {
    count += 1;
  };
  watch.follow({ wake }, 200);
  const running = watch.loop.run(stopping.signal, () => {});
  await waitUntil(async () => count === 1);
  await use(watch, () => count - 1).finally(() => stopping.abort());
  await running;
}

/** Answers with whatever snapshot the test sets, or fails. */
function fakePool(server: { snapshot: string | Error }): Pool {
  const query = async () => {
    if (server.snapshot instanceof Error) throw server.snapshot;
    return { rows: [{ snapshot: server.snapshot }] };
  };
  return { query } as unknown as Pool;
}

test('wakes after a commit of any connection', () =>
  watching(database.pool, async (_watch, woken) => {
    await database.pool.query('create table scribble (number integer)');
    await waitUntil(async () => woken() > 0);
  }));

test('wakes when a transaction ends, and not while everybody only reads', () => {
  const server = { snapshot: '10:10:' };
  return watching(fakePool(server), async (_watch, woken) => {
    await rest(500);
    server.snapshot = '10:11:10';
    await rest(500);
    assert.equal(woken(), 0, 'nobody can see its rows yet');
    server.snapshot = '11:11:';
    await waitUntil(async () => woken() === 1);
    await rest(500);
    assert.equal(woken(), 1);
  });
});

test('does not wake for a transaction that makes no work', () => {
  const server = { snapshot: '10:10:' };
  return watching(fakePool(server), async (watch, woken) => {
    watch.ignore(10);
    server.snapshot = '11:11:';
    await rest(500);
    assert.equal(woken(), 0);
    server.snapshot = '12:12:';
    await waitUntil(async () => woken() === 1);
  });
});

test('wakes at every look while the database does not answer, and once when it does again', () => {
  const server: { snapshot: string | Error } = { snapshot: '10:10:' };
  return watching(fakePool(server), async (_watch, woken) => {
    server.snapshot = new Error('gone');
    await waitUntil(async () => woken() > 1);
    server.snapshot = '10:10:';
    await rest(300);
    const seen = woken();
    await rest(500);
    assert.equal(woken(), seen);
  });
});

test('wakes a loop that wants to look rarely no more often than that', () => {
  const server = { snapshot: '10:10:' };
  return watching(fakePool(server), async (watch) => {
    const times: number[] = [performance.now()];
    watch.follow({ wake: () => void times.push(performance.now()) }, 1_000);
    for (let next = 11; times.length < 3; next += 1) {
      server.snapshot = `${next}:${next}:`;
      await rest(50);
      assert.ok(next < 100, 'woken twice');
    }
    const [begun = 0, first = 0, second = 0] = times;
    for (const ms of [first - begun, second - first]) assert.ok(ms > 750, `woken after ${ms} ms`);
  });
});
