/** How concurrent calls are gathered into runs, and what a bad item does to the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gather } from './gather.ts';

test('concurrent calls share a run, and each gets its own result', async () => {
  const groups: number[][] = [];
  const double = gather<number, number>({
    maxInFlight: 1,
    maxItems: 10,
    isItemFault: () => false,
    async run(items) {
      groups.push(items);
      return items.map((item) => item * 2);
    },
  });
  assert.deepEqual(await Promise.all([1, 2, 3].map(double)), [2, 4, 6]);
  assert.deepEqual(groups, [[1, 2, 3]]);
});

test('calls wait while the maximum of runs is in progress, and form the next group', async () => {
  let release = () => {};
  const groups: number[][] = [];
  const slow = gather<number, number>({
    maxInFlight: 1,
    maxItems: 2,
    isItemFault: () => false,
    async run(items) {
      groups.push(items);
      if (groups.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return items;
    },
  });
  const first = slow(1);
  await new Promise(setImmediate);
  const rest = [2, 3, 4].map(slow);
  await new Promise(setImmediate);
  assert.deepEqual(groups, [[1]]);
  release();
  await Promise.all([first, ...rest]);
  assert.deepEqual(groups, [[1], [2, 3], [4]]);
});

test('a bad item fails alone, and a connection error fails all', async () => {
  const run = async (items: string[]) => {
    if (items.includes('away')) throw new Error('away');
    if (items.includes('bad')) throw new Error('bad');
    return items;
  };
  const call = gather<string, string>({
    maxInFlight: 1,
    maxItems: 10,
    isItemFault: (error) => (error as Error).message === 'bad',
    run,
  });
  const outcomes = await Promise.allSettled(['a', 'bad', 'b'].map(call));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const lost = await Promise.allSettled(['a', 'away'].map(call));
  assert.deepEqual(
    lost.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

test('one bad item among many costs a few extra runs, not one for each of the others', async () => {
  let runs = 0;
  const call = gather<number, number>({
    maxInFlight: 1,
    maxItems: 1_000,
    isItemFault: () => true,
    async run(items) {
      runs += 1;
      if (items.includes(77)) throw new Error('bad');
      return items;
    },
  });
  const outcomes = await Promise.allSettled(Array.from({ length: 256 }, (_, item) => call(item)));
  assert.deepEqual(
    outcomes.flatMap(({ status }, item) => (status === 'rejected' ? [item] : [])),
    [77],
  );
  assert.ok(runs <= 2 * Math.log2(256) + 1, `${runs} runs`);
});

test('a group is full at its maximum weight, and an item that exceeds it runs alone', async () => {
  const groups: number[][] = [];
  const call = gather<number, number>({
    maxInFlight: 1,
    maxItems: 4,
    weight: { of: (item) => item, max: 10 },
    isItemFault: () => false,
    async run(items) {
      groups.push(items);
      return items;
    },
  });
  await Promise.all([3, 7, 1, 20, 5, 5, 1, 1, 1, 1, 1].map(call));
  assert.deepEqual(groups, [[3, 7], [1], [20], [5, 5], [1, 1, 1, 1], [1]]);
});

test('suspect items are retried separately, and do not delay the others', async () => {
  const groups: string[][] = [];
  let heldBack = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const call = gather<string, string>({
    maxInFlight: 1,
    maxItems: 10,
    isItemFault: () => true,
    isSuspect: (item) => item.startsWith('bad'),
    async run(items) {
      groups.push(items);
      if (items.every((item) => item.startsWith('bad'))) {
        heldBack += 1;
        await held;
      }
      if (items.some((item) => item.startsWith('bad'))) throw new Error('bad');
      return items;
    },
  });
  const bad = ['bad 1', 'bad 2'].map((item) => call(item).catch(() => 'refused'));
  assert.deepEqual(await Promise.all(['a', 'b'].map(call)), ['a', 'b']);
  assert.equal(await call('c'), 'c', 'while the suspects are still being tried');
  assert.equal(heldBack, 1, 'one statement of suspects at a time');
  release();
  assert.deepEqual(await Promise.all(bad), ['refused', 'refused']);
  assert.deepEqual(groups, [
    ['bad 1', 'bad 2', 'a', 'b'],
    ['a', 'b'],
    ['bad 1', 'bad 2'],
    ['c'],
    ['bad 1'],
    ['bad 2'],
  ]);
});
