/** The life cycle of the embedded chain: starts, blocks and their commits, and kills of the service. */
// tier: process
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Hex, keccak256, numberToHex } from 'viem';
import * as chains from 'viem/chains';
import { isEngine } from '../../../test/support/chain/engine-process.ts';
import {
  ask,
  blockJournal,
  hashesAt,
  journalled,
  keepMining,
  killed,
  openFixture,
  owner,
  transfer,
} from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { isRetryable, rpcFaultOf } from '../rpc/json-rpc.ts';
import { findEmbeddedChain } from './embedded-chain.ts';
import { lastGatewayPort } from './gateway-file.ts';
import { embeddedChainIds, publicChains } from './genesis.ts';

test('the public chains that an id must not be drawn from are those that are known', () => {
  const within = Object.values(chains).filter(
    ({ id }) => id >= embeddedChainIds.from && id < embeddedChainIds.to,
  );
  assert.ok(within.length > 10);
  for (const { id, name } of within) assert.ok(publicChains.has(id), name);
});

describe('the embedded chain', { concurrency: 2 }, () => {
  test('has a chain id of its own, and goes on with the same chain after a stop', async (t) => {
    const fixture = await openFixture(t);
    const { db } = fixture.database;
    assert.equal(await findEmbeddedChain(db, fixture.dataDir), null);
    const first = await fixture.start();
    const { chainId, genesisHash } = first;
    assert.ok(chainId >= embeddedChainIds.from && chainId < embeddedChainIds.to);
    assert.ok(!publicChains.has(chainId));
    assert.deepEqual(await findEmbeddedChain(db, fixture.dataDir), { chainId, rpcUrl: first.gatewayUrl });
    assert.deepEqual(first.head(), { number: 0, hash: genesisHash });
    assert.equal(await first.call('eth_chainId', []), numberToHex(chainId));
    await first.mine(await transfer(chainId, 0));
    const before = await journalled(fixture);
    const engine = first.enginePid() ?? assert.fail();
    await first.close();
    assert.equal(isEngine(engine), false);
    assert.equal(await findEmbeddedChain(db, fixture.dataDir), null);
    await assert.rejects(first.call('eth_chainId', []), isRetryable);
    const late = await transfer(chainId, 1);
    await assert.rejects(first.mine(late), /is closed|is being stopped/);
    assert.deepEqual(await journalled(fixture), before);

    // What it is made of is read on the very first start only.
    const again = await fixture.start({ alloc: {} });
    assert.deepEqual([again.chainId, again.genesisHash], [chainId, genesisHash]);
    assert.equal(again.gatewayUrl, first.gatewayUrl);
    assert.deepEqual(await hashesAt(again), before);
    assert.deepEqual(fixture.logged.at(-1)?.details.head, 1);
    assert.deepEqual(await again.mine(late), again.head());
    assert.equal(again.head().number, 2);

    const other = await openFixture(t);
    assert.notEqual((await other.start()).chainId, chainId);
  });

  test('mines what enters the pool, makes it final, and then rests', async (t) => {
    const fixture = await openFixture(t);
    const told: number[] = [];
    const chain = await fixture.start({ onBlock: () => told.push(chain.head().number) });
    keepMining(t, chain);
    const raw = await transfer(chain.chainId, 0);
    assert.equal(await chain.call('eth_sendRawTransaction', [raw]), keccak256(raw));
    await waitUntil(() => chain.head().number === 3);
    assert.deepEqual(
      (await fixture.allBlocks()).map(({ transactions }) => transactions),
      [[], [raw], [], []],
    );
    assert.deepEqual(told, [1, 2, 3]);
    const finalized = await ask<{ number: Hex }>(
      chain.gatewayUrl,
      'eth_getBlockByNumber',
      'finalized',
      false,
    );
    assert.equal(finalized.number, '0x1');

    await t.test('the gateway passes on reads and signed transactions, but no changes', async () => {
      const address = numberToHex(0x1000, { size: 20 });
      assert.equal(await ask(chain.gatewayUrl, 'eth_getBalance', address, 'latest'), '0x1');
      const changes = [
        ['anvil_setBalance', address, '0x7'],
        ['evm_mine'],
        ['evm_setTime', 1],
        ['eth_sendTransaction', { from: owner.address, to: address, value: '0x1' }],
        ['eth_sendUnsignedTransaction', { from: owner.address, to: address, value: '0x1' }],
      ] as const;
      for (const [method, ...params] of changes) {
        await assert.rejects(
          ask(chain.gatewayUrl, method, ...params),
          (error) => rpcFaultOf(error)?.code === -32601,
        );
      }
      assert.equal(await ask(chain.gatewayUrl, 'eth_getBalance', address, 'latest'), '0x1');
      assert.equal((await fixture.allBlocks()).length, 4);

      const raw = await transfer(chain.chainId, 1);
      await ask(chain.gatewayUrl, 'eth_sendRawTransaction', raw);
      await waitUntil(async () => (await fixture.journal.block(4))?.transactions.includes(raw));
      await waitUntil(() => chain.head().number === 6);
    });

    await t.test('the gateway is reachable only from this machine, and not by web pages', async () => {
      const answer = await fetch(chain.gatewayUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: 'https://elsewhere.example' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      });
      await answer.body?.cancel();
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
      assert.equal(new URL(chain.gatewayUrl).hostname, '127.0.0.1');
    });
  });

  test('the times of blocks always rise, also in rapid succession and when the clock is set back', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    for (let nonce = 0; nonce < 5; nonce += 1) await chain.mine(await transfer(chain.chainId, nonce));
    const now = Date.now();
    t.mock.method(Date, 'now', () => now - 3_600_000);
    await chain.mine(await transfer(chain.chainId, 5));
    await chain.close();
    const again = await fixture.start();
    await again.mine(await transfer(again.chainId, 6));
    const times = (await fixture.allBlocks()).map(({ timestampSeconds }) => timestampSeconds);
    assert.equal(times.length, 8);
    for (const [index, time] of times.entries()) assert.ok(time > (times[index - 1] ?? 0), String(times));
    assert.ok((times[0] ?? 0) * 1000 > now - 600_000);
  });

  test('goes on with equal hashes after a kill of the service, whose engine ends with it', async (t) => {
    const fixture = await openFixture(t);
    const { child, enginePid } = await fixture.startElsewhere(5, 'rest');
    const before = await journalled(fixture);
    assert.equal(before.length, 6);
    const paths = await fixture.paths();
    const port = await lastGatewayPort(paths);
    assert.ok(isEngine(enginePid));
    await killed(child);
    await waitUntil(() => !isEngine(enginePid));
    assert.equal(
      await findEmbeddedChain(fixture.database.db, fixture.dataDir),
      null,
      'its gateway went with the service',
    );

    const chain = await fixture.start();
    assert.equal(chain.gatewayUrl, `http://127.0.0.1:${port}`);
    assert.deepEqual(await hashesAt(chain), before);
    assert.equal((await chain.mine(await transfer(chain.chainId, 5))).number, before.length);
    const executed = fixture.logged.filter(({ message }) => message.startsWith('executing'));
    assert.deepEqual(executed, [], 'nothing had to be executed again');
  });

  test('a block that was built but not committed never was, and its transactions are sent again', async (t) => {
    const fixture = await openFixture(t);
    const { child } = await fixture.startElsewhere(2, 'run');
    await waitUntil(async () => (await fixture.allBlocks()).length === 5);
    const before = await journalled(fixture);
    const { rpcUrl, chainId } =
      (await findEmbeddedChain(fixture.database.db, fixture.dataDir)) ?? assert.fail();
    const raw = await transfer(chainId, 2);
    const held = await blockJournal(fixture.database);
    await ask(rpcUrl, 'eth_sendRawTransaction', raw);
    await held.untilWaiting();
    // Nobody is shown what may never be.
    assert.equal(await ask<Hex>(rpcUrl, 'eth_blockNumber'), numberToHex(before.length - 1));
    assert.equal(await ask(rpcUrl, 'eth_getTransactionReceipt', keccak256(raw)), null);
    await killed(child);
    await held.failWaiting();
    await held.undo();
    assert.deepEqual(await journalled(fixture), before);

    const chain = await fixture.start();
    assert.deepEqual(await hashesAt(chain), before);
    const block = await chain.mine(raw);
    assert.equal(block.number, before.length);
    assert.deepEqual((await fixture.journal.block(block.number))?.transactions, [raw]);

    await t.test('a commit that failed is repeated before anything else is mined', async () => {
      const held = await blockJournal(fixture.database);
      const next = await transfer(chainId, 3);
      const outcome = chain.mine(next).then(
        () => null,
        (error: unknown) => error,
      );
      await held.untilWaiting();
      assert.deepEqual(chain.head(), block);
      assert.equal(await chain.call('eth_blockNumber', []), numberToHex(block.number));
      await held.failWaiting();
      assert.ok((await outcome) instanceof Error);
      assert.equal(chain.head().hash, block.hash);
      await held.undo();
      const after = await chain.mine(await transfer(chainId, 4));
      assert.equal(after.number, block.number + 2);
      assert.deepEqual((await fixture.journal.block(block.number + 1))?.transactions, [next]);
      assert.deepEqual(await hashesAt(chain), await journalled(fixture));
    });

    await t.test('a commit that succeeded without an answer is found, and not repeated', async () => {
      const { number } = chain.head();
      await chain.close();
      let unanswered = 0;
      const unsure = await fixture.start({
        async commit(work) {
          const result = await fixture.database.db.transaction().execute(work);
          unanswered += 1;
          if (unanswered === 1) throw new Error('the connection was lost');
          return result;
        },
      });
      const next = await transfer(chainId, 5);
      await assert.rejects(unsure.mine(next), /the connection was lost/);
      assert.deepEqual([unsure.head().number, (await fixture.allBlocks()).length], [number, number + 2]);
      const after = await unsure.mine(await transfer(chainId, 6));
      assert.equal(after.number, number + 2);
      assert.deepEqual((await fixture.journal.block(number + 1))?.transactions, [next]);
      assert.deepEqual(await hashesAt(unsure), await journalled(fixture));
      await unsure.close();
    });

    await t.test('a transaction that the chain refuses is reported, and nothing is mined', async () => {
      const again = await fixture.start();
      const head = again.head();
      await assert.rejects(again.mine(raw.replace(/..$/, '00') as Hex), (error) => !isRetryable(error));
      await assert.rejects(again.mine(raw), /nonce too low/);
      assert.deepEqual(again.head(), head);
    });
  });

  test('mines and journals what others send, in one block with its own', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    const raws = await Promise.all([0, 1, 2].map((nonce) => transfer(chain.chainId, nonce)));
    for (const raw of raws.slice(0, 2)) await ask(chain.gatewayUrl, 'eth_sendRawTransaction', raw);
    const block = await chain.mine(raws[2] ?? '0x');
    assert.deepEqual((await fixture.journal.block(1))?.transactions, raws);
    const receipts = await Promise.all(
      raws.map((raw) =>
        ask<{ blockHash: Hex; transactionIndex: Hex; status: Hex }>(
          chain.gatewayUrl,
          'eth_getTransactionReceipt',
          keccak256(raw),
        ),
      ),
    );
    assert.deepEqual(
      receipts.map(({ blockHash, transactionIndex, status }) => [blockHash, transactionIndex, status]),
      ['0x0', '0x1', '0x2'].map((index) => [block.hash, index, '0x1']),
    );
  });

  test('of two writers one goes on, and the other takes over its blocks instead of forking', async (t) => {
    const fixture = await openFixture(t);
    const one = await fixture.start();
    const two = await fixture.start();
    assert.equal(one.chainId, two.chainId);
    const block = await one.mine(await transfer(one.chainId, 0));
    const stored = await fixture.allBlocks();
    await assert.rejects(two.mine(await transfer(two.chainId, 0, 77n)), (error) => {
      assert.match(String(error), /another process wrote block 1 into the journal/);
      return isRetryable(error);
    });
    assert.deepEqual(await fixture.allBlocks(), stored);
    // It is repaired with the next block.
    const next = await transfer(two.chainId, 1);
    assert.equal((await two.mine(next)).number, 2);
    const blocks = await fixture.allBlocks();
    assert.deepEqual(
      blocks.map(({ transactions }) => transactions),
      [[], stored[1]?.transactions, [next]],
    );
    assert.equal(blocks[1]?.hash, block.hash);
    assert.equal(blocks[2]?.parentHash, block.hash);
    assert.deepEqual(await hashesAt(two), await journalled(fixture));
  });

  test('does not begin with a genesis that is none, and stores no block', async (t) => {
    const fixture = await openFixture(t);
    await fixture.journal.birth(() => ({ chainId: 1_234_567_890, genesis: 'no genesis' }));
    await assert.rejects(fixture.start(), /genesis|JSON/);
    assert.equal(await fixture.journal.head(), null);
  });
});
