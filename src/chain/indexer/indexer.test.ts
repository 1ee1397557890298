import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { getContractAddress, type Hex } from 'viem';
import { anvilMissing } from '../../../test/support/chain/anvil.ts';
import {
  createNotingSender,
  follow,
  insertSender,
  insertVault,
  leadOn,
  registry,
  startTestChain,
  strangerAddress,
  type TestChain,
  testIndexer,
} from '../../../test/support/fixtures/indexed-chain-fixture.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { fromBytea, toBytea } from '../../db/bytea.ts';
import type { Database } from '../../db/database.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { acceptReorg } from './accept-reorg.ts';

const skip = await anvilMissing();
let node: TestChain;
let database: Database;
before(async () => {
  if (skip) return;
  node = await startTestChain();
  database = await openTestDatabase();
});
after(async () => {
  await node?.anvil.stop();
  await database?.close();
});

/** A test that finds an empty database; the chain goes on from one test to the next. */
function chainTest(name: string, run: (db: Database['db']) => Promise<void>): void {
  test(name, { skip }, async () => {
    await database.pool.query(
      `truncate workspaces, vaults, sender_accounts, chain_blocks, chain_reorgs, vault_transactions,
         vault_transactions_undone restart identity cascade`,
    );
    await run(database.db);
  });
}

chainTest('a transaction is listed once for each vault it is from, to, or an anchor of', async (db) => {
  const [one, two, three] = node.anvil.accounts;
  const first = await insertVault(db, one.address);
  const second = await insertVault(db, two.address);
  const third = await insertVault(db, strangerAddress(1));
  await insertSender(db, three.address);
  const sender = createNotingSender();
  const indexer = testIndexer({
    db,
    sender,
    vaultsOfAnchors: async (_db, ids) =>
      ids.flatMap((outgoingId) => [first, third].map((vault) => ({ outgoingId, ...vault }))),
  });

  const between = await node.send(0, { to: two.address, value: 7n });
  const self = await node.send(0, { to: one.address, value: 2n ** 60n });
  const nonce = BigInt(await node.anvil.client.getTransactionCount({ address: two.address }));
  const creation = await node.send(1, { data: '0x600060005500' });
  await node.mine();
  const anchor = await node.send(2, { to: registry, data: '0x1234' });
  const noOp = await node.send(2, { to: three.address });
  await node.send(2, { to: strangerAddress(2), value: 1n });
  sender.ours.set(anchor, 41).set(noOp, 42);
  await node.mine();
  await follow(indexer, leadOn(db, await node.chain()));

  const rows = await db.selectFrom('vault_transactions').selectAll().orderBy('block_number').execute();
  const seen = rows.map((row) => `${row.vault_id} ${fromBytea(row.hash)}`);
  const expected = [
    [first, between],
    [second, between],
    [first, self],
    [second, creation],
    [first, anchor],
    [third, anchor],
  ] as const;
  assert.deepEqual(seen.sort(), expected.map(([{ vaultId }, hash]) => `${vaultId} ${hash}`).sort());
  const of = (hash: Hex) => rows.find((row) => fromBytea(row.hash) === hash);
  assert.equal(of(self)?.value_wei, String(2n ** 60n));
  assert.equal(of(creation)?.to_address, getContractAddress({ from: two.address, nonce }));
  const block = await node.anvil.client.getBlock({ blockNumber: BigInt(of(anchor)?.block_number ?? 0) });
  assert.equal(of(anchor)?.time_seconds, Number(block.timestamp));

  assert.deepEqual(
    sender.mined.map(({ hash, succeeded, blockHash, index }) => ({ hash, succeeded, blockHash, index })),
    [anchor, noOp].map((hash, index) => ({ hash, succeeded: true, blockHash: block.hash, index })),
  );
  const kept = await db.selectFrom('chain_blocks').select('number').where('kept', '=', true).execute();
  assert.deepEqual(new Set(kept.map(({ number }) => number)), new Set(rows.map((row) => row.block_number)));
});

