/** How a check runs: two looks, findings, progress, and what could not be checked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Check, type Finding, type Pass, type Range, runEach } from './check.ts';

function finding(id: number): Finding {
  return { rule: 'odd', ids: { id }, message: `${id} is odd.`, advice: 'Add one.' };
}

/** Numbers up to `last`, ten per page; `isWrong` decides what is wrong at the nth look at a page. */
function numbers(last: number, isWrong: (id: number, look: number) => boolean): Pass & { looks: Range[] } {
  const looks: Range[] = [];
  const times = new Map<unknown, number>();
  return {
    what: 'numbers',
    looks,
    count: async () => last,
    async look(range) {
      looks.push(range);
      const look = (times.get(range.after) ?? 0) + 1;
      times.set(range.after, look);
      const from = ((range.after as number | undefined) ?? 0) + 1;
      const until = Math.min((range.until as number | undefined) ?? from + 9, last);
      const ids = Array.from({ length: Math.max(0, until - from + 1) }, (_, place) => from + place);
      const wrong = ids.filter((id) => isWrong(id, look));
      return { rows: ids.length, last: ids.at(-1), findings: wrong.map(finding) };
    },
  };
}

const checkOf = (...passes: Pass[]): Check => ({ name: 'numbers', passes });

test('checks every row, and reports what is wrong on both looks', async () => {
  const told: string[] = [];
  const [report] = await runEach([checkOf(numbers(35, (id) => id === 7 || id === 33))], {
    settleMs: 0,
    onFinding: (check, { ids }) => told.push(`${check} ${ids.id}`),
  });
  assert.deepEqual(told, ['numbers 7', 'numbers 33']);
  assert.deepEqual([report?.checked, report?.found, report?.skipped], [35, 2, []]);
});

test('does not report what is right on the second look, or wrong only then', async () => {
  const pass = numbers(35, (id, look) => (look === 1 ? id === 7 || id === 8 : id === 8 || id === 9));
  const [report] = await runEach([checkOf(pass)], { settleMs: 0 });
  assert.deepEqual(
    report?.findings.map(({ ids }) => ids.id),
    [8],
  );
  assert.deepEqual(pass.looks.at(-1), { after: undefined, until: 10 });
});

test('waits before the second look, once for many pages', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pass = numbers(100, (id) => id % 10 === 0);
  const running = runEach([checkOf(pass)], { settleMs: 100 });
  // This pass awaits nothing else, so everything possible without the clock is done by the next turn.
  await nextTurn();
  assert.equal(pass.looks.length, 11, 'ten pages, and the look that finds the end');
  t.mock.timers.tick(99);
  await nextTurn();
  assert.equal(pass.looks.length, 11);
  t.mock.timers.tick(1);
  const [report] = await running;
  assert.deepEqual([report?.found, pass.looks.length], [10, 21]);
});

test('keeps the first of many findings, and counts all of them', async () => {
  const [report] = await runEach([checkOf(numbers(1000, () => true))], { settleMs: 0, keep: 3 });
  assert.deepEqual([report?.found, report?.findings.length], [1000, 3]);
});

test('names what cannot be checked with its reason, and checks the rest', async () => {
  const away: Pass = {
    ...numbers(5, () => false),
    what: 'others',
    look: () => Promise.reject(new Error('away')),
  };
  const [report] = await runEach(
    [
      checkOf(
        away,
        numbers(5, () => false),
      ),
    ],
    { settleMs: 0 },
  );
  assert.deepEqual(report?.skipped, [{ what: 'others', reason: 'away' }]);
  assert.equal(report?.checked, 5);
});

test('reports progress from nothing to all', async () => {
  const told: string[] = [];
  await runEach([checkOf(numbers(15, () => false))], {
    onProgress: ({ what, done, total }) => told.push(`${what} ${done}/${total}`),
  });
  assert.deepEqual(told, [
    'numbers 0/null',
    'numbers 0/15',
    'numbers 10/15',
    'numbers 15/15',
    'numbers 15/15',
  ]);
});

test('reports what a stop prevented as not checked', async () => {
  const stopping = new AbortController();
  const pass = numbers(100, (id) => id === 3);
  const stopped: Pass = {
    ...pass,
    look(range) {
      if (range.after === 50) stopping.abort(new Error('stopped'));
      return pass.look(range);
    },
  };
  const reports = await runEach([checkOf(stopped), checkOf(numbers(5, () => false))], {
    settleMs: 60_000,
    signal: stopping.signal,
  });
  assert.deepEqual(
    reports.flatMap(({ skipped }) => skipped.map(({ reason }) => reason)),
    ['stopped', 'stopped'],
  );
});
