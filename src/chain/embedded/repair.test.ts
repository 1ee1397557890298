/** What is lost or damaged of the embedded chain's results is made again from the journal; a changed journal is refused. */
// tier: process
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { type Hex, keccak256, numberToHex } from 'viem';
import {
  type Fixture,
  hashesAt,
  journalled,
  keepMining,
  openFixture,
  owner,
  transfer,
} from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import {
  anvilHashes,
  firstOddBlock,
  goldenBlocks,
  goldenChainId,
  goldenGenesis,
  goldenHashes,
  goldenTimestamp,
  goldenTransfer,
} from '../../../test/support/fixtures/golden-chain.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { engineName } from './catch-up.ts';
import { blocksPass } from './check/blocks-pass.ts';
import type { EmbeddedChain } from './embedded-chain.ts';
import { createResults, type StoredBlock } from './results/results.store.ts';

const tables = [
  'embedded_chain_results',
  'embedded_chain_transactions',
  'embedded_chain_nodes',
  'embedded_chain_replaced',
];

/** A chain of some blocks that is closed. */
async function madeChain(fixture: Fixture, blocks: number): Promise<{ chainId: number; before: Hex[] }> {
  const chain = await fixture.start();
  for (let nonce = 0; nonce < blocks; nonce += 1) await chain.mine(await transfer(chain.chainId, nonce));
  await chain.close();
  return { chainId: chain.chainId, before: await journalled(fixture) };
}

/** Everything that one can ask for of a chain of transfers. */
async function assertReadable(chain: EmbeddedChain, fixture: Fixture): Promise<void> {
  assert.deepEqual(await hashesAt(chain), await journalled(fixture));
  const blocks = await fixture.allBlocks();
  const sent = blocks.flatMap(({ transactions, hash }) => transactions.map((raw) => ({ raw, hash })));
  for (const [nonce, { raw, hash }] of sent.entries()) {
    const receipt = await chain.call('eth_getTransactionReceipt', [keccak256(raw)]);
    assert.equal((receipt as { blockHash: Hex } | null)?.blockHash, hash);
    const address = numberToHex(0x1000 + nonce, { size: 20 });
    assert.equal(await chain.call('eth_getBalance', [address, 'latest']), numberToHex(nonce + 1));
  }
  assert.equal(
    await chain.call('eth_getTransactionCount', [owner.address, 'latest']),
    numberToHex(sent.length),
  );
}

describe('the results of the embedded chain', { concurrency: 2 }, () => {
  test('are made again from the journal, whatever of them is lost', async (t) => {
    const fixture = await openFixture(t);
    const { db, pool } = fixture.database;
    const { chainId, before } = await madeChain(fixture, 60);
    const losses: [what: string, statement: (head: StoredBlock) => string][] = [
      ['all of them', () => `truncate ${tables.join(', ')}`],
      ['the state', () => 'delete from embedded_chain_nodes'],
      [
        'the root of the state',
        ({ stateRoot }) => `delete from embedded_chain_nodes where key = '\\x${stateRoot.slice(2)}'`,
      ],
      [
        'those of the newest block',
        ({ number }) => `delete from embedded_chain_results where number = ${number}`,
      ],
      [
        'those of the newest blocks',
        ({ number }) => `delete from embedded_chain_results where number > ${number - 20}`,
      ],
    ];
    let nonce = 60;
    for (const [what, statement] of losses) {
      await t.test(what, async (t) => {
        // Whatever this ends with, the next one begins with a whole chain.
        t.after(() => pool.query(`truncate ${tables.join(', ')}`));
        await (await fixture.start()).close();
        const { command, rowCount } = await pool.query(
          statement((await createResults(db).head()) ?? assert.fail()),
        );
        assert.ok(command === 'TRUNCATE' || (rowCount ?? 0) > 0);
        const chain = await fixture.start();
        assert.deepEqual((await hashesAt(chain)).slice(0, before.length), before);
        await chain.mine(await transfer(chainId, nonce));
        nonce += 1;
        await assertReadable(chain, fixture);
        await chain.close();
      });
    }
  });

  test('are repaired while it runs when a block or a call finds a node of the state missing', async (t) => {
    const fixture = await openFixture(t);
    const { pool } = fixture.database;
    const chain = await fixture.start();
    for (let nonce = 0; nonce < 40; nonce += 1) await chain.mine(await transfer(chain.chainId, nonce));
    const lose = async (condition = 'true') => {
      const { rowCount } = await pool.query(`delete from embedded_chain_nodes where ${condition}`);
      assert.ok((rowCount ?? 0) > 0);
      // Its memory still has what was lost.
      const engine = chain.enginePid() ?? assert.fail();
      process.kill(engine, 'SIGKILL');
      await waitUntil(() => chain.enginePid() !== engine);
    };
    const isRepaired = () =>
      chain.call('eth_getBalance', [numberToHex(0x1000, { size: 20 }), 'latest']).catch(() => null);
    keepMining(t, chain);

    await lose();
    const raw = await transfer(chain.chainId, 40);
    // The one that finds it is refused for now, as is what depends on the state; whoever sent it sends it again.
    await waitUntil(() =>
      chain.mine(raw).catch((error) => /already known|nonce too low/.test(String(error))),
    );
    await waitUntil(
      async () => await chain.call('eth_getTransactionReceipt', [keccak256(raw)]).catch(() => null),
    );
    await assertReadable(chain, fixture);

    await lose();
    assert.equal(await waitUntil(isRepaired), '0x1');
    await assertReadable(chain, fixture);

    // A single one, far from what a start reads.
    const leaf = await lastNodeOf(chain, numberToHex(0x1000, { size: 20 }));
    await lose(`key = '\\x${leaf.slice(2)}'`);
    assert.equal(await waitUntil(isRepaired), '0x1');
    await assertReadable(chain, fixture);
  });
});

