/** Tests when blocks are due. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberToHex } from 'viem';
import type { JournalBlock } from './journal.ts';
import { createPace } from './pace.ts';

function block(number: number, transactions: number): JournalBlock {
  const hash = numberToHex(number, { size: 32 });
  return {
    number,
    hash,
    parentHash: hash,
    timestampSeconds: number,
    transactions: Array.from({ length: transactions }, () => '0x02' as const),
  };
}

test('mines a filled pool at once, and an empty one only until the last transactions are final', (t) => {
  t.mock.method(performance, 'now', () => now);
  let now = 0;
  const pace = createPace([block(0, 0)]);
  now = 60_000;
  assert.equal(pace.isDue(block(0, 0), 0), false);
  assert.equal(pace.isDue(block(0, 0), 1), true);
  pace.mined(block(1, 1));
  assert.equal(pace.isDue(block(1, 1), 0), false);
  now += 1_001;
  assert.equal(pace.isDue(block(1, 1), 0), true);
  pace.mined(block(2, 0));
  now += 1_001;
  assert.equal(pace.isDue(block(2, 0), 0), true);
  pace.mined(block(3, 0));
  now += 60_000;
  assert.equal(pace.isDue(block(3, 0), 0), false);
});

test('mines more slowly while no block takes the pool, but at once for a new transaction', (t) => {
  t.mock.method(performance, 'now', () => now);
  let now = 0;
  let mined = 0;
  const pace = createPace([]);
  const head = block(9, 0);
  for (now = 0; now < 600_000; now += 250) {
    if (!pace.isDue(head, 1)) continue;
    pace.mined(head);
    mined += 1;
  }
  assert.ok(mined > 8 && mined < 20, `${mined} blocks in ten minutes`);
  assert.equal(pace.isDue(head, 1), false);
  assert.equal(pace.isDue(head, 2), true);
});

test('mines after a restart until everything is final', (t) => {
  t.mock.method(performance, 'now', () => now);
  let now = 0;
  const unfinished = createPace([block(7, 1), block(8, 0)]);
  const finished = createPace([block(7, 0), block(8, 0)]);
  now = 2_000;
  assert.equal(unfinished.isDue(block(8, 0), 0), true);
  assert.equal(finished.isDue(block(8, 0), 0), false);
});
