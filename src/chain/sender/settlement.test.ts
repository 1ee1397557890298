/** How blocks change outgoing transactions, on a real database. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type Hex, keccak256, stringToHex } from 'viem';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { toBytea } from '../../db/bytea.ts';
import type { Database } from '../../db/database.ts';
import { createSettlement, type Found } from './settlement.ts';
import type { TransactionOutcome } from './transaction-outcomes.ts';

let database: Database;
const account = Buffer.alloc(20, 7);
const outcomes: TransactionOutcome[] = [];
const settlement = createSettlement(async (_db, told) => void outcomes.push(...told));

before(async () => {
  database = await openTestDatabase({ fresh: true });
});
after(() => database.close());
beforeEach(async () => {
  outcomes.length = 0;
  const { db } = database;
  await db.deleteFrom('outgoing_attempts').execute();
  await db.deleteFrom('outgoing_transactions').execute();
  await db.deleteFrom('sender_accounts').execute();
  await db.insertInto('sender_accounts').values({ address: account, next_nonce: 100 }).execute();
});

test('is confirmed at the required depth, and final when the chain says so', async () => {
  const id = await addOutgoing(1);
  await settlement.markMined(database.db, [foundAt(10, 'attempt 1')]);
  for (const [headNumber, finalizedNumber, status] of [
    [10, 3, 'mined'],
    [11, 9, 'mined'],
    [12, 9, 'confirmed'],
    [40, 9, 'confirmed'],
    [40, 10, 'finalized'],
  ] as const) {
    await settle(headNumber, finalizedNumber);
    assert.equal((await rowOf(id)).status, status, `head ${headNumber}, final ${finalizedNumber}`);
  }
  const mined = {
    transactionHash: hashOf('attempt 1'),
    blockNumber: 10,
    blockHash: hashOf('block 10'),
    blockTime: 1_010,
  };
  assert.deepEqual(outcomes, [
    { outgoingId: id, purpose: 'anchor', to: 'submitted' },
    { outgoingId: id, purpose: 'anchor', to: 'confirmed', mined },
    { outgoingId: id, purpose: 'anchor', to: 'finalized', mined },
  ]);
});

test('reports confirmed before final if both happen at once', async () => {
  const ids = [await addOutgoing(1, 'submitted'), await addOutgoing(2, 'submitted')];
  await settlement.markMined(database.db, [foundAt(10, 'attempt 2'), foundAt(10, 'attempt 1')]);
  await settle(20, 20);
  assert.deepEqual(
    outcomes.map(({ outgoingId, to }) => [outgoingId, to]),
    [
      [ids[0], 'confirmed'],
      [ids[1], 'confirmed'],
      [ids[0], 'finalized'],
      [ids[1], 'finalized'],
    ],
  );
});

test('ignores transactions of others, and keeps a mined one in its block', async () => {
  const id = await addOutgoing(1);
  const ours = await settlement.attemptsAmong(database.db, [hashOf('attempt 1'), hashOf('other')]);
  assert.deepEqual(ours, [{ hash: hashOf('attempt 1'), outgoingId: id }]);
  assert.deepEqual(await settlement.attemptsAmong(database.db, []), []);
  await settlement.markMined(database.db, [foundAt(9, 'other'), foundAt(10, 'attempt 1')]);
  await settlement.markMined(database.db, [foundAt(11, 'attempt 1')]);
  assert.equal((await rowOf(id)).block_number, 10);
  assert.equal(outcomes.length, 1);
});

test('a rollback undoes only what was above it, and reports what had been confirmed', async () => {
  const [kept, confirmed, final, mined, failed] = [
    await addOutgoing(1),
    await addOutgoing(2),
    await addOutgoing(3),
    await addOutgoing(4),
    await addOutgoing(5),
  ];
  await settlement.markMined(database.db, [
    foundAt(10, 'attempt 1'),
    foundAt(11, 'attempt 3'),
    foundAt(11, 'attempt 5', false),
    foundAt(12, 'attempt 2'),
    foundAt(13, 'attempt 4'),
  ]);
  await settle(14, 11);
  await sendAll();
  outcomes.length = 0;

  await settlement.markUndone(database.db, { afterNumber: 10 });
  assert.equal((await rowOf(kept)).status, 'finalized');
  for (const id of [confirmed, final, mined, failed]) {
    assert.deepEqual(await rowOf(id), {
      status: 'submitted',
      reason: null,
      mined_hash: null,
      block_number: null,
      succeeded: null,
    });
  }
  assert.deepEqual(
    outcomes.map((outcome) => [
      outcome.outgoingId,
      outcome.to,
      outcome.to === 'reorged' ? outcome.was.blockNumber : null,
    ]),
    [
      [confirmed, 'reorged', 12],
      [final, 'reorged', 11],
      [failed, 'submitted', null],
    ],
  );
  const unsent = await database.db
    .selectFrom('outgoing_attempts')
    .select('transaction_id')
    .where('broadcast_at', 'is', null)
    .orderBy('transaction_id')
    .execute();
  assert.deepEqual(
    unsent.map(({ transaction_id }) => transaction_id),
    [confirmed, final, mined, failed],
  );
  outcomes.length = 0;
  await settlement.markUndone(database.db, { afterNumber: 10 });
  assert.equal(outcomes.length, 0);
});

test('the mined one decides, be it the payload or its no-op', async () => {
  const passed = await addOutgoing(1, 'submitted', { reason: 'too much gas', noOp: true });
  const replaced = await addOutgoing(2, 'submitted', { reason: 'too much gas', noOp: true });
  const reverted = await addOutgoing(3, 'submitted', { reason: 'too much gas', noOp: true });
  await settlement.markMined(database.db, [
    foundAt(10, 'attempt 1'),
    foundAt(10, 'no-op 2'),
    foundAt(10, 'attempt 3', false),
  ]);
  await settle(10, -1);
  assert.equal(outcomes.length, 0, 'not deep enough');
  await settle(12, -1);
  assert.deepEqual(
    outcomes.map((outcome) => [
      outcome.outgoingId,
      outcome.to,
      outcome.to === 'failed' ? outcome.reason : null,
    ]),
    [
      [passed, 'confirmed', null],
      [replaced, 'failed', 'too much gas'],
      [reverted, 'failed', 'the transaction reverted'],
    ],
  );
  assert.equal((await rowOf(passed)).reason, null);
  outcomes.length = 0;
  await settle(20, 20);
  assert.deepEqual(
    outcomes.map(({ outgoingId, to }) => [outgoingId, to]),
    [[passed, 'finalized']],
    'what failed is not final too',
  );
  // A reorg removes the no-op: the reason why the payload cannot succeed still holds.
  await settlement.markUndone(database.db, { afterNumber: 9 });
  assert.equal((await rowOf(replaced)).reason, 'too much gas');
});

test('settling without work is one statement that reads at most two index entries', async () => {
  const { db, pool } = database;
  await pool.query(
    `insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit, status,
       mined_hash, block_number, block_hash, block_time, transaction_index, succeeded)
     select $1, 1000 + n, 'anchor', $1, '', 1, case when n % 10 = 0 then 'confirmed' else 'finalized' end,
       sha256(n::text::bytea), n, sha256(n::text::bytea), n, 0, true
     from generate_series(1, 5000) n`,
    [account],
  );
  const before = await scanned();
  let statements = 0;
  const counting = db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await settlement.settle(counting, { headNumber: 6_000, finalizedNumber: 5, confirmations: 3 });
  assert.equal(statements, 1);
  assert.equal(outcomes.length, 0);
  const { rows } = await pool.query(
    `explain (analyze, format json)
     (select 1 from outgoing_transactions where status = 'mined' and block_number <= 5998 limit 1)
     union all
     (select 1 from outgoing_transactions where status = 'confirmed' and block_number <= 5 limit 1)`,
  );
  assert.match(JSON.stringify(rows[0]), /outgoing_transactions_unsettled/);
  assert.equal(await scanned(), before, 'the table is never read as a whole');

  async function scanned(): Promise<number> {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query(
      "select seq_scan from pg_stat_user_tables where relname = 'outgoing_transactions'",
    );
    return rows[0].seq_scan;
  }
});

function settle(headNumber: number, finalizedNumber: number): Promise<void> {
  return settlement.settle(database.db, { headNumber, finalizedNumber, confirmations: 3 });
}

function hashOf(name: string): Hex {
  return keccak256(stringToHex(name));
}

function foundAt(blockNumber: number, name: string, succeeded = true): Found {
  return {
    hash: hashOf(name),
    blockNumber,
    blockHash: hashOf(`block ${blockNumber}`),
    blockTime: 1_000 + blockNumber,
    index: 0,
    succeeded,
  };
}

async function addOutgoing(
  number: number,
  status: 'signed' | 'submitted' = 'signed',
  { reason = null, noOp = false }: { reason?: string | null; noOp?: boolean } = {},
): Promise<number> {
  const { db } = database;
  const { id } = await db
    .insertInto('outgoing_transactions')
    .values({
      account,
      nonce: number,
      purpose: 'anchor',
      to_address: account,
      call_data: Buffer.alloc(0),
      gas_limit: 60_000,
      status,
      reason,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const names = [`attempt ${number}`, ...(noOp ? [`no-op ${number}`] : [])];
  for (const [place, name] of names.entries()) {
    await db
      .insertInto('outgoing_attempts')
      .values({
        transaction_id: id,
        number: place + 1,
        hash: toBytea(hashOf(name)),
        raw: Buffer.alloc(1),
        max_fee_wei: '1',
        priority_fee_wei: '1',
        no_op: place > 0,
      })
      .execute();
  }
  return id;
}

async function sendAll(): Promise<void> {
  await database.db.updateTable('outgoing_attempts').set({ broadcast_at: new Date() }).execute();
}

function rowOf(id: number) {
  return database.db
    .selectFrom('outgoing_transactions')
    .select(['status', 'reason', 'mined_hash', 'block_number', 'succeeded'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}
