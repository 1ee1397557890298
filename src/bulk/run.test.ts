/** What an import reports when it does not come to its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportRow } from './report.ts';
import { type JournalState, runImport } from './run.ts';
import type { Placed } from './units.ts';

test('what was sent before the input broke off is reported', async () => {
  const broken = new Error('The file was changed while it was read.');
  async function* units(): AsyncGenerator<Placed[]> {
    yield [{ line: 1, end: 1 }];
    yield [{ line: 2, end: 2 }];
    throw broken;
  }
  const reported: ReportRow[] = [];
  const states = new Map<string, JournalState>();
  const importing = runImport({
    units: units(),
    keyOf: ([row]) => `key-${row?.line}`,
    send: async (rows) => ({ ids: rows.map(({ line }) => `rec_${line}`) }),
    journal: {
      find: async (key) => states.get(key) ?? null,
      note: async (key, state) => void states.set(key, state),
    },
    concurrency: 4,
    resendUnknown: false,
    report: async (rows) => void reported.push(...rows),
    stopping: new AbortController().signal,
    now: Date.now,
  });
  await assert.rejects(importing, broken);
  assert.deepEqual(
    reported.map(({ line, id, status }) => [line, id, status]),
    [
      [1, 'rec_1', 'created'],
      [2, 'rec_2', 'created'],
    ],
  );
});
