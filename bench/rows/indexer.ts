/** `indexer`: catching up with a chain, against fetching the same blocks in the same way and doing nothing with them. */
import type { Lead } from '../../src/chain/chain.ts';
import { readBlocks } from '../../src/chain/indexer/blocks.ts';
import { createIndexer, windowBlocks } from '../../src/chain/indexer/indexer.ts';
import { createChainRpc } from '../../src/chain/rpc/rpc.ts';
import { createSettlement } from '../../src/chain/sender/settlement.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { startBlockNode } from '../block-node.ts';
import { waitForRest } from '../cpu-time.ts';
import type { Fixture } from '../fixture.ts';
import type { Row } from '../row.ts';
import { median, playInTurns } from '../turns.ts';

const blocks = Number(process.env.BENCH_BLOCKS ?? 1_000);
const transactionsPerBlock = 200;
const vaultCount = 10_000;
/** Of all transactions one in twenty is a vault's. */
const every = 20;
const rounds = 3;
const ratioToReach = 0.7;
const database = 'bench_indexer';

export const indexer: Row = {
  name: 'indexer',
  what: `${blocks.toLocaleString('en')} blocks of ${transactionsPerBlock} transactions, against fetching them and doing nothing`,
  async measure(fixture) {
    const { db, pool } = await openIndexerDatabase(fixture);
    const vaults = await makeVaultRows(pool);
    const node = await fixture.keep(() => startBlockNode({ blocks, transactionsPerBlock, vaults, every }));
    const rpc = createChainRpc({ ...node, urls: () => [node.url] });
    await fixture.keep(async () => ({ stop: () => rpc.close() }));
    const lead: Lead = {
      term: {
        epoch: 1,
        signal: new AbortController().signal,
        commit: (work) => db.transaction().execute(work),
      },
      chain: {
        ...node,
        embedded: true,
        registry: `0x${'a1'.repeat(20)}`,
        confirmations: 1,
        client: rpc.client,
        head: async () => node.head,
        finalizedNumber: async (head) => head - 2,
        wake() {},
        doubt() {},
      },
    };

    async function timed(work: () => Promise<void>): Promise<{ perSecond: number }> {
      const began = performance.now();
      await work();
      const perSecond = blocks / ((performance.now() - began) / 1000);
      await waitForRest();
      return { perSecond };
    }

    const played = await playInTurns(
      {
        peer: () =>
          timed(async () => {
            const windowFrom = (from: number) =>
              readBlocks(rpc.client, { from, to: Math.min(from + windowBlocks, blocks) - 1 });
            let reading = windowFrom(0);
            for (let from = 0; from < blocks; from += windowBlocks) {
              await reading;
              if (from + windowBlocks < blocks) reading = windowFrom(from + windowBlocks);
            }
          }),
        async holdfast() {
          await pool.query('truncate chain_blocks, vault_transactions');
          const own = createIndexer({
            db,
            sender: createSettlement(async () => {}),
            vaultsOfAnchors: async () => [],
            log: { info() {}, error: console.error },
          });
          const result = await timed(async () => {
            while (await own.step(lead));
          });
          const { rows } = await pool.query<{ stored: number; listed: number }>(
            'select (select count(*) from chain_blocks) as stored, (select count(*) from vault_transactions) as listed',
          );
          const wanted = (blocks * transactionsPerBlock) / every;
          if (rows[0]?.listed !== wanted) throw new Error(`${rows[0]?.listed} rows instead of ${wanted}`);
          return result;
        },
      },
      {
        rounds,
        tell: ({ peer, holdfast }) =>
          `bare ${Math.round(peer.perSecond)} blocks/s, Holdfast ${Math.round(holdfast.perSecond)} blocks/s`,
      },
    );
    const ratio = median(played.map(({ peer, holdfast }) => holdfast.perSecond / peer.perSecond));
    const figure = (side: 'peer' | 'holdfast') => ({
      value: median(played.map((turn) => turn[side].perSecond)),
      unit: 'blocks/s' as const,
      p99Ms: null,
    });
    return {
      comparisons: [
        {
          figure: 'catching up',
          peer: figure('peer'),
          holdfast: figure('holdfast'),
          ratio,
          toReach: `≥ ${ratioToReach}×`,
          reached: ratio >= ratioToReach,
        },
      ],
      details: { blocks, transactionsPerBlock, vaultCount, rounds: played },
    };
  },
};

async function openIndexerDatabase(fixture: Fixture) {
  const postgres = await fixture.postgres();
  await postgres.query('postgres', `drop database if exists ${database} with (force)`);
  await postgres.query('postgres', `create database ${database}`);
  const connection = postgres.connection(database);
  await migrate({ connection });
  const opened = openDatabase({ connection: () => connection, onError: console.error });
  await fixture.keep(async () => ({ stop: opened.close }));
  return opened;
}

/** Rows alone, without keys. Returns their addresses. */
async function makeVaultRows(pool: { query: (text: string, values: unknown[]) => Promise<unknown> }) {
  await pool.query("insert into workspaces (id, name, slug) values ('ws_bench', 'Bench', 'bench')", []);
  const addresses = Array.from(
    { length: vaultCount },
    (_, place) =>
      `0x${(BigInt(place + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).padStart(40, '0').slice(-40)}`,
  );
  await pool.query(
    `insert into vaults (workspace_id, id, name, description, address)
     select 'ws_bench', 'vlt_' || place, '', '', address
     from unnest($1::text[]) with ordinality as made (address, place)`,
    [addresses],
  );
  await pool.query('analyze', []);
  return addresses;
}
