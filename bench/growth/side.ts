/** One of the two services that are compared: one has few rows, the other one many. */
import { join } from 'node:path';
import { createBatchThread } from '../../src/anchoring/batching/batch-thread.ts';
import { createBatcher } from '../../src/anchoring/batching/batcher.ts';
import { applyOutcomes } from '../../src/anchoring/batching/batches.ts';
import { firstLeaf, pendingLeaf } from '../../src/anchoring/batching/pending.ts';
import type { Lead } from '../../src/chain/chain.ts';
import { registryAddress } from '../../src/chain/registry/registry.ts';
import { createSender } from '../../src/chain/sender/sender.ts';
import { type Database, indexOnly, openDatabase, type SessionSettings } from '../../src/db/database.ts';
import { walkSettings } from '../../src/db/rows-pass.ts';
import { insertAll } from '../../src/db/writes.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { openServiceAccount } from '../../src/keys/service-account.ts';
import { newId } from '../../src/runtime/ids.ts';
import type { Fixture } from '../fixture.ts';
import { holdfastDatabase, joinPostgres } from '../postgres.ts';

/** A database without its service, which works on it as the service would. */
export interface Workbench {
  database: Database;
  /** As `fsck` opens it. */
  reading: Database;
  workspaceId: string;
  /** Of PostgreSQL. */
  pid: number;
  /** Makes leaves, and a batch of them that is rolled back in the end. */
  addLeaves(count: number): Promise<void>;
  tryBatch(): Promise<void>;
  stop(): Promise<void>;
}

export async function openWorkbench(dataDir: string, fixture: Fixture): Promise<Workbench> {
  const postgres = await fixture.keep(() => joinPostgres(dataDir));
  const open = (settings: SessionSettings) =>
    openDatabase({
      connection: () => postgres.connection(holdfastDatabase),
      onError: console.error,
      settings,
      max: 4,
    });
  const database = open(indexOnly);
  const reading = open({ ...walkSettings, default_transaction_read_only: 'on' });
  const { db } = database;
  const keyring = await openKeyring({ db, source: { file: join(dataDir, 'master.key'), generated: true } });
  const submitter = await openServiceAccount(db, keyring, 'submitter');
  const thread = createBatchThread();
  const log = { info() {}, error: console.error };
  const sender = createSender({
    submitter: async () => submitter,
    applyOutcomes,
    onLostNonces: async () => {},
    log,
  });
  const quote = {
    chainId: 1_999,
    fees: { legacy: false as const, maxFeeWei: 2_000_000_000n, priorityFeeWei: 1_000_000_000n },
    firstNonce: 0,
  };
  const batcher = createBatcher({
    ...{ db, keyring, thread, log },
    sender: { ...sender, quote: async () => quote },
    senderWakeup: { wake() {} },
  });
  const vaults = await db.selectFrom('vaults').select(['workspace_id', 'id', 'address']).limit(16).execute();
  const workspaceId = vaults[0]?.workspace_id ?? '';
  const rolledBack = new Error('rolled back');
  const lead: Lead = {
    chain: { registry: registryAddress, embedded: true } as Lead['chain'],
    term: {
      epoch: 1,
      signal: new AbortController().signal,
      commit: (work) =>
        db.transaction().execute(async (db) => {
          await work(db);
          throw rolledBack;
        }),
    },
  };

  const workbench: Workbench = {
    database,
    reading,
    workspaceId,
    pid: postgres.pid,
    async addLeaves(count) {
      const writes = Array.from({ length: count }, (_, place) => {
        const vault = vaults[place % vaults.length];
        if (!vault) throw new Error('there is no vault');
        return pendingLeaf({
          workspaceId,
          kind: 'record',
          subjectId: newId('rec'),
          version: 1,
          vault,
          digest: Buffer.alloc(32, place),
          canonicalization: 'jcs',
          previousLeaf: firstLeaf,
          claims: {},
        }).write;
      });
      for (let from = 0; from < count; from += 2_000) await insertAll(db, writes.slice(from, from + 2_000));
    },
    async tryBatch() {
      await batcher.step(lead).then(
        () => Promise.reject(new Error('there was nothing to batch')),
        (error) => (error === rolledBack ? undefined : Promise.reject(error)),
      );
    },
    async stop() {
      await thread.close();
      await keyring.close();
      await reading.close();
      await database.close();
      await postgres.stop();
    },
  };
  await fixture.keep(async () => workbench);
  return workbench;
}
