/** A short fault run of four nodes behind HAProxy on Patroni; `npm run test:faults -- --topology cluster` is the long one. */
// tier: process
import assert from 'node:assert/strict';
import { needs } from '../support/programs/needs.ts';
import { longOnly } from '../support/service/long.ts';
import { seed } from '../support/service/seed.ts';
import { clusterPrograms } from './cluster/cluster.ts';
import { freezeNode, killAmidFailover, killNodes } from './cluster/faults.ts';
import { killChain } from './faults/kill-chain.ts';
import { runFaults } from './run.ts';

needs(...clusterPrograms).test(
  'a cluster loses and repeats nothing when nodes, primary, proxy or chain die',
  {
    skip: longOnly,
    // Whatever gets stuck gives up by itself.
    timeout: 1_800_000,
  },
  async (t) => {
    const summary = await runFaults({
      cycles: 4,
      seed,
      topology: 'cluster',
      chain: 'embedded',
      actors: 3,
      longestPauseMs: 250,
      round: [killNodes, killAmidFailover, freezeNode, killChain],
      tell: (line) => t.diagnostic(line),
    });
    t.diagnostic(JSON.stringify(summary));
    // A run in which nothing happened would prove nothing.
    const { tally } = summary;
    assert.equal(tally['primaries killed'], 1);
    assert.ok((tally['nodes killed'] ?? 0) >= 3);
    assert.ok((tally['chain killed'] ?? 0) > 0);
    assert.ok(summary.events > 0 && summary.received >= summary.events);
    assert.ok((tally['proofs verified'] ?? 0) >= summary.records);
  },
);
