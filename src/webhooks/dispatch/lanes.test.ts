/** How lanes share the capacity of a node between endpoints and workspaces. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLanes, type Lanes } from './lanes.ts';

interface Job {
  endpoint: string;
  number: number;
}

/** Lanes in which the test decides when jobs end and time passes. */
function createRig(t: TestContext, options: { isStale?: (job: Job) => boolean; waitsAfterMs?: number } = {}) {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout', 'setInterval'], now: 1_700_000_000_000 });
  t.mock.method(performance, 'now', () => Date.now());
  const running = new Map<Job, (succeeded: boolean) => void>();
  const started: Job[] = [];
  const takenBack: Job[] = [];
  let wanting = 0;
  const lanes: Lanes<Job> = createLanes<Job>({
    run(job) {
      started.push(job);
      return new Promise((resolve) => running.set(job, resolve));
    },
    onWanting: () => (wanting += 1),
    isStale: options.isStale ?? (() => false),
    onTakenBack: (jobs) => takenBack.push(...jobs),
    waitsAfterMs: options.waitsAfterMs ?? 60_000,
  });
  const add = (
    endpoint: string,
    count: number,
    more: { rateLimit?: number; more?: boolean; workspaceId?: string } = {},
  ) =>
    lanes.add(endpoint, {
      workspaceId: more.workspaceId ?? 'ws',
      jobs: Array.from({ length: count }, (_, number) => ({ endpoint, number })),
      rateLimit: more.rateLimit ?? null,
      more: more.more ?? false,
    });
  const finish = async (which: (job: Job) => boolean, succeeded = true) => {
    for (const [job, end] of running) {
      if (!which(job)) continue;
      running.delete(job);
      end(succeeded);
    }
    await nextTurn();
  };
  const of = (endpoint: string) => started.filter((job) => job.endpoint === endpoint).length;
  return { lanes, add, finish, of, started, takenBack, running, wanting: () => wanting };
}

test('endpoints take turns one by one, whoever came first', async (t) => {
  const { add, finish, started, of } = createRig(t);
  for (let number = 0; number < 8; number += 1) add(`first-${number}`, 8);
  assert.equal(started.length, 64, 'the node is busy');
  add('late', 8);
  add('later', 8);
  assert.equal(started.length, 64);
  await finish(({ endpoint, number }) => endpoint === 'first-0' && number < 4);
  assert.deepEqual([of('late'), of('later')], [2, 2]);
  await finish(() => true);
  await finish(() => true);
  assert.equal(started.length, 80);
});

test('requests that wait for their receiver free their place for others', async (t) => {
  const { add, finish, started, of } = createRig(t, { waitsAfterMs: 100 });
  for (let number = 0; number < 8; number += 1) add(`hangs-${number}`, 8);
  add('well', 8);
  t.mock.timers.tick(99);
  assert.equal(of('well'), 0);
  t.mock.timers.tick(1);
  assert.equal(of('well'), 8);
  assert.equal(started.length, 72);
  await finish(() => true);
});

test('a workspace with many endpoints leaves turns and capacity to one with a single endpoint', async (t) => {
  const { add, finish, started, of } = createRig(t, { waitsAfterMs: 100 });
  for (let number = 0; number < 500; number += 1) add(`hangs-${number}`, 8, { workspaceId: 'busy' });
  assert.equal(started.length, 64);
  add('well', 8, { workspaceId: 'other' });
  assert.equal(of('well'), 8, 'at once, with 500 others before it');
  for (const number of [1, 2, 3]) add(`well-${number}`, 8, { workspaceId: `other-${number}` });
  assert.ok([1, 2, 3].every((number) => of(`well-${number}`) > 0));
  t.mock.timers.tick(100);
  assert.ok([1, 2, 3].every((number) => of(`well-${number}`) === 8));
  await finish(() => true);
});

