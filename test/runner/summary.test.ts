/** The summary of a test run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileRun } from './file-run.ts';
import { countOutcomes, nameFailures, summarise } from './summary.ts';

const passed = { name: 'holds', passed: true, ms: 5, skipped: null, error: null, line: 1 };
const failed = {
  ...passed,
  name: "outer > it's broken",
  passed: false,
  error: 'AssertionError: 1 !== 2',
  line: 7,
};
const skipped = { ...passed, name: 'left out', skipped: 'there is no Chromium: install one' };

function fileRun(change: Partial<FileRun>): FileRun {
  return {
    file: 'test/a.test.ts',
    outcomes: [passed],
    faults: [],
    output: '',
    seconds: 1,
    load: 2,
    ...change,
  };
}

test('lists failures with place, reason, output, and the command that repeats them', () => {
  const run = fileRun({ outcomes: [passed, failed], output: 'printed\n' });
  assert.equal(nameFailures(run), "✖ test/a.test.ts: outer > it's broken");
  const text = summarise([run], { seed: 'odd one', elapsedMs: 61_000, leftOut: new Map() });
  assert.match(
    text,
    /✖ outer > it's broken\n {4}test\/a\.test\.ts:7, after 0\.0 s\n {4}AssertionError: 1 !== 2\n/,
  );
  assert.match(
    text,
    /Again: npm test -- test\/a\.test\.ts --name outer --seed 'odd one'\n {4}It printed:\n {4}printed/,
  );
  assert.match(text, /1 files in 1:01, seed odd one\n\n1 passed, 1 failed, 0 skipped$/);
});

test('counts a fault of a whole file as a failure', () => {
  const run = fileRun({ outcomes: [], faults: ['It ran no test.'] });
  assert.deepEqual(countOutcomes([run]), { passed: 0, failed: 1, skipped: 0 });
  assert.match(
    summarise([run], { seed: 's', elapsedMs: 1, leftOut: new Map() }),
    /✖ test\/a\.test\.ts\n {4}It ran no test\./,
  );
});

test('counts skipped tests by reason, and names the slowest files', () => {
  const runs = Array.from({ length: 12 }, (_, place) =>
    fileRun({ file: `test/${place}.test.ts`, seconds: place, outcomes: [passed, skipped] }),
  );
  const text = summarise(runs, { seed: 'holdfast', elapsedMs: 1, leftOut: new Map([['long', 3]]) });
  assert.match(
    text,
    /Skipped:\n {2}12 tests: there is no Chromium: install one\n\nOf the other tiers, npm run test:long has 3 files\.\n/,
  );
  const slowest = [...text.matchAll(/ s {2}test\/(\d+)\.test\.ts/g)].map((match) => Number(match[1]));
  assert.deepEqual(slowest, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
});
