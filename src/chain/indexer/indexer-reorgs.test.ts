/** The indexer follows its chain: when it catches up, after every reorg, and where it needs an operator's decision. */
// tier: process
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import {
  createNotingSender,
  follow,
  type IndexedChain,
  insertVault,
  leadOn,
  openIndexedChain,
  registry,
  strangerAddress,
  type TestChain,
  testIndexer,
} from '../../../test/support/fixtures/indexed-chain-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { fromBytea, toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { acceptReorg } from './accept-reorg.ts';

const { after, before, test } = needs('anvil');
let node: TestChain;
let fixture: IndexedChain;
before(async () => {
  fixture = await openIndexedChain();
  node = fixture.node;
});
after(() => fixture?.close());

/** A test with an empty database; the chain continues from one test to the next. */
function chainTest(name: string, run: (db: Db) => Promise<void>): void {
  test(name, async () => run(await fixture.emptyDb()));
}

chainTest('catches up on every block in order, and resumes where it was interrupted', async (db) => {
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

chainTest('stores the new chain after a reorg of any depth from 1 to 10', async (db) => {
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
    // Covers both a higher head than before and a lower or equal one.
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
  'follows a chain that became shorter and different, but not one that is only shorter',
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

    // The same chain, as a lagging node has it.
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

chainTest('stops and changes nothing at another genesis or at a fork below all stored blocks', async (db) => {
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
  'follows a reorg of any depth, and below a final block only if an operator accepts it',
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

    // These blocks become final, but are removed all the same.
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

async function countTransactions(db: Db): Promise<number> {
  return (await db.selectFrom('vault_transactions').select('hash').execute()).length;
}

async function blocksOf(db: Db) {
  return db.selectFrom('chain_blocks').selectAll().orderBy('number').execute();
}

/** Compares stored blocks and transactions with the node's own, read in a different way. */
async function assertEqualToChain(db: Db, from = 0): Promise<void> {
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
