/** The tests about dates, run where the calendar is awkward: each file of test/long/calendar has such a moment. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLane } from '../../runner/lane.ts';
import { describeFailures, hasFailed } from '../../runner/summary.ts';
import { clockIsSet } from './clock.ts';
import { longOnly } from './long.ts';

/** Expiry, due dates, sessions, ranges of days, partitions, retries: whatever compares, rounds or adds up times. */
const files = [
  'src/maintenance/entries/open-defects.test.ts',
  'src/holdings/audit-proofs/audit-anchors.test.ts',
  'src/holdings/certificates/certificate.test.ts',
  'src/webhooks/dispatch/health.test.ts',
  'src/webhooks/deliveries/partitions.test.ts',
  'src/webhooks/dispatch/queue-results.test.ts',
  'src/webhooks/dispatch/queue.test.ts',
  'src/webhooks/dispatch/retry-schedule.test.ts',
  'src/holdings/vaults/transactions.test.ts',
  'test/e2e/api-keys.test.ts',
  'test/e2e/asset-due.test.ts',
  'test/e2e/asset-viewers.test.ts',
  'test/e2e/file-content.test.ts',
  'test/e2e/files.test.ts',
  'test/e2e/http-access.test.ts',
  'test/e2e/http-idempotency.test.ts',
  'test/e2e/http-pages.test.ts',
  'test/e2e/maintenance-looks.test.ts',
  'test/e2e/maintenances.test.ts',
  'test/e2e/own-key-signoffs.test.ts',
  'test/e2e/people-attacks.test.ts',
  'test/e2e/session-attacks.test.ts',
  'test/e2e/signoffs.test.ts',
  'test/e2e/stats.test.ts',
  'test/e2e/transactions.test.ts',
  'test/e2e/webhook-replays.test.ts',
];

export interface Moment {
  /** As in "dates are right as the year ends". */
  what: string;
  /**
   * When it comes, for the nth time. Each file begins at another one, a second before if something happens then: files share
   * a process, and its clock goes ahead only.
   */
  at(n: number): Date;
  zone: string;
  /** The file that is most about it: without the longer form, it runs alone. */
  first: string;
}

/** Before the process is replaced, and the clock goes back to the first time: 2076 is far enough, also in leap years. */
const timesOfProcess = 13;

export function testDates({ what, at, zone, first }: Moment): void {
  const { NODE_TEST_CONTEXT: _, ...given } = process.env as Record<string, string>;
  const lane = createLane({ env: { ...given, TZ: zone }, signal: new AbortController().signal });
  after(() => lane[Symbol.asyncDispose]());
  assert.ok(files.includes(first));
  for (const [n, file] of [first, ...files.filter((one) => one !== first)].entries()) {
    const skip = (clockIsSet && 'it sets the clock itself') || (file !== first && longOnly);
    test(`dates are right ${what}: ${file}`, { skip, timeout: 600_000 }, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'calendar-'));
      const time = at(n % timesOfProcess);
      try {
        const run = await lane.run(file, { directory, at: time, name: null });
        const ran = run.outcomes.some(({ passed, skipped }) => passed && skipped === null);
        assert.ok(ran, `${file} ran no test`);
        assert.ok(!hasFailed(run), `--at ${time.toISOString()} --tz ${zone}\n${describeFailures(run, '')}`);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
}

/** How long before a change a file begins: most take a second or a few, so that it comes while they run. */
const leadMs = 1_000;

export function justBefore(time: number): Date {
  return new Date(time - leadMs);
}

/** In UTC, of a month from 0. */
export function nthSunday(year: number, month: number, which: number | 'last'): number {
  const first = 1 + ((7 - new Date(Date.UTC(year, month, 1)).getUTCDay()) % 7);
  const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = which === 'last' ? first + 7 * Math.floor((days - first) / 7) : first + 7 * (which - 1);
  return Date.UTC(year, month, day);
}

export const firstYear = 2027;
export const firstLeapYear = 2028;
