/** For the tests of this folder: chains on scratch directories and databases, transfers, and processes that can be killed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { type Hex, numberToHex, parseEther } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { openTestDatabase } from '../../../test/database.ts';
import { waitUntil } from '../../../test/process.ts';
import { createJsonRpc } from '../rpc/json-rpc.ts';
import { endAnvil, findAnvilProcess } from './anvil-process.ts';
import { findAnvil } from './anvil-program.ts';
import { type EmbeddedChain, type EmbeddedChainOptions, startEmbeddedChain } from './embedded-chain.ts';
import { type Commit, createJournal, type Journal, type JournalBlock } from './journal.ts';
import { type ChainPlaces, chainPlaces } from './places.ts';

/** For `skip`: false where there is an anvil, else why the test cannot run here. */
export const noAnvil: string | false = await findAnvil().then(
  () => false,
  (error: Error) => error.message,
);

/** Nobody's money: made up for these tests. */
export const owner = privateKeyToAccount(numberToHex(0xc0ffee, { size: 32 }));
export const alloc = { [owner.address]: { balanceWei: parseEther('1000') } };

export type TestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

export interface Bed {
  database: TestDatabase;
  dataDir: string;
  journal: Journal;
  /** Everything logged so far. */
  logged: { details: Record<string, unknown>; message: string }[];
  /** Stopped when the test ends, if it is not before. */
  start(more?: Partial<EmbeddedChainOptions>): Promise<EmbeddedChain>;
  /** The chain in another process, which mines so many transfers and then rests, or runs its loop, until it is killed. */
  startElsewhere(blocks: number, then: 'rest' | 'run'): Promise<ChildProcess>;
  places(): Promise<ChainPlaces>;
  allBlocks(): Promise<JournalBlock[]>;
}

export async function openBed(t: TestContext): Promise<Bed> {
  const database = await openTestDatabase();
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-chain-')));
  const commit: Commit = (work) => database.db.transaction().execute(work);
  const journal = createJournal(database.db, commit);
  const logged: Bed['logged'] = [];
  const note = (details: object, message: string) => void logged.push({ details: { ...details }, message });
  const chains: EmbeddedChain[] = [];
  const children: ChildProcess[] = [];

  const bed: Bed = {
    database,
    dataDir,
    journal,
    logged,
    async start(more = {}) {
      const chain = await startEmbeddedChain({
        dataDir,
        db: database.db,
        commit,
        log: { info: note, error: note },
        alloc,
        // Tests mine much faster than a block each second.
        furthestAheadSeconds: 3_600,
        ...more,
      });
      chains.push(chain);
      return chain;
    },
    async startElsewhere(blocks, then) {
      const code = `
        const { mineElsewhere } = await import(${JSON.stringify(import.meta.url)});
        await mineElsewhere(${JSON.stringify({ dataDir, url: database.url, blocks, then })});`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      await once(createInterface(child.stdout), 'line');
      return child;
    },
    places: async () => chainPlaces(dataDir, (await journal.chainId()) ?? 0),
    allBlocks: () => journal.after(-1, 10_000),
  };
  t.after(async () => {
    for (const child of children) await killed(child);
    await Promise.all(chains.map((chain) => chain.stop()));
    const chainId = await journal.chainId();
    const left = chainId && (await findAnvilProcess(chainPlaces(dataDir, chainId), chainId));
    if (left) await endAnvil(left, chainPlaces(dataDir, left.record.chainId));
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return bed;
}

/** What the other process does; says on stdout when it is done mining. */
export async function mineElsewhere(given: {
  dataDir: string;
  url: string;
  blocks: number;
  then: 'rest' | 'run';
}): Promise<void> {
  const { openDatabase } = await import('../../db/database.ts');
  const connection = () => ({ connectionString: given.url });
  const { db } = openDatabase({ connection, onError() {} });
  const log = { info() {}, error() {} };
  const commit: Commit = (work) => db.transaction().execute(work);
  const chain = await startEmbeddedChain({ dataDir: given.dataDir, db, commit, log, alloc });
  for (let nonce = 0; nonce < given.blocks; nonce += 1) {
    await chain.mine([await transfer(chain.chainId, nonce)]);
  }
  console.log('mined');
  // Its door keeps the process alive.
  if (given.then === 'run') await chain.loop.run(new AbortController().signal, () => {});
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A signed transfer of the account that has money; each nonce to an address of its own. */
export function transfer(chainId: number, nonce: number): Promise<Hex> {
  return owner.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to: numberToHex(0x1000 + nonce, { size: 20 }),
    value: BigInt(nonce + 1),
    gas: 21_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1n,
  });
}

// Only against a node that hangs: on a busy machine it takes its time.
const jsonRpc = createJsonRpc({ timeoutMs: 60_000, maxAnswerBytes: 2 ** 24 });

export function ask<T>(url: string | null, method: string, ...params: unknown[]): Promise<T> {
  assert.ok(url, 'the node is being made again');
  return jsonRpc.call<T>(url, method, params);
}

/** The hashes of all blocks up to the head, as the node itself tells them. */
export async function hashesAt(chain: EmbeddedChain): Promise<Hex[]> {
  const numbers = Array.from({ length: chain.head().number + 1 }, (_, number) => numberToHex(number));
  const blocks = numbers.map((number) =>
    ask<{ hash: Hex }>(chain.rpcUrl(), 'eth_getBlockByNumber', number, false),
  );
  return (await Promise.all(blocks)).map(({ hash }) => hash);
}

/** The pid of the node, by its pid file and proof. */
export async function nodePid(bed: Bed): Promise<number> {
  return waitUntil(async () => {
    const places = await bed.places();
    return (await findAnvilProcess(places, (await bed.journal.chainId()) ?? 0))?.record.pid ?? null;
  });
}

/** Holds back every commit to the journal until it is undone. */
export async function blockJournal(database: TestDatabase) {
  const client = await database.pool.connect();
  await client.query('begin');
  await client.query('lock table embedded_chain_blocks in exclusive mode');
  return {
    /** Until somebody waits to commit: the node has the block, the journal has not. */
    untilWaiting: () => waitUntil(async () => (await waiting(database)) ?? null),
    /** Ends the connection that waits, so that the block is not in the journal for certain. */
    async failWaiting(): Promise<void> {
      await database.pool.query('select pg_terminate_backend($1)', [await waiting(database)]);
      await waitUntil(async () => (await waiting(database)) === undefined);
    },
    async undo(): Promise<void> {
      await client.query('rollback');
      client.release();
    },
  };
}

/** Not on the connection of the lock, which sees the activity as it was when its transaction began. */
async function waiting({ pool }: TestDatabase): Promise<number | undefined> {
  const { rows } = await pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
     and query like 'insert into%embedded_chain_blocks%'`,
  );
  return rows[0]?.pid;
}
