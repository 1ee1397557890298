/** The short fault run on a chain behind an RPC address; `npm run test:faults -- --chain rpc` is the long one. */
import assert from 'node:assert/strict';
import { killAfterBroadcast } from '../faults/faults/kill-at.ts';
import { deepReorg } from '../faults/faults/reorg.ts';
import { runFaults } from '../faults/run.ts';
import { needs } from '../support/programs/needs.ts';
import { seed } from '../support/service/seed.ts';

needs('anvil').test(
  'anchors everything exactly once despite a kill after a broadcast and a reorg',
  {
    // Whatever gets stuck gives up by itself; a minute and a half alone, and so many times that beside others.
    timeout: 900_000,
  },
  async (t) => {
    const summary = await runFaults({
      cycles: 2,
      seed,
      chain: 'rpc',
      actors: 4,
      longestPauseMs: 250,
      round: [killAfterBroadcast, deepReorg],
      tell: (line) => t.diagnostic(line),
    });
    t.diagnostic(JSON.stringify(summary));
    const { tally } = summary;
    assert.equal(tally['killed after broadcast'], 1);
    assert.equal(tally.reorgs, 1);
    assert.ok((tally['confirmed batches taken back'] ?? 0) > 0);
    assert.ok((tally['confirmations taken back, anchor.reorged'] ?? 0) > 0);
    assert.ok((tally['proofs verified'] ?? 0) >= summary.records);
    assert.ok((tally['proofs in histories verified'] ?? 0) >= summary.files);
  },
);
