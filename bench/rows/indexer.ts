/** `indexer`: catching up with a chain, against fetching the same blocks in the same way and doing nothing with them. */
import { type BlockNode, startBlockNode } from '../block-node.ts';
import type { Fixture } from '../fixture.ts';
import { type IndexerPlan, startIndexerHost } from '../indexer-host.ts';
import type { Postgres } from '../postgres.ts';
import type { Comparison, Row } from '../row.ts';
import { type Processes, perOperation, type Spent, watchProcesses } from '../spent.ts';
import { median, playInTurns, type Sides } from '../turns.ts';

const blocks = Number(process.env.BENCH_BLOCKS ?? 1_000);
const transactionsPerBlock = 200;
const vaultCount = 10_000;
/** Of all transactions one in twenty is a vault's. */
const every = 20;
const ratioToReach = 0.75;
const database = 'bench_indexer';

interface Played {
  perSecond: number;
  /** Blocks. */
  operations: number;
  cpu: Spent | null;
}

export const indexer: Row = {
  name: 'indexer',
  what: `${blocks.toLocaleString('en')} blocks of ${transactionsPerBlock} transactions, against fetching them and doing nothing`,
  async measure(fixture) {
    const node = await startNode(fixture);
    const host = await fixture.keep(startIndexerHost);
    const side = await openSide(fixture, node);
    const fetching = async () =>
      timed({ service: [host.pid], chain: [node.pid] }, () => host.fetch(side.plan));
    const { comparison, details } = await play({ peer: fetching, holdfast: side.play }, fixture);
    const reached = (comparison.ratio ?? 0) >= ratioToReach;
    return { comparisons: [{ ...comparison, toReach: `≥ ${ratioToReach}×`, reached }], details };
  },
  async against({ before, now }) {
    const node = await startNode(now);
    const earlier = await openSide(before, node);
    const later = await openSide(now, node);
    const { comparison, details } = await play({ peer: earlier.play, holdfast: later.play }, now);
    return { comparisons: [comparison], details };
  },
};

async function play(sides: Sides<'peer' | 'holdfast', Played>, { turns: { rounds } }: Fixture) {
  const played = await playInTurns(sides, {
    rounds,
    tell: ({ peer, holdfast }) =>
      `${Math.round(peer.perSecond)} blocks/s, ${Math.round(holdfast.perSecond)} blocks/s`,
  });
  const figure = (side: 'peer' | 'holdfast') => ({
    value: median(played.map((turn) => turn[side].perSecond)),
    unit: 'blocks/s' as const,
    p99Ms: null,
    cpuMicros: perOperation(played.map((turn) => turn[side])),
  });
  const comparison: Comparison = {
    figure: 'catching up',
    peer: figure('peer'),
    holdfast: figure('holdfast'),
    ratio: median(played.map(({ peer, holdfast }) => holdfast.perSecond / peer.perSecond)),
    toReach: null,
    reached: null,
  };
  return { comparison, details: { blocks, transactionsPerBlock, vaultCount, rounds: played } };
}

async function timed(processes: Processes, work: () => Promise<number>): Promise<Played> {
  const spent = await watchProcesses(processes);
  const seconds = await work();
  const { cpu } = await spent.untilRest();
  return { perSecond: blocks / seconds, operations: blocks, cpu };
}

/** An indexer of the fixture's checkout with a database of its own. */
async function openSide(
  fixture: Fixture,
  node: BlockNode,
): Promise<{ plan: IndexerPlan; play(): Promise<Played> }> {
  const postgres = await fixture.postgres();
  const host = await fixture.keep(startIndexerHost);
  await postgres.query('postgres', `drop database if exists ${database} with (force)`);
  await postgres.query('postgres', `create database ${database}`);
  const { url, chainId, genesisHash, head } = node;
  const plan: IndexerPlan = {
    root: fixture.root,
    connection: postgres.connection(database),
    node: { url, chainId, genesisHash, head },
    blocks,
  };
  await host.migrate(plan);
  await writeVaults(postgres);
  return {
    plan,
    async play() {
      await postgres.query(database, 'truncate chain_blocks, vault_transactions');
      const result = await timed({ service: [host.pid], postgres: [postgres.pid], chain: [node.pid] }, () =>
        host.index(plan),
      );
      const listed = await postgres.countRows(database, 'vault_transactions');
      const wanted = (blocks * transactionsPerBlock) / every;
      if (listed !== wanted) throw new Error(`${listed} rows instead of ${wanted}`);
      return result;
    },
  };
}

function startNode(fixture: Fixture): Promise<BlockNode> {
  return fixture.keep(() =>
    startBlockNode({ blocks, transactionsPerBlock, vaults: vaultAddresses(), every }),
  );
}

function vaultAddresses(): string[] {
  return Array.from(
    { length: vaultCount },
    (_, place) =>
      `0x${(BigInt(place + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).padStart(40, '0').slice(-40)}`,
  );
}

/** Rows alone, without keys. */
async function writeVaults(postgres: Postgres): Promise<void> {
  await postgres.query(
    database,
    "insert into workspaces (id, name, slug) values ('ws_bench', 'Bench', 'bench')",
  );
  await postgres.query(
    database,
    `insert into vaults (workspace_id, id, name, description, address)
     select 'ws_bench', 'vlt_' || place, '', '', address
     from unnest($1::text[]) with ordinality as made (address, place)`,
    [vaultAddresses()],
  );
  await postgres.query(database, 'analyze');
}
