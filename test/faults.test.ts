/** The short fault run; `npm run test:faults` is the long one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killBoth } from './faults/faults/kill-both.ts';
import { killDatabase } from './faults/faults/kill-database.ts';
import { stopPastLease } from './faults/faults/stop-past-lease.ts';
import { runFaults } from './faults/run.ts';

test('nothing is lost or done twice when service and database are killed, and a node is stopped past its lease', async (t) => {
  const summary = await runFaults({
    cycles: 3,
    seed: 'short',
    round: [killBoth, killDatabase, stopPastLease],
    tell: (line) => t.diagnostic(line),
  });
  t.diagnostic(JSON.stringify(summary));
  // A run in which nothing happened would prove nothing.
  assert.equal(summary.tally['service killed'], 1);
  assert.equal(summary.tally['database killed'], 2);
  assert.ok((summary.tally['late results refused'] ?? 0) > 0);
  assert.ok(summary.events > 0 && summary.received >= summary.events);
});
