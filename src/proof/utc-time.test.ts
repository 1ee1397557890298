/** The one reading of times in documents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWholeSecond, utcTime } from './utc-time.ts';

test('a time is read if it has the one form, and its day, hour and second exist', () => {
  for (const [text, time] of [
    ['1970-01-01T00:00:00.000Z', 0],
    ['1970-01-01T00:00:01Z', 1000],
    ['2028-02-29T23:59:59.999Z', 1_835_481_599_999],
    ['0001-01-01T00:00:00.000Z', -62_135_596_800_000],
    ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ] as const) {
    assert.equal(utcTime(text), time, text);
  }
  for (const value of [
    ...[
      '2026-02-30T00:00:00.000Z',
      '2027-02-29T00:00:00.000Z',
      '2026-13-01T00:00:00.000Z',
      '2026-00-01T00:00:00.000Z',
    ],
    ...[
      '2026-01-00T00:00:00.000Z',
      '2026-01-01T24:00:00.000Z',
      '2026-12-31T23:59:60.000Z',
      '2026-01-01T00:60:00.000Z',
    ],
    ...['0000-01-01T00:00:00.000Z', '+002026-01-01T00:00:00.000Z', '-000001-01-01T00:00:00.000Z'],
    ...[
      '2026-01-01T00:00:00.000',
      '2026-01-01T00:00:00.000+00:00',
      '2026-01-01t00:00:00.000z',
      '2026-01-01 00:00:00.000Z',
    ],
    ...[
      '2026-01-01T00:00:00.0Z',
      '2026-01-01T00:00:00.000000Z',
      '2026-01-01T00:00Z',
      '2026-01-01',
      '1.1.2026',
      '',
      ' ',
    ],
    ...['2026-01-01T00:00:00.000Z\n', ' 2026-01-01T00:00:00.000Z', '٢٠٢٦-01-01T00:00:00.000Z'],
    ...[null, undefined, 0, 1_767_225_600_000, ['2026-01-01T00:00:00.000Z'], {}],
  ]) {
    assert.equal(utcTime(value), Number.NaN, JSON.stringify(value));
  }
});

test('signers state whole seconds since 1970', () => {
  const isOne = (text: string) => isWholeSecond(text, 'signedAt').length === 0;
  assert.ok(isOne('1970-01-01T00:00:00.000Z') && isOne('2026-11-15T12:00:00.000Z'));
  for (const text of ['1969-12-31T23:59:59.000Z', '2026-11-15T12:00:00Z', '2026-11-15T12:00:00.001Z', '']) {
    assert.ok(!isOne(text), text);
  }
});