chainTest('an anchor that reverted is told to the sender, and listed for no vault', async (db) => {
  const [, , three] = node.anvil.accounts;
  const vault = await insertVault(db, strangerAddress(3));
  await insertSender(db, three.address);
  // INVALID at the start of the code makes a creation fail; what counts here is the receipt.
  const hash = await node.send(2, { data: '0xfe' });
  await node.mine();
  const { contractAddress } = await node.anvil.mined(hash);
  assert.ok(contractAddress);
  const sender = createNotingSender();
  sender.ours.set(hash, 1);
  const vaultsOfAnchors = async () => [{ outgoingId: 1, ...vault }];
  const chain = await node.chain({ registry: contractAddress });
  await follow(testIndexer({ db, sender, vaultsOfAnchors }), leadOn(db, chain));
  assert.deepEqual(
    sender.mined.map((found) => [found.hash, found.succeeded]),
    [[hash, false]],
  );
  assert.deepEqual(await db.selectFrom('vault_transactions').selectAll().execute(), []);
});

chainTest('catching up stores every block in order, and goes on where it was interrupted', async (db) => {
  const [one] = node.anvil.accounts;
  await insertVault(db, one.address);
  for (let round = 0; round < 5; round += 1) {
    await node.send(0, { to: strangerAddress(round), value: 1n });
    await node.mine(30);
  }
  const sender = createNotingSender();
  let commits = 0;
  const lead = leadOn(db, await node.chain());
  const indexer = testIndexer({
    db,
    sender: {
      ...sender,
      settle: async (_db, depth) => {
        commits += 1;
        if (commits === 3) throw new Error('interrupted');
        sender.settled.push(depth);
      },
    },
  });
  await assert.rejects(indexer.step(lead), /interrupted/);
  const halfWay = await blocksOf(db);
  assert.equal(halfWay.length, 64, 'the third window was stored in part, or not at all');
  await follow(indexer, lead);
  await assertEqualToChain(db);
  const heads = sender.settled.map(({ headNumber }) => headNumber);
  assert.deepEqual(
    heads,
    heads.toSorted((a, b) => a - b),
  );
});

chainTest('after a reorg of any depth from 1 to 10 the stored chain is the new one', async (db) => {
  const [one, two] = node.anvil.accounts;
  await insertVault(db, one.address);
  await insertVault(db, two.address);
  const sender = createNotingSender();
  const indexer = testIndexer({ db, sender });
  const lead = leadOn(db, await node.chain());
  for (let depth = 1; depth <= 10; depth += 1) {
    for (let block = 0; block < depth + 1; block += 1) {
      await node.send(0, { to: two.address, value: BigInt(block) });
      await node.mine();
    }
    await follow(indexer, lead);
    const { number: oldHead } = await node.head();
    await node.reorg(depth);
    // With and without a higher head than before.
    if (depth % 2 === 0) {
      await node.send(1, { to: one.address, value: BigInt(depth) });
      await node.mine();
    }
    await follow(indexer, lead);
    await assertEqualToChain(db, oldHead - depth - 2);
    const reorg = await db
      .selectFrom('chain_reorgs')
      .select(['id', 'fork_number', 'old_head'])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    assert.deepEqual([reorg.fork_number, reorg.old_head], [oldHead - depth, oldHead]);
    assert.equal(sender.undone.at(-1), oldHead - depth);
    const undone = await db
      .selectFrom('vault_transactions_undone')
      .select('block_number')
      .where('reorg_id', '=', reorg.id)
      .execute();
    assert.equal(undone.length, 2 * depth, 'one row for each of the two vaults and each lost block');
  }
  assert.equal((await db.selectFrom('chain_reorgs').select('id').execute()).length, 10);
});

chainTest(
  'a chain that became shorter and other is followed, one that is only shorter is not',
  async (db) => {
    const [one] = node.anvil.accounts;
    await insertVault(db, one.address);
    const indexer = testIndexer({ db });
    const lead = leadOn(db, await node.chain());
    await node.mine(2);
    const snapshot = await node.anvil.client.snapshot();
    for (let block = 0; block < 4; block += 1) {
      await node.send(0, { to: strangerAddress(block), value: 1n });
      await node.mine();
    }
    await follow(indexer, lead);
    const stored = await blocksOf(db);
    const listed = await countTransactions(db);

    // The same chain as a node that lags has it.
    await node.anvil.client.revert({ id: snapshot });
    await follow(indexer, lead);
    assert.deepEqual(await blocksOf(db), stored);
    assert.equal(await countTransactions(db), listed);

    await node.send(0, { to: strangerAddress(99), value: 2n });
    await node.mine();
    await follow(indexer, lead);
    await assertEqualToChain(db);
    assert.equal(await countTransactions(db), listed - 4 + 1);
  },
);

