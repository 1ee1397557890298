import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../test/process.ts';
import { createLanes, type Lanes } from './lanes.ts';

interface Job {
  endpoint: string;
  number: number;
}

/** Lanes whose jobs end when the test says so. */
function createRig(options: { isStale?: (job: Job) => boolean; waitsAfterMs?: number } = {}) {
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
  const add = (endpoint: string, count: number, more: { rateLimit?: number; more?: boolean } = {}) =>
    lanes.add(endpoint, {
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
    await sleep(0);
  };
  const of = (endpoint: string) => started.filter((job) => job.endpoint === endpoint).length;
  return { lanes, add, finish, of, started, takenBack, running, wanting: () => wanting };
}

test('endpoints get their turns one by one, whoever came first', async () => {
  const { add, finish, started, of } = createRig();
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

test('requests that wait for their receiver leave their place to others', async () => {
  const { add, finish, started, of } = createRig({ waitsAfterMs: 100 });
  for (let number = 0; number < 8; number += 1) add(`hangs-${number}`, 8);
  add('well', 8);
  assert.equal(of('well'), 0);
  await waitUntil(() => of('well') === 8, 1000);
  assert.equal(started.length, 72);
  await finish(() => true);
});

test('what stands behind a receiver that does not answer is taken back, once', async () => {
  const { lanes, add, finish, takenBack } = createRig();
  add('hangs', 20);
  lanes.sweep(Date.now());
  assert.deepEqual(takenBack, []);
  lanes.sweep(Date.now() + 2000);
  assert.equal(takenBack.length, 12);
  assert.equal(lanes.waiting(), 0);
  assert.equal(lanes.inFlight(), 8);
  await finish(() => true);
  assert.equal(lanes.inFlight(), 0);
});

test('what waited too long is taken back instead of started', async () => {
  let late = false;
  const { add, finish, takenBack, started } = createRig({ isStale: () => late });
  add('a', 10);
  late = true;
  await finish(() => true);
  assert.equal(started.length, 8);
  assert.equal(takenBack.length, 2);
});

test('more is asked for once when half is left, and only where there may be more', async () => {
  const { add, finish, wanting } = createRig();
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

test('those with more to send share the room, and those that ran out no longer count', async () => {
  const { lanes, add, finish } = createRig();
  for (const id of ['a', 'b', 'c', 'd']) add(id, 8, { more: true });
  await finish(() => true);
  const free = () => lanes.room(Date.now(), 20).map((one) => one.free);
  assert.deepEqual(free(), [5, 5, 5, 5]);
  lanes.noMore(['a', 'b', 'c']);
  assert.deepEqual(
    free(),
    [20, 20, 20, 20].map((share) => Math.min(share, free()[0] ?? 0)),
  );
  assert.ok((free()[0] ?? 0) > 5);
});

test('a rate limit is kept, also over times in which there is nothing to send', async () => {
  const { add, finish, of } = createRig();
  add('slow', 2, { rateLimit: 2 });
  assert.equal(of('slow'), 2, 'a second’s worth at once');
  await finish(() => true);
  add('slow', 2, { rateLimit: 2 });
  assert.equal(of('slow'), 2);
  const startedAt = Date.now();
  await waitUntil(() => of('slow') === 3, 2000);
  assert.ok(Date.now() - startedAt >= 400, `${Date.now() - startedAt} ms`);
  await finish(() => true);
});

test('emptied lanes give back all that has not started', async () => {
  const { lanes, add, finish, takenBack } = createRig();
  add('a', 30);
  add('b', 3);
  lanes.empty();
  assert.equal(takenBack.length, 22);
  await finish(() => true);
  assert.equal(lanes.waiting() + lanes.inFlight(), 0);
});
