/** The engine is killed at any moment: the next answer comes, and nothing is lost. */
// tier: process
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Hex, keccak256, numberToHex } from 'viem';
import { isEngine } from '../../../test/support/chain/engine-process.ts';
import {
  ask,
  type Fixture,
  hashesAt,
  journalled,
  keepMining,
  openFixture,
  owner,
  transfer,
} from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import type { EmbeddedChain } from './embedded-chain.ts';

/** Fails unless there is one. */
async function killEngine(chain: EmbeddedChain): Promise<void> {
  process.kill(await livingEngine(chain), 'SIGKILL');
}

/** After a loss, the next one is there in a moment. */
function livingEngine(chain: EmbeddedChain): Promise<number> {
  return waitUntil(() => {
    const pid = chain.enginePid();
    return pid !== null && isEngine(pid) && pid;
  });
}

function lossesOf({ logged }: Fixture): number {
  return logged.filter(({ message }) => /engine .* was lost; starting another/.test(message)).length;
}

/** Counts until its gas is used up, which takes a tenth of a second. */
function costly(chain: EmbeddedChain, nonce: number): Promise<Hex> {
  return owner.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    data: '0x5b5f565b',
    gas: 4_000_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1n,
  });
}

/** Waits until the pool has the transaction: a call of `mine` then has its block built. */
async function untilPooled(chain: EmbeddedChain, raw: Hex): Promise<void> {
  await waitUntil(() => chain.call('eth_getTransactionByHash', [keccak256(raw)]));
}

/** For what the engine was doing when it was killed: nothing else may go wrong. */
function lost(error: Error): null {
  assert.match(error.message, /the engine of the embedded chain was lost: exit SIGKILL/);
  return null;
}

/** Asks again if it was this that was lost: the next engine answers. */
async function answered(ask: () => Promise<unknown>): Promise<void> {
  if ((await ask().catch(lost)) === null) await ask();
}

const receiptOf = (chain: EmbeddedChain, raw: Hex) =>
  chain.call('eth_getTransactionReceipt', [keccak256(raw)]);

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
    await killEngine(chain);
    await waitUntil(() => lossesOf(fixture) === 1);
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

  test('while a transaction is checked fails that call alone, and answers what waits beside it', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    const raw = await transfer(chain.chainId, 0);
    process.kill(await livingEngine(chain), 'SIGSTOP');
    const sending = assert.rejects(chain.call('eth_sendRawTransaction', [raw]), /was lost: exit SIGKILL/);
    const reading = ask<Hex>(chain.gatewayUrl, 'eth_getBalance', owner.address, 'latest');
    await killEngine(chain);
    await sending;
    assert.ok(BigInt(await reading) > 0n);
    assert.equal(lossesOf(fixture), 1);
    assert.equal((await chain.mine(raw)).number, 1);
  });

  test('while blocks are built and calls are answered loses no transaction and no answer', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    keepMining(t, chain);
    const count = 24;
    const address = owner.address;
    const sent: Hex[] = [];
    /** What has happened to the transaction when the engine is killed. */
    const moments: ((raw: Hex) => unknown)[] = [
      () => {},
      (raw) => untilPooled(chain, raw),
      (raw) => waitUntil(() => receiptOf(chain, raw)),
    ];
    for (let nonce = 0; nonce < count; nonce += 1) {
      const raw = await transfer(chain.chainId, nonce);
      sent.push(raw);
      const asked = [
        () => chain.call('eth_sendRawTransaction', [raw]),
        () => ask(chain.gatewayUrl, 'eth_getBalance', address, 'latest'),
      ].map((ask) => answered(ask));
      if (nonce % 2 === 0) {
        await moments[(nonce / 2) % moments.length]?.(raw);
        await killEngine(chain);
        await waitUntil(() => lossesOf(fixture) === nonce / 2 + 1);
      }
      await Promise.all(asked);
      // As the service's own sender does: it sends again what no block has.
      await waitUntil(async () => {
        if (await receiptOf(chain, raw).catch(lost)) return true;
        await chain.call('eth_sendRawTransaction', [raw]).catch((error) => {
          // The pool has it, or a block since just now.
          if (!/already known|nonce too low/.test(error.message)) lost(error);
        });
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
    // They wait for the first one, and are in its block.
    const others = [await costly(chain, 1), await costly(chain, 2), await costly(chain, 3)];
    for (const raw of others) await chain.call('eth_sendRawTransaction', [raw]);
    const raw = await costly(chain, 0);
    const mining = assert.rejects(chain.mine(raw), /was lost: exit SIGKILL/);
    await untilPooled(chain, raw);
    const waiting = chain.call('eth_getBalance', [owner.address, 'latest']);
    await killEngine(chain);
    await mining;
    assert.ok(BigInt((await waiting) as Hex) > 0n);
    assert.equal(lossesOf(fixture), 1);
    assert.equal((await fixture.allBlocks()).length, 1, 'there is no block but the first');
    assert.equal(chain.head().number, 0);
    // All of them are still there.
    const last = await transfer(chain.chainId, 4);
    await chain.mine(last);
    assert.deepEqual(
      (await fixture.allBlocks()).flatMap(({ transactions }) => transactions),
      [raw, ...others, last],
    );
    assert.deepEqual(await hashesAt(chain), await journalled(fixture));
  });

  test('does not let a transaction that no block can take hold up the others', async (t) => {
    const fixture = await openFixture(t);
    const chain = await fixture.start();
    // It waits for a nonce that nobody sends.
    await ask(chain.gatewayUrl, 'eth_sendRawTransaction', await transfer(chain.chainId, 5));
    const raw = await costly(chain, 0);
    const mining = assert.rejects(chain.mine(raw), /was lost: exit SIGKILL/);
    await untilPooled(chain, raw);
    await killEngine(chain);
    await mining;
    // Both were in the block that was being built, and are tried one by one now; then what comes later has its turn.
    keepMining(t, chain);
    await waitUntil(() => receiptOf(chain, raw).catch(lost));
    const later = await transfer(chain.chainId, 1);
    await chain.call('eth_sendRawTransaction', [later]);
    await waitUntil(() => receiptOf(chain, later));
  });
});
