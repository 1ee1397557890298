/** Turns: how many run and wait at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from './gateway-turns.ts';

const never = new AbortController().signal;

test('those that wait get their turn in order, each when another ends', async () => {
  const turns = createTurns({ atOnce: 1, mostWaiting: 2 });
  const order: string[] = [];
  const first = await turns.take(never);
  const second = turns.take(never).then((end) => order.push('second') && end);
  const third = turns.take(never).then((end) => order.push('third') && end);
  assert.equal(await turns.take(never), null);
  first?.();
  // Ending twice frees only one place.
  first?.();
  const end = await second;
  await new Promise(setImmediate);
  assert.deepEqual(order, ['second']);
  (end as () => void)();
  await third;
  assert.deepEqual(order, ['second', 'third']);
});

test('whoever leaves while waiting takes no turn', async () => {
  const turns = createTurns({ atOnce: 1, mostWaiting: 1 });
  const first = await turns.take(never);
  const leaving = new AbortController();
  const second = turns.take(leaving.signal);
  leaving.abort();
  assert.equal(await second, null);
  assert.equal(await turns.take(leaving.signal), null);
  const third = turns.take(never);
  first?.();
  assert.notEqual(await third, null);
});