chainTest('another genesis, or a fork below all that is held, stops it and changes nothing', async (db) => {
  await node.mine(3);
  const { number } = await node.head();
  await follow(testIndexer({ db }), leadOn(db, await node.chain()));
  const stored = await blocksOf(db);
  const otherGenesis = await node.chain({ genesisHash: `0x${'ab'.repeat(32)}` });
  await assert.rejects(testIndexer({ db }).step(leadOn(db, otherGenesis)), OperatorError);
  assert.deepEqual(await blocksOf(db), stored);

  await db
    .deleteFrom('chain_blocks')
    .where('number', '<', number - 2)
    .execute();
  await db
    .updateTable('chain_blocks')
    .set({ hash: toBytea(`0x${'cd'.repeat(32)}`) })
    .execute();
  await node.mine();
  const foreign = await blocksOf(db);
  await assert.rejects(testIndexer({ db }).step(leadOn(db, await node.chain())), OperatorError);
  assert.deepEqual(await blocksOf(db), foreign);
  assert.deepEqual(await db.selectFrom('chain_reorgs').selectAll().execute(), []);
});

chainTest(
  'a reorg is followed however deep it is, and below what was final on the word of an operator',
  async (db) => {
    const [one] = node.anvil.accounts;
    await insertVault(db, one.address);
    await sql`delete from chain`.execute(db);
    let finalizedNumber = -1;
    const chain = await node.chain({ embedded: false, finalizedNumber: async () => finalizedNumber });
    await sql`insert into chain (chain_id, genesis_hash, embedded, registry, submitter) values
    (31337, ${toBytea(chain.genesisHash)}, false, ${toBytea(registry)}, ${toBytea(one.address)})`.execute(db);
    await node.mine(10);
    const indexer = testIndexer({ db });
    const lead = leadOn(db, chain);
    await follow(indexer, lead);
    const { number: fork } = await node.head();
    const snapshot = await node.anvil.client.snapshot();
    await node.mine(300);
    await follow(indexer, lead);
    await node.anvil.client.revert({ id: snapshot });
    await node.send(0, { to: strangerAddress(5), value: 9n });
    await node.mine(290);
    await follow(indexer, lead);
    await assertEqualToChain(db, fork - 5);

    // Final now, and taken back all the same.
    for (let block = 0; block < 3; block += 1) {
      await node.send(0, { to: strangerAddress(block), value: 3n });
      await node.mine();
    }
    const { number } = await node.head();
    finalizedNumber = number;
    await follow(indexer, lead);
    await node.reorg(3);
    await node.mine();
    const stored = await blocksOf(db);
    await assert.rejects(indexer.step(lead), (error: Error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, new RegExp(`accept-reorg ${number - 3}"`));
      return true;
    });
    assert.deepEqual(await blocksOf(db), stored);
    await assert.rejects(acceptReorg(db, number), OperatorError);
    assert.deepEqual(await acceptReorg(db, number - 3), {
      finalBlock: number - 3,
      formerFinalBlock: number,
    });
    await follow(indexer, lead);
    await assertEqualToChain(db, fork - 5);
    await sql`delete from chain`.execute(db);
  },
);

chainTest(
  'a chain of others is followed from a little below its head; finality alone is told too',
  async (db) => {
    await node.mine(80);
    const { number } = await node.head();
    const sender = createNotingSender();
    const indexer = testIndexer({ db, sender });
    let finalizedNumber = number - 5;
    const chain = await node.chain({
      embedded: false,
      confirmations: 3,
      finalizedNumber: async () => finalizedNumber,
    });
    const lead = leadOn(db, chain);
    await follow(indexer, lead);
    assert.equal((await blocksOf(db))[0]?.number, number - 64);
    assert.deepEqual(sender.settled.at(-1), { headNumber: number, finalizedNumber, confirmations: 3 });

    const before = sender.settled.length;
    await follow(indexer, lead);
    assert.equal(sender.settled.length, before, 'nothing moved');
    finalizedNumber = number - 1;
    await follow(indexer, lead);
    assert.deepEqual(sender.settled.at(-1), { headNumber: number, finalizedNumber, confirmations: 3 });
    // A new leader does not know how far the one before it came.
    await follow(indexer, leadOn(db, chain, 2));
    assert.equal(sender.settled.length, before + 2);
  },
);