async function lastNodeOf(chain: EmbeddedChain, account: Hex): Promise<Hex> {
  const proof = (await chain.call('eth_getProof', [account, [], 'latest'])) as { accountProof: Hex[] };
  return keccak256(proof.accountProof.at(-1) ?? assert.fail());
}

test('the code of delegations in rows that accounts share, as earlier versions had it, is made again', async (t) => {
  const fixture = await openFixture(t);
  const { pool } = fixture.database;
  const upgrade = await readFile(
    new URL('../../../migrations/0097_delegations.sql', import.meta.url),
    'utf8',
  );
  const counts = async () => {
    const { rows } = await pool.query(
      `select (select count(*)::int from embedded_chain_results) as blocks,
         (select count(*)::int from embedded_chain_nodes) as nodes,
         (select count(*)::int from embedded_chain_nodes where length(key) = 49) as delegations`,
    );
    return rows[0];
  };
  const { chainId } = await madeChain(fixture, 3);
  const without = await counts();
  await pool.query(upgrade);
  assert.deepEqual(await counts(), { ...without, delegations: 0 });

  let chain = await fixture.start();
  const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n };
  const target = numberToHex(0xdead, { size: 20 });
  const authorization = await owner.signAuthorization({ chainId, address: target, nonce: 4 });
  await chain.mine(
    await owner.signTransaction({
      ...{ type: 'eip7702', chainId, nonce: 3, gas: 100_000n, to: target, ...fees },
      authorizationList: [authorization],
    }),
  );
  await chain.close();
  const whole = await counts();
  assert.equal(whole.delegations, 1);
  await pool.query('update embedded_chain_nodes set key = substring(key from 17) where length(key) = 49');
  await pool.query(upgrade);
  assert.deepEqual(await counts(), { blocks: 0, nodes: 0, delegations: 0 });

  chain = await fixture.start();
  assert.deepEqual(await hashesAt(chain), await journalled(fixture));
  assert.deepEqual(await counts(), whole);
  assert.equal(await chain.call('eth_getCode', [owner.address, 'latest']), `0xef0100${target.slice(2)}`);
});

/** A journal of the golden chain's blocks, as an earlier version of the product left it. */
async function storeBlocks(fixture: Fixture, blocks: StoredAs[]): Promise<void> {
  await fixture.journal.birth(() => ({ chainId: goldenChainId, genesis: goldenGenesis }));
  for (const { number, hash, parentHash, timestampSeconds, transactions } of blocks) {
    await fixture.database.pool.query(
      `insert into embedded_chain_blocks (number, hash, parent_hash, timestamp_seconds, transactions)
       values ($1, $2, $3, $4, $5)`,
      [number, bytes(hash), bytes(parentHash), timestampSeconds, transactions.map(bytes)],
    );
  }
  await fixture.database.pool.query(
    "update embedded_chain set made_by = 'anvil/v1.7.1', recorded_until = $1",
    [blocks.at(-1)?.number],
  );
}

type StoredAs = Pick<StoredBlock, 'number' | 'hash' | 'parentHash' | 'timestampSeconds' | 'transactions'>;

/** With the hashes of anvil: see golden-hashes.test.ts. */
async function goldenJournal(upTo: number): Promise<StoredAs[]> {
  const templates = [{ timestampSeconds: goldenTimestamp, transactions: [] }, ...(await goldenBlocks())];
  return templates.slice(0, upTo + 1).map((template, number) => ({
    ...template,
    number,
    hash: goldenHashes[number] as Hex,
    parentHash: goldenHashes[number - 1] ?? numberToHex(0, { size: 32 }),
  }));
}

