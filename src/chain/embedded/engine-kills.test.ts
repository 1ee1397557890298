/** The engine is killed at any moment: the next answer comes, and nothing is lost. */
// tier: process
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, keccak256, numberToHex } from 'viem';
import { isEngine } from '../../../test/support/chain/engine-process.ts';
import {
  ask,
  hashesAt,
  journalled,
  keepMining,
  openFixture,
  owner,
  transfer,
} from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import type { EmbeddedChain } from './embedded-chain.ts';

/** Also returns if there is none at the moment. */
function killEngine(chain: EmbeddedChain): void {
  const pid = chain.enginePid();
  if (pid !== null && isEngine(pid)) process.kill(pid, 'SIGKILL');
}

describe('a kill -9 of the engine', { concurrency: 2 }, () => {
  test('at rest leaves the same 50 blocks, and the next answer comes', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    const raws: Hex[] = [];
    for (let nonce = 0; nonce < 50; nonce += 1) {
      const raw = await transfer(chain.chainId, nonce);
      const block = await chain.mine(raw);
      assert.deepEqual((await fixture.journal.block(block.number))?.transactions, [raw]);
      raws.push(raw);
    }
    const before = await hashesAt(chain);
    assert.equal(before.length, 51);
    assert.deepEqual(before, await journalled(fixture));

    const lost = chain.enginePid();
    killEngine(chain);
    await waitUntil(() => fixture.logged.some(({ message }) => /engine .* was lost/.test(message)));
    const began = performance.now();
    assert.equal(
      await chain.call('eth_getTransactionCount', [owner.address, 'latest']),
      numberToHex(raws.length),
    );
    t.diagnostic(`the next answer came after ${Math.round(performance.now() - began)} ms`);
    assert.ok(chain.enginePid() !== null && chain.enginePid() !== lost);
    assert.deepEqual(await hashesAt(chain), before);
    const receipt = await chain.call('eth_getTransactionReceipt', [keccak256(raws[20] ?? '0x')]);
    assert.equal((receipt as { blockHash: Hex }).blockHash, before[21]);
    assert.equal((await chain.mine(await transfer(chain.chainId, 50))).number, 51);
  });

  test('while blocks are built and calls are answered loses no transaction and no answer', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    keepMining(t, chain);
    const count = 24;
    const address = owner.address;
    const sent: Hex[] = [];
    for (let nonce = 0; nonce < count; nonce += 1) {
      const raw = await transfer(chain.chainId, nonce);
      sent.push(raw);
      const first = chain.call('eth_sendRawTransaction', [raw]).catch(() => {});
      const read = ask(chain.gatewayUrl, 'eth_getBalance', address, 'latest').catch(() => {});
      if (nonce % 2 === 0) {
        // Sooner and later: while it is checked, while its block is built, and after that.
        await sleep((nonce * 7) % 60);
        killEngine(chain);
      }
      await Promise.all([first, read]);
      // As the service's own sender does: it sends again what no block has.
      await waitUntil(async () => {
        const receipt = await chain.call('eth_getTransactionReceipt', [keccak256(raw)]).catch(() => null);
        if (receipt !== null) return true;
        await chain.call('eth_sendRawTransaction', [raw]).catch(() => {});
        return false;
      });
    }
    const blocks = await fixture.allBlocks();
    assert.deepEqual(
      blocks.flatMap(({ transactions }) => transactions),
      sent,
    );
    assert.deepEqual(await hashesAt(chain), await journalled(fixture));
    assert.equal(await chain.call('eth_getTransactionCount', [address, 'latest']), numberToHex(count));
    assert.ok(!fixture.logged.some(({ message }) => message.includes('lost twice')));
  });

  test('while a costly block is built costs only that attempt, also for whoever waits beside it', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    // Counts until its gas is used up, which takes a while.
    const raw = await owner.signTransaction({
      type: 'eip1559',
      chainId: chain.chainId,
      nonce: 0,
      data: '0x5b5f565b',
      gas: 4_000_000n,
      maxFeePerGas: 2_000_000_000n,
      maxPriorityFeePerGas: 1n,
    });
    const outcome = chain.mine(raw).then(
      () => null,
      (error: unknown) => error,
    );
    await sleep(20);
    const waiting = chain.call('eth_getBalance', [owner.address, 'latest']);
    killEngine(chain);
    assert.ok(BigInt((await waiting) as Hex) > 0n);
    // Whether the kill came during the check, during the build or before either: the block exists or it does not.
    const failure = await outcome;
    const blocks = await fixture.allBlocks();
    assert.deepEqual(
      blocks.slice(1).map(({ transactions }) => transactions),
      failure === null ? [[raw]] : [],
    );
    assert.equal(chain.head().number, blocks.length - 1);
    await waitUntil(async () => {
      await chain.mine(raw).catch(() => {});
      await chain.mine(await transfer(chain.chainId, 1)).catch(() => {});
      return (await chain.call('eth_getTransactionCount', [owner.address, 'latest'])) === '0x2';
    });
    assert.deepEqual(await hashesAt(chain), await journalled(fixture));
  });

  test('does not let a transaction that no block can take hold up the others', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    // It waits for a nonce that nobody sends.
    await ask(chain.gatewayUrl, 'eth_sendRawTransaction', await transfer(chain.chainId, 5));
    const raw = await transfer(chain.chainId, 0);
    const mining = chain.mine(raw).catch(() => null);
    const engine = chain.enginePid() ?? assert.fail();
    await sleep(5);
    process.kill(engine, 'SIGKILL');
    await mining;
    keepMining(t, chain);
    await waitUntil(async () => {
      await chain.call('eth_sendRawTransaction', [raw]).catch(() => {});
      return chain.call('eth_getTransactionReceipt', [keccak256(raw)]).catch(() => null);
    });
  });
});
