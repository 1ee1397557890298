/** What the progress line writes on a terminal and elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgressLine } from './progress-line.ts';

function line({ isTTY }: { isTTY: boolean }) {
  const written: string[] = [];
  let nowMs = 0;
  const target = { isTTY, columns: 40, write: (text: string) => written.push(text) };
  return {
    written,
    progress: createProgressLine(target, () => nowMs),
    after(ms: number) {
      nowMs += ms;
    },
  };
}

const leaves = (done: number, total: number | null = 2000) => ({
  check: 'anchors',
  what: 'leaves',
  done,
  total,
});

test('on a terminal it overwrites one line at most ten times a second, and clears it at the end', () => {
  const { written, progress, after } = line({ isTTY: true });
  progress.tell(leaves(0, null));
  after(50);
  progress.tell(leaves(500));
  after(75_000);
  progress.tell(leaves(1000));
  progress.end();
  assert.deepEqual(written, [
    '0:00  anchors: leaves, counting',
    '\r\u001b[K',
    '1:15  anchors: leaves, 1,000 of 2,000',
    '\r\u001b[K',
  ]);
});

test('cuts a long line, so that it never wraps', () => {
  const { written, progress } = line({ isTTY: true });
  progress.tell({ ...leaves(0), what: 'confirmed batches against the chain' });
  assert.equal(written[0]?.length, 39);
});

test('without a terminal it prints a plain line at each start, and one every ten seconds', () => {
  const { written, progress, after } = line({ isTTY: false });
  progress.tell(leaves(0, null));
  progress.tell(leaves(0));
  after(9_000);
  progress.tell(leaves(500));
  after(1_000);
  progress.tell(leaves(600));
  progress.end();
  assert.deepEqual(written, ['0:00  anchors: leaves, 0 of 2,000\n', '0:10  anchors: leaves, 600 of 2,000\n']);
});

test('writes nothing without a target', () => {
  assert.doesNotThrow(() => createProgressLine(null).tell(leaves(1)));
});
