/** `tree`: a Merkle tree of 100,000 leaves against OpenZeppelin's, and whether a batch of them holds up the service. */
import { randomBytes } from 'node:crypto';
import { SimpleMerkleTree } from '@openzeppelin/merkle-tree';
import { toHex } from '../../src/proof/hex.ts';
import { loadKeccak } from '../../src/proof/keccak.ts';
import { buildTree } from '../../src/proof/merkle.ts';
import { type BatchRun, makeBatches } from '../batch-host.ts';
import { waitForRest } from '../cpu-time.ts';
import type { Fixture } from '../fixture.ts';
import type { Row } from '../row.ts';
import { perOperation, type Spent } from '../spent.ts';
import { median, playInTurns, type Turn } from '../turns.ts';

const leaves = 100_000;
/** The peer takes more than ten seconds for all of them. */
const warmUpLeaves = 10_000;
/** So often ours is built in a turn, or a slow moment of the machine could hit all of it. */
const timesAlike = 10;
const vaults = 100;
const ratioToReach = 50;
const longestHoldUpMs = 50;
const database = 'bench_batches';

interface Played {
  perSecond: number;
  /** Leaves. */
  operations: number;
  cpu: Spent;
}

export const tree: Row = {
  name: 'tree',
  what: `a Merkle tree of ${leaves.toLocaleString('en')} leaves, same root, and a batch of them beside the event loop`,
  async measure(fixture) {
    const { rounds } = fixture.turns;
    const played = await playTrees(rounds);
    const ratio = median(played.map(({ peer, holdfast }) => holdfast.perSecond / peer.perSecond));
    const figure = (side: 'peer' | 'holdfast') => ({
      value: median(played.map((turn) => turn[side].perSecond)),
      unit: 'leaves/s' as const,
      p99Ms: null,
      cpuMicros: perOperation(played.map((turn) => turn[side])),
    });
    // The first one loads the code.
    const [warmUp, ...batches] = await playBatches(fixture, rounds + 1);
    const heldUpMs = Math.max(...batches.map((batch) => batch.longestHoldUpMs));
    return {
      comparisons: [
        {
          figure: 'building the tree',
          peer: figure('peer'),
          holdfast: figure('holdfast'),
          ratio,
          toReach: `≥ ${ratioToReach}×`,
          reached: ratio >= ratioToReach,
        },
        {
          figure: 'longest hold-up of the event loop',
          peer: null,
          holdfast: { value: heldUpMs, unit: 'ms', p99Ms: null },
          ratio: null,
          toReach: `≤ ${longestHoldUpMs} ms`,
          reached: heldUpMs <= longestHoldUpMs,
        },
      ],
      details: { leaves, vaults, trees: played, warmUp, batches },
    };
  },
};

async function playTrees(rounds: number) {
  const keccak = await loadKeccak();
  const all = new Uint8Array(randomBytes(leaves * 32));
  const asText = Array.from({ length: leaves }, (_, leaf) => toHex(all.subarray(leaf * 32, (leaf + 1) * 32)));
  const roots = new Set<string>();

  function timed(turn: Turn, times: number, root: (count: number) => string): Played {
    const count = turn === 'warm-up' ? warmUpLeaves : leaves;
    const began = performance.now();
    const cpuBegan = process.cpuUsage();
    for (let time = 0; time < times; time += 1) {
      const found = root(count);
      if (turn === 'measured') roots.add(found);
    }
    const { user, system } = process.cpuUsage(cpuBegan);
    const operations = times * count;
    const perSecond = operations / ((performance.now() - began) / 1000);
    if (roots.size > 1) throw new Error(`the roots differ: ${[...roots].join(', ')}`);
    return { perSecond, operations, cpu: { answering: { service: (user + system) / 1000 }, afterwards: {} } };
  }

  return playInTurns(
    {
      // As text, which is the form that it works with.
      peer: async (turn) => timed(turn, 1, (count) => SimpleMerkleTree.of(asText.slice(0, count)).root),
      holdfast: async (turn) =>
        timed(turn, timesAlike, (count) => toHex(buildTree(all.subarray(0, count * 32), keccak).root)),
    },
    {
      rounds,
      tell: ({ peer, holdfast }) =>
        `peer ${Math.round(peer.perSecond)} leaves/s, Holdfast ${Math.round(holdfast.perSecond)} leaves/s, ${(holdfast.perSecond / peer.perSecond).toFixed(1)}×`,
    },
  );
}

async function playBatches(fixture: Fixture, rounds: number): Promise<BatchRun[]> {
  const postgres = await fixture.postgres();
  await postgres.query('postgres', `drop database if exists ${database} with (force)`);
  await postgres.query('postgres', `create database ${database}`);
  await waitForRest();
  const batches = await makeBatches({
    connection: postgres.connection(database),
    dataDir: await fixture.newDirectory(),
    vaults,
    leaves,
    rounds,
  });
  for (const { seconds, longestHoldUpMs, longestTurnCpuMs } of batches) {
    console.error(
      `  a batch in ${seconds.toFixed(1)} s: held up for ${longestHoldUpMs.toFixed(1)} ms at most, ${longestTurnCpuMs.toFixed(1)} ms of it own work`,
    );
  }
  await postgres.query('postgres', `drop database ${database} with (force)`);
  return batches;
}
