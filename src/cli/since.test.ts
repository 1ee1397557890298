/** How operators give a time in the past. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSince } from './since.ts';

const now = new Date('2026-11-18T16:00:00Z');
const parse = (text: string) => parseSince(text, now).toISOString();

test('takes how long ago, a day, and a time', () => {
  assert.equal(parse('30m'), '2026-11-18T15:30:00.000Z');
  assert.equal(parse('24h'), '2026-11-17T16:00:00.000Z');
  assert.equal(parse('2w'), '2026-11-04T16:00:00.000Z');
  assert.equal(parse('2026-11-01'), '2026-11-01T00:00:00.000Z');
  assert.equal(parse('2026-11-01T08:00:00+02:00'), '2026-11-01T06:00:00.000Z');
});

for (const text of [
  '',
  'yesterday',
  '24',
  '-1h',
  '1.5h',
  '2026-13-01',
  '2026-02-30',
  '2026-11-01T08:00',
  '999999w',
]) {
  test(`says what it takes instead of "${text}"`, () => {
    assert.throws(() => parse(text), /^OperatorError: ".*" is not a time\. Give how long ago/);
  });
}

test('refuses a time in the future', () => {
  assert.throws(() => parse('2026-11-19'), /2026-11-19 is in the future/);
});
