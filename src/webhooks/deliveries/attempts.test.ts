/** The attempts of a delivery, the first of them as a line of text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attempt, readAttemptHead, toAttempts, writeFirstAttempt } from './attempts.ts';

const plain: Attempt = {
  number: 1,
  at: '2026-11-18T16:00:00.000Z',
  durationMs: 12,
  statusCode: 204,
  error: null,
  responseHeaders: { date: 'Wed, 18 Nov 2026 16:00:00 GMT' },
  responseBody: '',
};

test('reads what it wrote, whatever the receiver answered', () => {
  const odd = 'a\tb\nc\0d"e\\f\u2028\ud800';
  const attempts: Attempt[] = [
    plain,
    { ...plain, statusCode: null, error: odd.replace('\0', '').toWellFormed(), responseHeaders: {} },
    { ...plain, responseHeaders: { [odd]: odd, 'x-tab': '\t' }, responseBody: odd },
  ];
  for (const attempt of attempts) {
    const line = writeFirstAttempt(attempt);
    assert.deepEqual(toAttempts({ first_attempt: line, attempts: [] }), [attempt]);
    assert.doesNotMatch(line, /\0/, 'which PostgreSQL cannot store');
  }
});

test('leaves out of the first part what PostgreSQL cannot unescape', () => {
  const [head = ''] = writeFirstAttempt({ ...plain, error: 'a\0b\ud800' }).split('\t');
  assert.equal(readAttemptHead(head).error, 'ab\ufffd');
});

test('the part before the tab is all but the response', () => {
  const { responseHeaders: _, responseBody: __, ...head } = plain;
  const [before = '', ...after] = writeFirstAttempt({ ...plain, responseBody: '\t' }).split('\t');
  assert.equal(after.length, 1);
  assert.deepEqual(readAttemptHead(before), head);
});
