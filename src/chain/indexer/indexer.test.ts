/** The indexer on a real chain: which transactions it lists for which vault, where it begins, and what it keeps. */
// tier: process
import assert from 'node:assert/strict';
import { getContractAddress, type Hex } from 'viem';
import {
  createNotingSender,
  follow,
  type IndexedChain,
  insertSender,
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

chainTest('lists a transaction once for each vault that it is from, to, or anchors', async (db) => {
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

chainTest('reports a reverted anchor to the sender, and lists it for no vault', async (db) => {
  const [, , three] = node.anvil.accounts;
  const vault = await insertVault(db, strangerAddress(3));
  await insertSender(db, three.address);
  // INVALID at the start of the code makes a creation fail; only the receipt matters here.
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

chainTest(
  'starts a little below the head of a chain that is not embedded, and reports new finality',
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
    // A new leader does not know how far its predecessor came.
    await follow(indexer, leadOn(db, chain, 2));
    assert.equal(sender.settled.length, before + 2);
  },
);

chainTest(
  'starts with the block of the oldest vault that is older than the first look at the chain',
  async (db) => {
    const [one] = node.anvil.accounts;
    // Blocks that are mined together have the same time.
    await node.anvil.client.increaseTime({ seconds: 10 });
    await node.mine();
    const { number: paidAfter } = await node.head();
    const vault = await insertVault(db, strangerAddress(7));
    await insertVault(db, strangerAddress(8));
    const paid = await node.send(0, { to: strangerAddress(7), value: 5n });
    await node.mine(100);
    const made = await node.anvil.client.getBlock({ blockNumber: BigInt(paidAfter) });
    // Later by the most that the two clocks may differ.
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
  },
);

chainTest('drops old blocks unless they have a transaction of a vault', async (db) => {
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

async function blocksOf(db: Db) {
  return db.selectFrom('chain_blocks').selectAll().orderBy('number').execute();
}
