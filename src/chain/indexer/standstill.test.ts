/** When a stall of the indexer is logged, and when its end is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStandstill } from './standstill.ts';

test('logs a cause only once it lasts, then once a minute, and its end too', () => {
  const told: string[] = [];
  const note = (_details: object, message: string) => void told.push(message);
  let seconds = 0;
  const standstill = createStandstill({ log: { info: note, error: note }, now: () => seconds * 1000 });
  for (const end of [30, 59]) {
    for (; seconds < end; seconds += 1) standstill.meet('the node lags');
    standstill.over();
  }
  assert.deepEqual(told, []);
  for (; seconds < 200; seconds += 1) standstill.meet('the node lags');
  standstill.over();
  standstill.over();
  const [first, second, last, ...rest] = told;
  assert.match(first ?? '', /indexing has stopped/);
  assert.equal(second, first);
  assert.equal(last, 'indexing has resumed');
  assert.deepEqual(rest, []);
});
