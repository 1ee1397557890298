/** The short fault run; `npm run test:faults` is the long one. */
// tier: process
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seed } from '../support/service/seed.ts';
import { killAll } from './faults/kill-all.ts';
import { killDatabase } from './faults/kill-database.ts';
import { killAmidFiles } from './faults/kill-in-files.ts';
import { stopPastLease } from './faults/stop-past-lease.ts';
import { runFaults } from './run.ts';

test('loses and repeats nothing when service, database or chain is killed or a lease expires', {
  // Whatever gets stuck gives up by itself; a minute and a half alone, and so many times that beside others.
  timeout: 900_000,
}, async (t) => {
  const summary = await runFaults({
    cycles: 4,
    seed,
    chain: 'embedded',
    // Enough to be in the midst of something at any time; all of it has to be looked at in the end.
    actors: 4,
    longestPauseMs: 250,
    round: [killAll, killDatabase, stopPastLease, killAmidFiles],
    tell: (line) => t.diagnostic(line),
  });
  t.diagnostic(JSON.stringify(summary));
  // A run in which nothing happened would prove nothing.
  const { tally } = summary;
  assert.equal(tally['service killed'], 2);
  assert.equal(tally['database killed'], 2);
  assert.ok((tally['late results refused'] ?? 0) > 0);
  assert.ok(summary.events > 0 && summary.received >= summary.events);
  assert.ok(summary.records > 0 && summary.files > 0);
  assert.ok((tally['bytes downloaded and compared'] ?? 0) > 0);
  assert.equal(tally['chain killed'], 1);
  assert.ok((tally['batches anchored'] ?? 0) > 0);
  assert.ok((tally['proofs verified'] ?? 0) >= summary.records);
  // Each file has a version, and one of them was handed on.
  assert.ok((tally['proofs in histories verified'] ?? 0) > summary.files);
});
