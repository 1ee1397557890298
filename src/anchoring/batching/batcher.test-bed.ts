/** A batcher on a real database: vaults with keys, things to anchor, a sender that only stores, and a lead of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { openTestDatabase } from '../../../test/database.ts';
import type { Lead } from '../../chain/chain.ts';
import { registryAddress } from '../../chain/registry/registry.ts';
import type { Outgoing, Quote } from '../../chain/sender/sender.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { openKeyring } from '../../keys/keyring.ts';
import { toHex } from '../../proof/hex.ts';
import { createBatchThread } from './batch-thread.ts';
import { type BatcherDeps, createBatcher } from './batcher.ts';
import { applyMoves } from './batches.ts';
import { type Anchorable, firstLeaf, pendingLeaf } from './pending.ts';

export interface TestVault {
  workspaceId: string;
  id: string;
  address: string;
}

export type Bed = Awaited<ReturnType<typeof openBed>>;

export async function openBed() {
  const database = await openTestDatabase();
  const { db } = database;
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-batcher-'));
  const keyring = await openKeyring({ db, source: { file: join(dir, 'master.key'), generated: true } });
  const thread = createBatchThread();
  const faults: object[] = [];
  const rings = { sender: 0 };
  let made = 0;

  async function newVault(workspaceId = 'ws_1'): Promise<TestVault> {
    made += 1;
    const id = `vlt_${made}`;
    const { address, write } = await keyring.newSigningKey({ workspaceId, id });
    await sql`insert into workspaces (id, name, slug, metadata) values (${workspaceId}, '', ${workspaceId}, '{}')
      on conflict do nothing`.execute(db);
    await insertAll(db, [
      write,
      {
        table: 'vaults',
        row: {
          workspace_id: workspaceId,
          id,
          name: id,
          description: '',
          address,
          created_at: new Date(),
          updated_at: new Date(),
        },
      },
    ]);
    return { workspaceId, id, address };
  }

  /** Accepts a thing of a vault, or a further version of one; gives its leaf. */
  async function accept(
    vault: TestVault,
    subjectId: string,
    { version = 1, after = firstLeaf, ...rest }: Partial<Anchorable> & { after?: Buffer } = {},
  ): Promise<Buffer> {
    const { leaf, write } = pendingLeaf({
      workspaceId: vault.workspaceId,
      kind: 'record',
      subjectId,
      version,
      vault,
      digest: randomBytes(32),
      previousLeaf: after,
      claims: {},
      ...rest,
    });
    await insertAll(db, [write]);
    return leaf;
  }

  return {
    ...database,
    keyring,
    thread,
    faults,
    rings,
    newVault,
    accept,
    lead: leadOf(db),
    batcher: (changes: Partial<BatcherDeps> = {}) =>
      createBatcher({
        db,
        keyring,
        thread,
        sender: storingSender,
        senderBell: { ring: () => (rings.sender += 1) },
        log: { error: (details: object) => faults.push(details) },
        ...changes,
      }),
    async close() {
      await thread.close();
      await keyring.close();
      await database.close();
      await rm(dir, { recursive: true });
    },
  };
}

export interface TestLead extends Lead {
  commits: number;
}

/** Leads without a rival. */
export function leadOf(db: Db, chain: Partial<Lead['chain']> = {}): TestLead {
  const lead = {
    commits: 0,
    chain: { registry: registryAddress, embedded: true, ...chain } as Lead['chain'],
    term: {
      epoch: 1,
      signal: new AbortController().signal,
      commit: <T>(work: (db: Db) => Promise<T>) => {
        lead.commits += 1;
        return db.transaction().execute(work);
      },
    },
  };
  return lead;
}

const account = Buffer.alloc(20, 0xac);

/** Stores transactions as the sender does, and signs nothing. */
export const storingSender: BatcherDeps['sender'] = {
  quote: async () => ({}) as Quote,
  async enqueue(db: Db, _quote: Quote, { purpose, to, data, gasLimit }: Outgoing) {
    const { rows } = await sql<{ nonce: number }>`
      insert into sender_accounts (address, next_nonce) values (${account}, 1)
      on conflict (address) do update set next_nonce = sender_accounts.next_nonce + 1
      returning next_nonce - 1 as nonce`.execute(db);
    const { id } = await db
      .insertInto('outgoing_transactions')
      .values({
        account,
        nonce: rows[0]?.nonce ?? -1,
        purpose,
        to_address: Buffer.from(to.slice(2), 'hex'),
        call_data: Buffer.from(data.slice(2), 'hex'),
        gas_limit: gasLimit,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const hash = randomBytes(32);
    await db
      .insertInto('outgoing_attempts')
      .values({ transaction_id: id, number: 1, hash, raw: hash, max_fee_wei: '1', priority_fee_wei: '1' })
      .execute();
    return { id, hash: toHex(hash) };
  },
};

/** As the sender has it when the transaction is in a block. */
export async function mine(
  db: Db,
  outgoingId: number,
  { succeeded = true, noOp = false, blockNumber = 7 } = {},
): Promise<{ transactionHash: Hex; blockNumber: number; blockHash: Hex; blockTime: number }> {
  const blockHash = randomBytes(32);
  const { rows } = await sql<{ hash: Buffer }>`
    update outgoing_attempts set no_op = ${noOp} where transaction_id = ${outgoingId} returning hash`.execute(
    db,
  );
  const [attempt] = rows;
  if (!attempt) throw new Error('no attempt');
  await sql`update outgoing_transactions set status = ${succeeded && !noOp ? 'confirmed' : 'failed'},
    mined_hash = ${attempt.hash}, block_number = ${blockNumber}, block_hash = ${blockHash}, block_time = 1800000000,
    transaction_index = 0, succeeded = ${succeeded} where id = ${outgoingId}`.execute(db);
  return {
    transactionHash: toHex(attempt.hash),
    blockNumber,
    blockHash: toHex(blockHash),
    blockTime: 1_800_000_000,
  };
}

/** Batches what waits, and has it mined and confirmed; gives the id of the batch. */
export async function confirmBatch(bed: Bed, to: 'confirmed' | 'finalized' = 'confirmed'): Promise<number> {
  await bed.batcher().step(bed.lead);
  const { id, outgoing_id } = await bed.db
    .selectFrom('anchor_batches')
    .select(['id', 'outgoing_id'])
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  const mined = await mine(bed.db, outgoing_id);
  await applyMoves(bed.db, [{ outgoingId: outgoing_id, purpose: 'anchor', to, mined }]);
  return id;
}