test('a workspace holds no more than it leaves to others, and gets more once it has returned some', async (t) => {
  const { lanes, add, finish } = createRig(t);
  for (let number = 0; number < 10; number += 1)
    add(`hangs-${number}`, 8, { workspaceId: 'busy', more: true });
  add('well', 1, { workspaceId: 'other', more: true });
  const room = (inHand: number) => lanes.room(Date.now(), { limit: 1000, toWait: 1000, inHand });
  assert.deepEqual(room(80).full, ['busy'], '80 in hand, 80 left');
  const free = room(80).endpoints;
  assert.equal(free.find(({ endpointId }) => endpointId === 'hangs-0')?.free, 0);
  assert.ok((free.find(({ endpointId }) => endpointId === 'well')?.free ?? 0) > 0);
  assert.deepEqual(room(82).full, []);
  await finish(() => true);
  assert.deepEqual(room(80).full, []);
  await finish(() => true);
});

test('takes back once what waits behind a receiver that does not answer', async (t) => {
  const { lanes, add, finish, takenBack } = createRig(t);
  add('hangs', 20);
  lanes.sweep(Date.now());
  assert.deepEqual(takenBack, []);
  t.mock.timers.tick(2000);
  lanes.sweep(Date.now());
  assert.equal(takenBack.length, 12);
  assert.equal(lanes.waiting(), 0);
  assert.equal(lanes.inFlight(), 8);
  await finish(() => true);
  assert.equal(lanes.inFlight(), 0);
});

test('takes back what waited too long instead of starting it', async (t) => {
  let late = false;
  const { add, finish, takenBack, started } = createRig(t, { isStale: () => late });
  add('a', 10);
  late = true;
  await finish(() => true);
  assert.equal(started.length, 8);
  assert.equal(takenBack.length, 2);
});

test('asks for more once when half is left, and only if there may be more', async (t) => {
  const { add, finish, wanting } = createRig(t);
  add('few', 8);
  await finish(() => true);
  assert.equal(wanting(), 0);
  add('many', 30, { more: true });
  await finish(({ number }) => number === 0);
  assert.equal(wanting(), 0);
  await finish(() => true);
  assert.equal(wanting(), 1);
  await finish(() => true);
  await finish(() => true);
  assert.equal(wanting(), 1);
});

test('endpoints with more to send share the room, and those that ran out no longer count', async (t) => {
  const { lanes, add, finish } = createRig(t);
  for (const id of ['a', 'b', 'c', 'd']) add(id, 8, { more: true });
  await finish(() => true);
  const free = () =>
    lanes.room(Date.now(), { limit: 20, toWait: 1000, inHand: 1000 }).endpoints.map((one) => one.free);
  assert.deepEqual(free(), [5, 5, 5, 5]);
  lanes.noMore(['a', 'b', 'c']);
  assert.deepEqual(
    free(),
    [20, 20, 20, 20].map((share) => Math.min(share, free()[0] ?? 0)),
  );
  assert.ok((free()[0] ?? 0) > 5);
});

test('keeps the rate limit even across pauses with nothing to send', async (t) => {
  const { add, finish, of } = createRig(t);
  add('slow', 2, { rateLimit: 2 });
  assert.equal(of('slow'), 1, 'after a rest no more than at any other time');
  t.mock.timers.tick(499);
  assert.equal(of('slow'), 1);
  t.mock.timers.tick(1);
  assert.equal(of('slow'), 2);
  await finish(() => true);
  add('slow', 2, { rateLimit: 2 });
  t.mock.timers.tick(499);
  assert.equal(of('slow'), 2);
  t.mock.timers.tick(1);
  assert.equal(of('slow'), 3);
  await finish(() => true);
});

test('emptying the lanes returns everything that has not started', async (t) => {
  const { lanes, add, finish, takenBack } = createRig(t);
  add('a', 30);
  add('b', 3);
  lanes.empty();
  assert.equal(takenBack.length, 22);
  await finish(() => true);
  assert.equal(lanes.waiting() + lanes.inFlight(), 0);
});
