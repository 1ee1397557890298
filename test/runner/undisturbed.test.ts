/** A failure counts, unless the machine stood still; the second run always counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileRun } from './file-run.ts';
import { hasFailed, summarise } from './summary.ts';
import { runUndisturbed } from './undisturbed.ts';

const failed: FileRun = {
  file: 'a.test.ts',
  outcomes: [],
  faults: ['It died.'],
  output: '',
  seconds: 1,
  load: 1,
};
const passed: FileRun = { ...failed, faults: [] };

async function runWith(results: FileRun[], standstillMs: number) {
  const printed: string[] = [];
  let runs = 0;
  const run = await runUndisturbed({
    runFile: async () => results[runs++] ?? assert.fail('ran too often'),
    standstill: { longestSince: () => standstillMs, stop: async () => {} },
    print: (text) => printed.push(text),
    signal: new AbortController().signal,
  });
  return { run, runs, printed: printed.join('\n') };
}

test('runs a file once when it passes or when nothing stood still', async () => {
  assert.equal((await runWith([passed], 9_000)).runs, 1);
  const { run, runs, printed } = await runWith([failed], 0);
  assert.deepEqual([runs, hasFailed(run), printed], [1, true, '']);
});

test('runs a file again when it failed during a standstill, and says so at once and at the end', async () => {
  const { run, runs, printed } = await runWith([failed, passed], 6_200);
  assert.deepEqual([runs, hasFailed(run)], [2, false]);
  assert.match(printed, /no answer for 6\.2 s while a\.test\.ts ran[\s\S]*✖ a\.test\.ts: It died\./);
  assert.match(
    summarise([run], { seed: 'holdfast', elapsedMs: 1, leftOut: new Map() }),
    /no answer for 6\.2 s/,
  );
});

test('counts the failure of the second run', async () => {
  const { run, runs } = await runWith([failed, failed], 6_200);
  assert.deepEqual([runs, hasFailed(run)], [2, true]);
});