describe('the journal of the embedded chain', { concurrency: 2 }, () => {
  test('goes on if anvil made it, and says so in one line', async (t) => {
    const fixture = await openFixture(t);
    await storeBlocks(fixture, await goldenJournal(firstOddBlock - 1));
    const before = await journalled(fixture);

    const chain = await fixture.start();
    const said = fixture.logged.filter(({ message }) => message.includes('anvil'));
    assert.equal(said.length, 1);
    assert.match(said[0]?.message ?? '', /made by anvil\/v1\.7\.1 and goes on with the built-in engine/);
    assert.equal(said[0]?.details.blocks, firstOddBlock - 1);
    assert.deepEqual(await hashesAt(chain), before);
    const last = before.length - 1;
    const block = await chain.call('eth_getBlockByNumber', [numberToHex(last), false]);
    assert.equal((block as { hash: Hex }).hash, before[last]);
    keepMining(t, chain);
    await chain.close();

    fixture.logged.length = 0;
    await fixture.start();
    assert.deepEqual(
      fixture.logged.map(({ message }) => message),
      ['embedded chain started'],
    );
    const { rows } = await fixture.database.pool.query('select made_by, recorded_from from embedded_chain');
    assert.deepEqual(rows, [{ made_by: 'anvil/v1.7.1', recorded_from: null }]);
  });

  test("goes on with recorded hashes where anvil's state had empty accounts and slots in it", async (t) => {
    const fixture = await openFixture(t);
    const { pool, db } = fixture.database;
    const blocks = await goldenJournal(goldenHashes.length - 1);
    await storeBlocks(
      fixture,
      blocks.map((block) => ({
        ...block,
        hash: anvilHashes[block.number] ?? block.hash,
        parentHash: anvilHashes[block.number - 1] ?? block.parentHash,
      })),
    );
    const before = await journalled(fixture);
    assert.notDeepEqual(before, goldenHashes);
    const faults = async () => {
      const found: unknown[] = [];
      for (let after: number | undefined; ; ) {
        const { last, findings } = await blocksPass(db).look({ after, until: undefined });
        found.push(...findings);
        if (last === undefined) return found;
        after = last as number;
      }
    };

    const chain = await fixture.start();
    const said = fixture.logged.filter(({ message }) => message.includes('recorded'));
    assert.deepEqual(
      said.map(({ details }) => details),
      [{ from: firstOddBlock, until: before.length - 1, madeBy: 'anvil/v1.7.1' }],
    );
    assert.deepEqual(await hashesAt(chain), before);
    const mined = await chain.mine(await goldenTransfer());
    assert.equal(mined.number, before.length);
    await chain.close();
    assert.deepEqual(await faults(), []);

    // The same again after a loss of everything, and after a loss in the middle.
    for (const loss of [
      `truncate ${tables.join(', ')}`,
      'delete from embedded_chain_results where number > 12',
    ]) {
      await pool.query(loss);
      const again = await fixture.start();
      assert.deepEqual((await hashesAt(again)).slice(0, -1), before);
      assert.equal((await hashesAt(again)).at(-1), mined.hash);
      await again.close();
      assert.deepEqual(await faults(), []);
    }

    await t.test('and no block after them may have another', async () => {
      await pool.query(
        `update embedded_chain_blocks set timestamp_seconds = timestamp_seconds + 1 where number = ${mined.number}`,
      );
      await pool.query(`truncate ${tables.join(', ')}`);
      await assert.rejects(fixture.start(), new RegExp(`block ${mined.number} should have the hash`));
    });
  });

  test('is refused if it was changed, and nothing is changed by that', async (t) => {
    const fixture = await openFixture(t);
    const { pool } = fixture.database;
    await madeChain(fixture, 8);
    const { rows } = await pool.query('select made_by from embedded_chain');
    assert.deepEqual(rows, [{ made_by: engineName }]);
    const changes: [what: string, change: string, block: number][] = [
      [
        'a time',
        'update embedded_chain_blocks set timestamp_seconds = timestamp_seconds + 1 where number = 8',
        8,
      ],
      ['a transaction', "update embedded_chain_blocks set transactions = '{}' where number = 5", 5],
      [
        'the genesis',
        `update embedded_chain set genesis = replace(genesis, '"balance":"0x', '"balance":"0x1')`,
        1,
      ],
    ];
    for (const [what, change, block] of changes) {
      await t.test(what, async () => {
        const kept = await pool.query('select * from embedded_chain_blocks order by number');
        const genesis = await pool.query('select * from embedded_chain');
        await pool.query(change);
        await pool.query(`truncate ${tables.join(', ')}`);
        const stored = await fixture.allBlocks();
        await assert.rejects(fixture.start(), (error: unknown) => {
          assert.ok(error instanceof OperatorError, String(error));
          const expected = new RegExp(
            `block ${block} (should have|cannot be).* created by holdfast.* Nothing was changed`,
            's',
          );
          assert.match(error.message, expected);
          return true;
        });
        assert.deepEqual(await fixture.allBlocks(), stored);
        // With what was there before it goes on.
        await pool.query('update embedded_chain set genesis = $1', [genesis.rows[0].genesis]);
        for (const row of kept.rows) {
          await pool.query(
            'update embedded_chain_blocks set timestamp_seconds = $2, transactions = $3 where number = $1',
            [row.number, row.timestamp_seconds, row.transactions],
          );
        }
        const chain = await fixture.start();
        await assertReadable(chain, fixture);
        await chain.close();
      });
    }
  });
});

function bytes(text: Hex): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}