chainTest('vaults that are older than the first look at the chain: it begins with the oldest', async (db) => {
  const [one] = node.anvil.accounts;
  // Blocks that are mined at once have one time.
  await node.anvil.client.increaseTime({ seconds: 10 });
  await node.mine();
  const { number: paidAfter } = await node.head();
  const vault = await insertVault(db, strangerAddress(7));
  await insertVault(db, strangerAddress(8));
  const paid = await node.send(0, { to: strangerAddress(7), value: 5n });
  await node.mine(100);
  const made = await node.anvil.client.getBlock({ blockNumber: BigInt(paidAfter) });
  // As much later as the two clocks may differ.
  const at = new Date((Number(made.timestamp) + 3_600) * 1000);
  const late = new Date(at.getTime() + 3_600_000);
  await db.updateTable('vaults').set({ created_at: late }).execute();
  await db.updateTable('vaults').set({ created_at: at }).where('id', '=', vault.vaultId).execute();
  await follow(testIndexer({ db }), leadOn(db, await node.chain({ embedded: false })));
  assert.equal((await blocksOf(db))[0]?.number, paidAfter - 1);
  const rows = await db
    .selectFrom('vault_transactions')
    .select(['vault_id', 'hash', 'from_address'])
    .execute();
  assert.deepEqual(rows, [{ vault_id: vault.vaultId, hash: toBytea(paid), from_address: one.address }]);
});

chainTest('old blocks without anything of a vault are dropped, those with something stay', async (db) => {
  const [one] = node.anvil.accounts;
  await insertVault(db, one.address);
  await node.send(0, { to: strangerAddress(1), value: 1n });
  await node.mine();
  await node.mine(Math.max(60, 200 - (await node.head()).number));
  await follow(testIndexer({ db, heldBlocks: 50 }), leadOn(db, await node.chain()));
  const { number } = await node.head();
  const stored = (await blocksOf(db)).map((block) => block.number);
  assert.equal(stored.filter((one) => one > number - 50).length, 50);
  const kept = await db
    .selectFrom('chain_blocks')
    .select('number')
    .where('kept', '=', true)
    .orderBy('number')
    .execute();
  assert.ok(kept.length > 0);
  const old = (numbers: number[]) => numbers.filter((one) => one <= number - 50 - 64);
  assert.deepEqual(old(stored), old(kept.map((row) => row.number)));
});

async function countTransactions(db: Database['db']): Promise<number> {
  return (await db.selectFrom('vault_transactions').select('hash').execute()).length;
}

async function blocksOf(db: Database['db']) {
  return db.selectFrom('chain_blocks').selectAll().orderBy('number').execute();
}

/** Blocks and transactions, held against the node's own, read in another way. */
async function assertEqualToChain(db: Database['db'], from = 0): Promise<void> {
  const { number: head } = await node.head();
  const stored = (await blocksOf(db)).filter(({ number }) => number >= from);
  assert.equal(stored.at(-1)?.number, head);
  assert.equal(stored.length, head + 1 - from);
  const { client } = node.anvil;
  const vaults = await db.selectFrom('vaults').select(['id', 'address']).execute();
  const expected: string[] = [];
  for (const { number, hash, parent_hash } of stored) {
    const block = await client.getBlock({ blockNumber: BigInt(number), includeTransactions: true });
    assert.equal(fromBytea(hash), block.hash, `block ${number}`);
    assert.equal(fromBytea(parent_hash), block.parentHash);
    for (const { hash, from, to, transactionIndex } of block.transactions) {
      const mine = vaults.filter(({ address }) =>
        [from, to].some((one) => one?.toLowerCase() === address.toLowerCase()),
      );
      for (const { id } of mine) expected.push(`${id} ${number}/${transactionIndex} ${hash}`);
    }
  }
  const rows = await db
    .selectFrom('vault_transactions')
    .selectAll()
    .where('block_number', '>=', from)
    .execute();
  const seen = rows.map((row) => {
    return `${row.vault_id} ${row.block_number}/${row.transaction_index} ${fromBytea(row.hash)}`;
  });
  assert.deepEqual(seen.sort(), expected.sort());
}
