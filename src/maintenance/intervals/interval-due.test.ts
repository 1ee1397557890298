/** When intervals are due: calendar months in UTC, tolerances that move nothing, life limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Interval } from './interval.ts';
import { dueOf, dueThenOf } from './interval-due.ts';

const none = { days: null, months: null, hours: null, cycles: null };
const unused = { hours: 0, cycles: 0 };

function interval(given: Partial<Interval>): Interval {
  const at = new Date('2024-01-31T13:00:00Z');
  return {
    id: 'itv_1',
    name: '',
    kind: 'recurring',
    every: { ...none, months: 1 },
    tolerance: { days: null, hours: null, cycles: null },
    lastDone: { at, hours: null, cycles: null },
    dueThen: null,
    completedBy: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
    ...given,
  };
}

/** As if it had been completed at that time. */
function completed(before: Interval, at: string, hours: number | null = null): Interval {
  return { ...before, dueThen: dueThenOf(before), lastDone: { ...before.lastDone, at: new Date(at), hours } };
}

const dueAt = (one: Interval) => dueOf(one, unused, new Date(0)).nextDue.at?.toISOString();

test('months end with the last moment of the day in UTC, on the last day of a shorter month', () => {
  for (const [from, months, due] of [
    ['2024-01-31T00:00:00Z', 1, '2024-02-29'],
    ['2023-01-31T23:59:59Z', 1, '2023-02-28'],
    ['2024-02-29T12:00:00Z', 12, '2025-02-28'],
    ['2024-02-29T12:00:00Z', 48, '2028-02-29'],
    ['2024-04-30T12:00:00Z', 1, '2024-05-30'],
    ['2023-11-30T12:00:00Z', 15, '2025-02-28'],
    // Already the next day east of Greenwich: only UTC counts.
    ['2024-03-31T01:30:00+02:00', 1, '2024-04-30'],
    ['2024-12-15T08:00:00Z', 1, '2025-01-15'],
  ] as const) {
    const lastDone = { at: new Date(from), hours: null, cycles: null };
    assert.equal(dueAt(interval({ lastDone, every: { ...none, months } })), `${due}T23:59:59.999Z`);
  }
});

test('is due at its last moment, and overdue the moment after', () => {
  const last = Date.parse('2024-02-29T23:59:59.999Z');
  assert.equal(dueOf(interval({}), unused, new Date(last)).overdue, false);
  assert.equal(dueOf(interval({}), unused, new Date(last + 1)).overdue, true);
});

test('work within the tolerance does not move what is due next, and the 31st stays the 31st', () => {
  const first = interval({ tolerance: { days: 10, hours: null, cycles: null } });
  const late = completed(first, '2024-03-10T23:59:59.999Z');
  assert.equal(dueAt(late), '2024-03-31T23:59:59.999Z');
  assert.equal(dueAt(completed(late, '2024-04-02T06:00:00Z')), '2024-04-30T23:59:59.999Z');
  assert.equal(dueAt(completed(first, '2024-03-11T00:00:00Z')), '2024-04-11T23:59:59.999Z', 'too late');
  assert.equal(dueAt(completed(first, '2024-02-20T00:00:00Z')), '2024-03-20T23:59:59.999Z', 'early');
  assert.equal(
    dueAt(completed(first, '2024-02-29T23:59:59.999Z')),
    '2024-03-29T23:59:59.999Z',
    'in time, without the tolerance',
  );
});

test('between due and latest it is in tolerance, and overdue only after that', () => {
  const one = interval({
    every: { ...none, hours: 100 },
    tolerance: { days: null, hours: 10, cycles: null },
    lastDone: { at: new Date(0), hours: 50, cycles: null },
  });
  const at = (hours: number) => {
    const { inTolerance, overdue, remaining } = dueOf(one, { hours, cycles: 0 }, new Date());
    return [inTolerance, overdue, remaining.hours];
  };
  assert.deepEqual(at(150), [false, false, 0]);
  assert.deepEqual(at(150.1), [true, false, -0.1]);
  assert.deepEqual(at(160), [true, false, -10]);
  assert.deepEqual(at(160.1), [false, true, -10.1]);
  const { nextDue, countsFrom } = dueOf(completed(one, '2024-01-01T00:00:00Z', 158), unused, new Date(0));
  assert.deepEqual([countsFrom.hours, nextDue.hours], [150, 250]);
  assert.equal(dueOf(completed(one, '2024-01-01T00:00:00Z', 161), unused, new Date(0)).nextDue.hours, 261);
});

test('date, hours and cycles use their tolerances separately', () => {
  const one = interval({
    every: { ...none, months: 1, hours: 100 },
    tolerance: { days: 5, hours: 10, cycles: null },
    lastDone: { at: new Date('2024-01-15T12:00:00Z'), hours: 0, cycles: null },
  });
  const { nextDue } = dueOf(completed(one, '2024-02-10T12:00:00Z', 104), unused, new Date(0));
  assert.deepEqual([nextDue.at?.toISOString(), nextDue.hours], ['2024-03-10T23:59:59.999Z', 200]);
});

test('a life limit is over as soon as it is reached', () => {
  const limit = interval({
    kind: 'life-limit',
    every: { ...none, cycles: 20 },
    lastDone: { at: new Date(0), hours: null, cycles: 5 },
  });
  const overdue = (cycles: number) => dueOf(limit, { hours: 0, cycles }, new Date()).overdue;
  assert.deepEqual([overdue(24), overdue(25), overdue(26)], [false, true, true]);
});
