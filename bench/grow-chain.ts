/**
 * Grows the embedded chain of a data directory whose service is stopped, by the product's own parts: the same engine, the
 * same journal, the same results, but many blocks in one commit and nothing in between.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { encodeFunctionData, type Hex, parseEther, parseGwei } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { openStore } from '../src/app/store.ts';
import { catchUp } from '../src/chain/embedded/catch-up.ts';
import { createEngine, type Engine } from '../src/chain/embedded/engine/engine.ts';
import { type BlockResult, type ParentBlock, parentOf } from '../src/chain/embedded/engine/protocol.ts';
import { newChain } from '../src/chain/embedded/genesis.ts';
import { type Commit, createJournal } from '../src/chain/embedded/journal.ts';
import { createResults } from '../src/chain/embedded/results/results.store.ts';
import {
  deployerAddress,
  deployerRuntimeCode,
  registryAbi,
  registryAddress,
} from '../src/chain/registry/registry.ts';
import { signDeployment } from '../src/chain/registry/registry-deployment.ts';
import { blocksToFinality } from '../src/chain/rules/finality.ts';
import { createLog } from '../src/cli/log.ts';
import { readConfig } from '../src/config/config.ts';
import type { Db } from '../src/db/database.ts';
import { openKeyring } from '../src/keys/keyring.ts';
import { openServiceAccount } from '../src/keys/service-account.ts';

/** What the service adds to its journal, beside it. */
export const resultTables = [
  'embedded_chain_results',
  'embedded_chain_transactions',
  'embedded_chain_nodes',
  'embedded_chain_replaced',
];

/** So long ago that blocks a second apart do not come to the present: the chain would wait for the clock. */
const genesisAgeMs = 30 * 24 * 3_600_000;
/** Fewer than the kept states: a commit then deletes no node that its own blocks have made. */
const blocksPerCommit = 50;
const buildTimeoutMs = 60_000;
/** As autovacuum does it in life, where anchors come slower. */
const vacuumEvery = 500;
const tellEvery = 1_000;
const fees = {
  type: 'eip1559' as const,
  maxFeePerGas: parseGwei('2'),
  maxPriorityFeePerGas: 1n,
};
const anchorGas = 100_000n;
const deploymentGas = 1_000_000n;

interface Growth {
  chainId: number;
  db: Db;
  engine: Engine;
  /** Nodes of blocks that are built but not committed. */
  ahead: Map<string, Uint8Array>;
  head: ParentBlock;
  faucet: PrivateKeyAccount;
  /** Of the faucet's first transaction. */
  nonce: number;
}

/** Begins a chain in an empty data directory: with the registry, and without anchors. */
export async function beginChain(dataDir: string): Promise<void> {
  await withChain(dataDir, async (growth) => {
    const { chainId, faucet, nonce } = growth;
    await appendBlock(growth, await signDeployment(faucet, { chainId, nonce, gas: deploymentGas, fees }));
    await finalize(growth);
  });
}

/** Adds so many blocks with an anchor each. */
export async function growChain(dataDir: string, anchors: number, signal: AbortSignal): Promise<void> {
  await withChain(dataDir, async (growth) => {
    const began = performance.now();
    let { nonce } = growth;
    let signing = signAnchor(growth, nonce);
    let storing = Promise.resolve();
    for (let done = 0; done < anchors; ) {
      signal.throwIfAborted();
      const blocks: BlockResult[] = [];
      const from = done;
      for (; done < anchors && blocks.length < blocksPerCommit; done += 1) {
        const building = build(growth, await signing);
        nonce += 1;
        // While the engine is at work.
        signing = signAnchor(growth, nonce);
        blocks.push(await building);
      }
      await storing;
      storing = store(growth, blocks);
      // The await that follows throws it.
      storing.catch(() => {});
      if (isPassed(vacuumEvery, from, done)) {
        await storing;
        await vacuum(growth.db);
      }
      if (isPassed(tellEvery, from, done) || done === anchors) {
        const perSecond = done / ((performance.now() - began) / 1000);
        console.error(`  ${done.toLocaleString('en')} anchors added, ${Math.round(perSecond)} in a second`);
      }
    }
    await storing;
    await finalize(growth);
    await vacuum(growth.db);
  });
}

