/** When a failed delivery is retried, with and without Retry-After. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAttemptAt, parseRetryAfter } from './retry-schedule.ts';

const hour = 3_600_000;
const plan = [30_000, 300_000, 1_800_000, 3 * hour, 12 * hour];

test('the default schedule waits 30 s, 5 min, 30 min, 3 h and 12 h, each ±20%, then gives up', () => {
  const steps = [30_000, 300_000, 1_800_000, 3 * hour, 12 * hour];
  for (const [position, step] of steps.entries()) {
    const failed = { attempts: position + 1, firstAttemptAt: 0, now: 0, retryAfterMs: null };
    assert.equal(
      nextAttemptAt(plan, failed, () => 0),
      step * 0.8,
    );
    assert.equal(
      nextAttemptAt(plan, failed, () => 0.5),
      step,
    );
    assert.ok((nextAttemptAt(plan, failed, () => 0.999999) ?? 0) <= step * 1.2);
  }
  assert.equal(nextAttemptAt(plan, { attempts: 6, firstAttemptAt: 0, now: 0, retryAfterMs: null }), null);
});

test('Retry-After makes the wait longer, never shorter, and never exceeds the 24 hours', () => {
  const failed = { attempts: 1, firstAttemptAt: 0, now: 1000 };
  const middle = () => 0.5;
  assert.equal(nextAttemptAt(plan, { ...failed, retryAfterMs: 120_000 }, middle), 121_000);
  assert.equal(nextAttemptAt(plan, { ...failed, retryAfterMs: 1 }, middle), 31_000);
  assert.equal(nextAttemptAt(plan, { ...failed, retryAfterMs: 99 * hour }, middle), 24 * hour);
  for (const now of [24 * hour, 30 * hour])
    assert.equal(nextAttemptAt(plan, { attempts: 2, firstAttemptAt: 0, now, retryAfterMs: 1 }, middle), null);
});

test('reads Retry-After as seconds or as a date', () => {
  assert.equal(parseRetryAfter('120', 0), 120_000);
  assert.equal(parseRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 10_000), 50_000);
  assert.equal(parseRetryAfter('Thu, 01 Jan 1970 00:00:01 GMT', 10_000), 0);
  for (const nothing of [undefined, '', 'soon', '12 seconds', '1.5'])
    assert.equal(parseRetryAfter(nothing, 0), null, nothing);
});
