/** Tests that have to do with dates, run where the calendar is awkward: at midnight, at the end of a month or a year, on a leap day, at a change of daylight saving time, in far time zones. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createLane } from '../runner/lane.ts';
import { describeFailures, hasFailed } from '../runner/summary.ts';
import { clockIsSet, clockStartingAt } from '../support/service/clock.ts';
import { longOnly } from '../support/service/long.ts';

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

/**
 * When a file begins: loading takes a second or two, so that midnight comes while the tests run or just before.
 * `npm run test:long` runs all files at each of them, and this file named alone only the one that is most about it.
 */
const instants = [
  {
    what: 'just before the year ends',
    at: '2027-12-31T23:59:57.500Z',
    zone: 'UTC',
    first: 'test/e2e/stats.test.ts',
  },
  {
    what: 'at the very end of a leap day',
    at: '2028-02-29T23:59:59.900Z',
    zone: 'UTC',
    first: 'test/e2e/asset-due.test.ts',
  },
  {
    what: 'on a leap day, where it is the first of March',
    at: '2028-02-29T12:00:00.000Z',
    zone: 'Pacific/Kiritimati',
    first: 'src/maintenance/entries/open-defects.test.ts',
  },
  {
    what: 'as the clocks go forward',
    at: '2028-03-26T00:59:57.500Z',
    zone: 'Europe/Berlin',
    first: 'test/e2e/api-keys.test.ts',
  },
  {
    what: 'as the clocks go back',
    at: '2027-11-07T05:59:57.500Z',
    zone: 'America/New_York',
    first: 'src/holdings/audit-proofs/audit-anchors.test.ts',
  },
  {
    what: 'before midnight, where the day began late',
    at: '2027-04-30T23:59:57.500Z',
    zone: 'Pacific/Pago_Pago',
    first: 'src/webhooks/deliveries/partitions.test.ts',
  },
];

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'calendar-'));
});
after(() => rm(directory, { recursive: true, force: true }));

const skip = clockIsSet && 'it sets the clock itself';

for (const { what, at, zone, first } of instants) {
  test(`dates are right ${what}`, { skip, timeout: 600_000 }, () => runAt([first], { at, zone }));
  const others = files.filter((file) => file !== first);
  test(`dates are right ${what}, in every other file`, { skip: skip || longOnly, timeout: 1_800_000 }, () =>
    runAt(others, { at, zone }),
  );
}

async function runAt(which: string[], { at, zone }: { at: string; zone: string }): Promise<void> {
  assert.ok(which.length > 0);
  await using lane = createLane({
    env: { ...(process.env as Record<string, string>), TZ: zone },
    signal: new AbortController().signal,
  });
  for (const file of which) {
    const clock = clockStartingAt(new Date(at));
    const run = await lane.run(file, { directory: join(directory, 'file'), clock, name: null });
    assert.ok(
      run.outcomes.some(({ passed, skipped }) => passed && skipped === null),
      `${file} ran no test`,
    );
    assert.ok(!hasFailed(run), `with --at ${at} --tz ${zone}\n${describeFailures(run, '')}`);
  }
}
