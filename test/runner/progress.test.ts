/** The progress line of a test run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgressLine, lineOf } from './progress.ts';

const half = { done: 3, total: 8, failures: 0, weightDone: 10, weightTotal: 30 };

test('the line shows progress, failures and the remaining time', () => {
  assert.equal(lineOf(half, 60_000, 60_000), '1:00  3 of 8 files, no failure, about 2:00 left');
  assert.equal(lineOf(half, 60_000, 90_000), '1:30  3 of 8 files, no failure, about 1:30 left');
  assert.equal(
    lineOf({ ...half, failures: 2 }, 60_000, 200_000),
    '3:20  3 of 8 files, 2 FAILURES, a moment left',
  );
  assert.equal(lineOf({ ...half, done: 0, weightDone: 0 }, 0, 5_000), '0:05  0 of 8 files, no failure');
});

test('updates the line in place on a terminal, and prints one now and then elsewhere', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  for (const isTTY of [true, false]) {
    let written = '';
    let time = 0;
    const line = createProgressLine(
      { isTTY, columns: 20, write: (text: string) => (written += text) },
      () => time,
    );
    time = 1_000;
    line.tell(half);
    line.print('something else');
    time = 20_000;
    line.tell(half);
    line.end();
    const lines = isTTY
      ? '\r\u001b[K0:01  3 of 8 files,\r\u001b[Ksomething else\n\r\u001b[K0:01  3 of 8 files,\r\u001b[K0:20  3 of 8 files,\r\u001b[K'
      : 'something else\n0:20  3 of 8 files, no failure, about 0:40 left\n';
    assert.equal(written, lines);
  }
});
