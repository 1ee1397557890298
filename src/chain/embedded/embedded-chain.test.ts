/** The life cycle of the embedded chain: kills of node and service, dumps, orphans, and recovery from the journal. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Hex, keccak256, numberToHex } from 'viem';
import {
  alloc,
  ask,
  blockJournal,
  type Fixture,
  hashesAt,
  killed,
  noAnvil,
  nodePid,
  openFixture,
  owner,
  transfer,
} from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import { processesMentioning, waitUntil } from '../../../test/support/service/process.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { superviseLoops } from '../../runtime/loop.ts';
import { isRetryable, rpcFaultOf } from '../rpc/json-rpc.ts';
import { findAnvil } from './anvil-program.ts';
import { listDumps } from './dumps.ts';
import { type EmbeddedChain, findEmbeddedChain } from './embedded-chain.ts';
import { lastGatewayPort } from './gateway-file.ts';

describe('the embedded chain', { skip: noAnvil, concurrency: 2 }, () => {
  test('has the same 50 blocks after a kill -9 of the chain node', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    for (let nonce = 0; nonce < 50; nonce += 1) {
      const raw = await transfer(chain.chainId, nonce);
      const block = await chain.mine([raw]);
      assert.deepEqual(block.transactions, [raw]);
      assert.deepEqual(block.transactionHashes, [keccak256(raw)]);
    }
    const before = await hashesAt(chain);
    assert.equal(before.length, 51);
    assert.deepEqual(before, await journalled(fixture));

    process.kill(await nodePid(fixture), 'SIGKILL');
    const loops = superviseLoops([chain.loop], { info() {}, error() {} });
    loops.start();
    t.after(() => loops.stop(5_000));
    await waitUntil(
      () => fixture.logged.filter(({ message }) => message === 'embedded chain started')[1] ?? null,
    );
    assert.deepEqual(await hashesAt(chain).then((hashes) => hashes.slice(0, 51)), before);
    const receipt = await ask<{ blockHash: Hex }>(
      chain.rpcUrl(),
      'eth_getTransactionReceipt',
      keccak256(await transfer(chain.chainId, 20)),
    );
    assert.equal(receipt.blockHash, before[21]);
  });

  test('mines what enters the pool, makes it final, and then rests', async (t) => {
    const fixture = await openFixture(t);
    const told: number[] = [];
    const chain = await fixture.start({ onBlock: () => told.push(chain.head().number) });
    const loops = superviseLoops([chain.loop], { info() {}, error() {} });
    loops.start();
    t.after(() => loops.stop(5_000));
    const raw = await transfer(chain.chainId, 0);
    await ask(chain.rpcUrl(), 'eth_sendRawTransaction', raw);
    chain.mineSoon();
    await waitUntil(() => chain.head().number === 3);
    assert.deepEqual(
      (await fixture.allBlocks()).map(({ transactions }) => transactions),
      [[], [raw], [], []],
    );
    assert.deepEqual(told, [1, 2, 3]);
    const finalized = await ask<{ number: Hex }>(chain.rpcUrl(), 'eth_getBlockByNumber', 'finalized', false);
    assert.equal(finalized.number, '0x1');

    await t.test('the gateway passes on reads and signed transactions, but no changes', async () => {
      const address = numberToHex(0x1000, { size: 20 });
      assert.equal(await ask(chain.gatewayUrl, 'eth_getBalance', address, 'latest'), '0x1');
      const changes = [
        ['anvil_setBalance', address, '0x7'],
        ['evm_mine'],
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

    await t.test('undoes a block that somebody else mined', async () => {
      const before = await journalled(fixture);
      let answers: unknown[] = [];
      await madeAgainAfter(fixture, async () => {
        await ask(chain.rpcUrl(), 'evm_mine');
        await waitUntil(() => chain.rpcUrl() === null);
        // Otherwise a transaction could get in between the replayed blocks.
        answers = await Promise.allSettled([ask(chain.gatewayUrl, 'eth_chainId')]);
      });
      assert.match(String(Object(answers[0]).reason), /being rebuilt from its journal/);
      await waitUntil(() => chain.rpcUrl());
      assert.deepEqual(await hashesAt(chain), before);
      assert.deepEqual(await journalled(fixture), before);
    });

    await t.test('discards an unsigned transaction together with its block', async () => {
      const before = await journalled(fixture);
      const [from] = Object.keys(alloc);
      await ask(chain.rpcUrl(), 'anvil_impersonateAccount', from);
      const unsigned = { from, to: numberToHex(7, { size: 20 }), value: '0x1' };
      await madeAgainAfter(fixture, () => ask(chain.rpcUrl(), 'eth_sendTransaction', unsigned));
      assert.deepEqual(await journalled(fixture), before);
      assert.deepEqual(await hashesAt(chain), before);
    });

    await t.test('the chain node is reachable only from this machine, and not by web pages', async () => {
      const answer = await fetch(chain.rpcUrl() ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: 'https://elsewhere.example' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      });
      assert.match(await answer.text(), new RegExp(`"result":"${numberToHex(chain.chainId)}"`));
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
      const [line] = processesMentioning(` --chain-id ${chain.chainId} `);
      assert.match(line ?? '', / --host 127\.0\.0\.1 .*--no-cors /);
    });
  });

  test('starts from the newest good dump and replays the rest, or stops and changes nothing', async (t) => {
    const fixture = await openFixture(t);
    const first = await fixture.start({ dumpAfter: 10 });
    await mineWithLoop(first, 0, 24);
    await first.stop();
    const paths = await fixture.paths();
    const before = await journalled(fixture);
    const [newest, older, ...more] = await listDumps(paths);
    assert.ok(newest && older && more.length === 0);
    assert.ok(newest.number > older.number && newest.number < 24, 'the stop is between dumps');

    const startAndLook = async (from: number) => {
      const chain = await fixture.start({ dumpAfter: 1_000 });
      const { details } =
        fixture.logged.findLast(({ message }) => message === 'embedded chain started') ?? {};
      assert.deepEqual([details?.from, details?.replayed], [from, 24 - from]);
      assert.deepEqual(await hashesAt(chain), before);
      await chain.stop();
    };
    await startAndLook(newest.number);

    await t.test('falls back to the previous dump if the newest has a wrong state', async () => {
      const state = JSON.parse(gunzipSync(await readFile(newest.file)).toString());
      for (const account of Object.values<{ balance: string }>(state.accounts)) account.balance = '0x1';
      await writeFile(newest.file, gzipSync(JSON.stringify(state)));
      await startAndLook(older.number);
      assert.deepEqual(
        (await listDumps(paths)).map(({ number }) => number),
        [older.number],
      );
    });

    await t.test('replays from the genesis if there is no good dump', async () => {
      await truncate(older.file, 200);
      await startAndLook(0);
      assert.deepEqual(await listDumps(paths), []);
    });

    await t.test('refuses a changed journal, and changes nothing', async () => {
      const change =
        'update embedded_chain_blocks set timestamp_seconds = timestamp_seconds + 1 where number = 24';
      await fixture.database.pool.query(change);
      const files = await readdir(paths.home);
      const stored = await fixture.allBlocks();
      await assert.rejects(fixture.start(), (error: unknown) => {
        assert.ok(error instanceof OperatorError, String(error));
        assert.match(
          error.message,
          /block 24 should have the hash 0x.* created by anvil\/v.* Nothing was changed/s,
        );
        return true;
      });
      assert.deepEqual(await fixture.allBlocks(), stored);
      assert.deepEqual(new Set(await readdir(paths.home)), new Set(files));
      assert.deepEqual(processesMentioning(paths.home), []);
    });
  });

  test('adopts an orphaned chain node without a replay, unless its head differs or it is foreign', async (t) => {
    const fixture = await openFixture(t);
    // Killed at rest: in the middle of a block its node would have one more than the journal, and not be adopted.
    await killed(await fixture.startElsewhere(5, 'rest'));
    const orphan = await nodePid(fixture);
    const before = await journalled(fixture);
    const paths = await fixture.paths();
    const gatewayPort = await lastGatewayPort(paths);
    assert.equal(
      await findEmbeddedChain(fixture.database.db, fixture.dataDir),
      null,
      'its gateway went with the service',
    );

    let chain = await fixture.start();
    assert.equal(chain.gatewayUrl, `http://127.0.0.1:${gatewayPort}`);
    assert.equal(fixture.logged.at(-1)?.message, 'using the embedded chain that is already running');
    assert.equal(await nodePid(fixture), orphan);
    assert.deepEqual(await hashesAt(chain), before);
    assert.equal((await chain.mine([await transfer(chain.chainId, 5)])).number, before.length);
    assert.deepEqual(await findEmbeddedChain(fixture.database.db, fixture.dataDir), {
      chainId: chain.chainId,
      rpcUrl: chain.gatewayUrl,
    });

    await t.test(
      'adopts a chain node that was left, which its former owner can then no longer stop',
      async () => {
        await chain.leave();
        await assert.rejects(chain.mine([]), isRetryable);
        const successor = await fixture.start();
        assert.equal(fixture.logged.at(-1)?.message, 'using the embedded chain that is already running');
        await chain.stop();
        assert.equal(await nodePid(fixture), orphan);
        assert.equal((await successor.mine([])).number, before.length + 1);
        chain = successor;
      },
    );

    await t.test(
      'leaves nothing behind after a stop, and ignores a foreign chain node on its old port',
      async () => {
        const { port } = new URL(chain.rpcUrl() ?? '');
        const record = await readFile(paths.pidFile);
        await chain.stop();
        assert.deepEqual(processesMentioning(paths.home), []);
        // It has our chain id, genesis and port, but it is not the process in the pid file.
        const foreign = spawn(
          await findAnvil(),
          ['--port', port, '--chain-id', String(chain.chainId), '--init', paths.genesisFile, '--quiet'],
          { stdio: 'ignore' },
        );
        t.after(() => killed(foreign));
        await waitUntil(() => ask(`http://127.0.0.1:${port}`, 'eth_chainId').catch(() => null));
        await writeFile(paths.pidFile, record);

        const again = await fixture.start();
        assert.notEqual(new URL(again.rpcUrl() ?? '').port, port);
        assert.deepEqual(await hashesAt(again), await journalled(fixture));
        assert.equal(foreign.exitCode ?? foreign.signalCode, null);
        await again.stop();
        assert.equal(foreign.exitCode ?? foreign.signalCode, null);
      },
    );

    await t.test(
      'finds and kills a chain node whose starter was killed before it noted the pid',
      async () => {
        const child = await fixture.startElsewhere(0, 'run');
        const pid = await waitUntil(() => nodePid(fixture).catch(() => null));
        await killed(child);
        const record = JSON.parse(await readFile(paths.pidFile, 'utf8'));
        const { port, chainId, program, keeper } = record;
        await writeFile(paths.pidFile, JSON.stringify({ pid: 0, port, chainId, program, keeper }));
        const next = await fixture.start();
        assert.notEqual(await nodePid(fixture), pid);
        await next.stop();
        assert.deepEqual(processesMentioning(`--chain-id ${chainId} --port ${port}`), []);
      },
    );
  });

  test('discards a block that was mined but not committed, and mines its transactions again', async (t) => {
    const fixture = await openFixture(t);
    const child = await fixture.startElsewhere(2, 'run');
    await waitUntil(async () => (await fixture.allBlocks()).length === 5);
    const before = await journalled(fixture);
    const orphan = await nodePid(fixture);
    const { rpcUrl, chainId } =
      (await findEmbeddedChain(fixture.database.db, fixture.dataDir)) ?? assert.fail();
    const raw = await transfer(chainId, 2);
    const held = await blockJournal(fixture.database);
    await ask(rpcUrl, 'eth_sendRawTransaction', raw);
    await held.untilWaiting();
    assert.equal(await ask<Hex>(rpcUrl, 'eth_blockNumber'), numberToHex(before.length));
    await killed(child);
    await held.failWaiting();
    await held.undo();
    assert.deepEqual(await journalled(fixture), before);

    const chain = await fixture.start();
    assert.notEqual(await nodePid(fixture), orphan);
    assert.deepEqual(await hashesAt(chain), before);
    const block = await chain.mine([raw]);
    assert.deepEqual([block.number, block.transactions], [before.length, [raw]]);

    await t.test('repeats the commit before it mines anything else while the service runs', async () => {
      const held = await blockJournal(fixture.database);
      const next = await transfer(chainId, 3);
      const outcome = chain.mine([next]).then(
        () => null,
        (error: unknown) => error,
      );
      await held.untilWaiting();
      await held.failWaiting();
      assert.ok((await outcome) instanceof Error);
      assert.equal(chain.head().hash, block.hash);
      await held.undo();
      const after = await chain.mine([]);
      assert.equal(after.number, block.number + 2);
      assert.deepEqual((await fixture.journal.block(block.number + 1))?.transactions, [next]);
      assert.deepEqual(await hashesAt(chain), await journalled(fixture));
    });

    await t.test('reports a transaction that the chain refuses, and mines nothing', async () => {
      const head = chain.head();
      await assert.rejects(chain.mine([raw.replace(/..$/, '00') as Hex]), (error) => !isRetryable(error));
      assert.deepEqual(chain.head(), head);
      // A transaction that is already in a block is no error.
      assert.deepEqual((await chain.mine([raw])).transactions, []);
    });
  });

  test('quotes the output of an anvil that does not start', async (t) => {
    const fixture = await openFixture(t);
    await fixture.journal.birth(() => ({ chainId: 1_234_567_890, genesis: 'no genesis' }));
    await assert.rejects(fixture.start(), (error: unknown) => {
      assert.ok(error instanceof OperatorError, String(error));
      assert.match(error.message, /anvil did not start: exit \d\n.*genesis/s);
      return true;
    });
    assert.equal(await fixture.journal.head(), null);
  });
});

async function journalled(fixture: Fixture): Promise<Hex[]> {
  return (await fixture.allBlocks()).map(({ hash }) => hash);
}

/** Runs `disturb`, and waits until the node was replaced by one rebuilt from the journal. */
async function madeAgainAfter(fixture: Fixture, disturb: () => Promise<unknown>): Promise<void> {
  const before = fixture.logged.length;
  await disturb();
  const isStart = ({ message }: { message: string }) => message === 'embedded chain started';
  await waitUntil(() => fixture.logged.slice(before).some(isStart));
}

/** Mines one transfer per block, and runs a loop step after each, because the loop makes the dumps. */
async function mineWithLoop(chain: EmbeddedChain, from: number, to: number): Promise<void> {
  for (let nonce = from; nonce < to; nonce += 1) {
    await chain.mine([await transfer(chain.chainId, nonce)]);
    const stop = new AbortController();
    await chain.loop.run(stop.signal, () => stop.abort());
  }
}
