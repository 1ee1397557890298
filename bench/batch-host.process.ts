/** The process itself; see batch-host.ts. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createBatchThread } from '../src/anchoring/batching/batch-thread.ts';
import { createBatcher } from '../src/anchoring/batching/batcher.ts';
import { applyOutcomes } from '../src/anchoring/batching/batches.ts';
import { firstLeaf, pendingLeaf } from '../src/anchoring/batching/pending.ts';
import type { Lead } from '../src/chain/chain.ts';
import { registryAddress } from '../src/chain/registry/registry.ts';
import { createSender, type Quote } from '../src/chain/sender/sender.ts';
import { type Database, type Db, openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { insertAll } from '../src/db/writes.ts';
import { type Keyring, openKeyring } from '../src/keys/keyring.ts';
import { openServiceAccount } from '../src/keys/service-account.ts';
import type { BatchPlan, BatchRun } from './batch-host.ts';
import { answerQuestions } from './child.ts';

const workspaceId = 'ws_bench';
const chainId = 1_999;
/** Of the rows that are written to begin with. */
const rowsAtOnce = 2_000;

answerQuestions<BatchPlan, BatchRun[]>(async ({ connection, dataDir, vaults, leaves, rounds }) => {
  await migrate({ connection });
  const database = openDatabase({ connection: () => connection, onError: console.error });
  const { db } = database;
  const source = { file: join(dataDir, 'master.key'), generated: true };
  const keyring = await openKeyring({ db, source });
  const made = await makeVaults(db, keyring, vaults);
  const submitter = await openServiceAccount(db, keyring, 'submitter');
  const thread = createBatchThread();
  const log = { info() {}, error: console.error };
  const sender = createSender({
    submitter: async () => submitter,
    applyOutcomes,
    onLostNonces: async () => {},
    log,
  });
  const batcher = createBatcher({
    db,
    keyring,
    thread,
    // There is no chain to be asked.
    sender: { ...sender, quote: async () => quote },
    senderWakeup: { wake() {} },
    log,
  });
  const runs: BatchRun[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await accept(database, made, leaves);
    runs.push(await watched(() => batcher.step(leadOf(db))));
    await requireBatch(database, round + 1, leaves);
  }
  return runs;
});

const quote: Quote = {
  chainId,
  fees: { legacy: false, maxFeeWei: 2_000_000_000n, priorityFeeWei: 1_000_000_000n },
  firstNonce: 0,
};

/** Leads without a rival. */
function leadOf(db: Db): Lead {
  return {
    chain: { registry: registryAddress, embedded: true } as Lead['chain'],
    term: {
      epoch: 1,
      signal: new AbortController().signal,
      commit: (work) => db.transaction().execute(work),
    },
  };
}

async function watched(work: () => Promise<unknown>): Promise<BatchRun> {
  // What the preparation left is not the batcher's.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const began = performance.now();
  const cpuBegan = process.threadCpuUsage();
  const turns = watchTurns();
  delay.enable();
  await work();
  delay.disable();
  const { user, system } = process.threadCpuUsage(cpuBegan);
  return {
    seconds: (performance.now() - began) / 1000,
    longestHoldUpMs: delay.max / 1e6,
    longestTurnCpuMs: turns.stop(),
    mainThreadCpuMs: (user + system) / 1000,
  };
}

/** The most of its own time that the thread worked between two turns: what a hold-up is where nobody else is at work. */
function watchTurns(): { stop(): number } {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (user + system) / 1000);
  };
  const timer = setInterval(look, 1);
  return {
    stop() {
      clearInterval(timer);
      look();
      return longestMs;
    },
  };
}

interface Vault {
  id: string;
  address: string;
}

async function makeVaults(db: Db, keyring: Keyring, count: number): Promise<Vault[]> {
  const now = new Date();
  await db
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'Bench', slug: 'bench', metadata: {} })
    .execute();
  const vaults: Vault[] = [];
  for (let place = 0; place < count; place += 1) {
    const id = `vlt_${place}`;
    const { address, write } = await keyring.newSigningKey({ workspaceId, id });
    const row = { workspace_id: workspaceId, id, name: id, description: '', address };
    await insertAll(db, [write, { table: 'vaults', row: { ...row, created_at: now, updated_at: now } }]);
    vaults.push({ id, address });
  }
  return vaults;
}

/** As requests leave them: the vaults in turns. */
async function accept({ db, pool }: Database, vaults: Vault[], count: number): Promise<void> {
  for (let from = 0; from < count; from += rowsAtOnce) {
    const writes = Array.from({ length: Math.min(rowsAtOnce, count - from) }, (_, place) => {
      const vault = vaults[(from + place) % vaults.length] as Vault;
      return pendingLeaf({
        workspaceId,
        kind: 'record',
        subjectId: `rec_${randomBytes(12).toString('hex')}`,
        version: 1,
        vault,
        digest: randomBytes(32),
        canonicalization: 'jcs',
        previousLeaf: firstLeaf,
        claims: {},
      }).write;
    });
    await insertAll(db, writes);
  }
  await pool.query('vacuum analyze anchor_leaves');
}

async function requireBatch({ pool }: Database, batches: number, size: number): Promise<void> {
  const { rows } = await pool.query<{ count: number; placed: number }>(
    `select (select count(*) from anchor_batches where size = $1) as count,
            (select count(*) from placed_leaves where batch_id is not null) as placed`,
    [size],
  );
  if (rows[0]?.count === batches && rows[0].placed === batches * size) return;
  throw new Error(`after ${batches} batches of ${size} there are ${JSON.stringify(rows[0])}`);
}