async function withChain(dataDir: string, work: (growth: Growth) => Promise<void>): Promise<void> {
  const config = readConfig({ HOLDFAST_DATA_DIR: dataDir });
  const log = createLog('warn');
  const store = await openStore(config, log);
  const { db } = store.database;
  const keyring = await openKeyring({ db, source: config.masterKey });
  try {
    const submitter = await openServiceAccount(db, keyring, 'submitter');
    const faucet = await openServiceAccount(db, keyring, 'faucet');
    const commit: Commit = (work) => db.transaction().execute(work);
    const journal = createJournal(db, commit);
    const birth = await journal.birth(() =>
      newChain(
        {
          [faucet.address]: { balanceWei: parseEther('1000000000') },
          [submitter.address]: { balanceWei: parseEther('1000000') },
          [deployerAddress]: { code: deployerRuntimeCode, nonce: 1 },
        },
        new Date(Date.now() - genesisAgeMs),
      ),
    );
    const { chainId } = birth;
    const results = createResults(db);
    const ahead = new Map<string, Uint8Array>();
    const engine = createEngine({
      chainId,
      readNode: async (key) => ahead.get(Buffer.from(key).toString('hex')) ?? results.node(key),
      readBlockHash: results.blockHash,
    });
    try {
      const head = await catchUp({
        ...{ ...birth, journal, results, engine, ahead, commit, log },
        signal: new AbortController().signal,
      });
      const { nonce } = await engine.ask('account', { stateRoot: head.stateRoot, address: faucet.address });
      await work({ chainId, db, engine, ahead, head, faucet, nonce });
    } finally {
      await engine.close();
    }
  } finally {
    await keyring.close();
    await store.close();
  }
}

function signAnchor({ chainId, faucet }: Growth, nonce: number): Promise<Hex> {
  const root: Hex = `0x${createHash('sha256').update(`root ${nonce}`).digest('hex')}`;
  const data = encodeFunctionData({ abi: registryAbi, functionName: 'anchor', args: [root, 100n] });
  return faucet.signTransaction({ chainId, nonce, to: registryAddress, data, gas: anchorGas, ...fees });
}

/** Empty blocks, which the service would otherwise add at its next start, with the time of today. */
async function finalize(growth: Growth): Promise<void> {
  for (let added = 0; added < blocksToFinality; added += 1) await appendBlock(growth, null);
}

async function appendBlock(growth: Growth, transaction: Hex | null): Promise<void> {
  await store(growth, [await build(growth, transaction)]);
}

/** A second after the last. Throws unless the transaction succeeds in it. */
async function build(growth: Growth, transaction: Hex | null): Promise<BlockResult> {
  const { engine, ahead, head } = growth;
  const template = {
    parent: parentOf(head),
    timestampSeconds: head.timestampSeconds + 1,
    transactions: transaction === null ? [] : [transaction],
    exact: true,
  };
  const { block } = await engine.ask('build', template, { timeoutMs: buildTimeoutMs });
  if (block.transactions.some(({ receipt }) => !receipt.succeeded)) {
    throw new Error(`the transaction of block ${block.number} failed`);
  }
  for (const [key, value] of block.changes.added) ahead.set(Buffer.from(key).toString('hex'), value);
  growth.head = block;
  return block;
}

async function store({ db, ahead }: Growth, blocks: BlockResult[]): Promise<void> {
  await db.transaction().execute(async (db) => {
    const journal = createJournal(db, (work) => work(db));
    for (const block of blocks) {
      const transactions = block.transactions.map(({ raw }) => raw);
      if (!(await journal.append({ ...block, transactions }, block))) {
        throw new Error(`the journal has another block ${block.number}`);
      }
    }
  });
  for (const [key] of blocks.flatMap(({ changes }) => changes.added)) {
    ahead.delete(Buffer.from(key).toString('hex'));
  }
}

async function vacuum(db: Db): Promise<void> {
  for (const table of resultTables) await sql`vacuum analyze ${sql.table(table)}`.execute(db);
}

/** Whether a multiple of `step` lies in between. */
function isPassed(step: number, from: number, to: number): boolean {
  return Math.floor(from / step) < Math.floor(to / step);
}
