/** The pool of the embedded chain: what it refuses, what it replaces and forgets, and in which order a block tries it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hex, numberToHex } from 'viem';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import { mostGas } from './engine/header-fields.ts';
import type { CheckedTransaction } from './engine/protocol.ts';
import { createPool } from './pool.ts';

const baseFeeWei = 1_000n;
const head = {
  number: 0,
  hash: numberToHex(1, { size: 32 }),
  timestampSeconds: 1,
  gasUsed: 0,
  baseFeeWei,
  stateRoot: numberToHex(2, { size: 32 }),
};

interface Given extends Partial<CheckedTransaction> {
  sender?: number;
  bytes?: number;
}

/** A pool whose transactions are whatever the test says. */
function openPool() {
  const checked = new Map<Hex, CheckedTransaction>();
  let clock = 0;
  let added = 0;
  const pool = createPool({
    head: () => head,
    async check(raw) {
      return checked.get(raw) ?? assert.fail();
    },
    onAdded: () => (added += 1),
    now: () => clock,
  });

  let made = 0;
  function make({ sender = 1, bytes = 100, ...given }: Given): Hex {
    made += 1;
    const raw = numberToHex(made, { size: bytes });
    checked.set(raw, {
      hash: hashOf(raw),
      from: addressOf(sender),
      nonce: 0,
      gasLimit: 21_000,
      maxFeeWei: 2_000n,
      priorityFeeWei: 10n,
      costWei: 1n,
      account: { nonce: 0, balanceWei: 1_000_000n },
      ...given,
    });
    return raw;
  }

  return {
    pool,
    make,
    wait: (ms: number) => (clock += ms),
    added: () => added,
    /** Returns the raw transaction that was added. */
    async add(given: Given, options?: { own: boolean }): Promise<Hex> {
      const raw = make(given);
      assert.equal(await pool.add(raw, options), hashOf(raw));
      return raw;
    },
    async refuses(given: Given, message: RegExp, options?: { own: boolean }): Promise<void> {
      const size = pool.size();
      await assert.rejects(pool.add(make(given), options), (error) => {
        const fault = rpcFaultOf(error);
        assert.deepEqual([fault?.kind, fault?.code], ['refused', -32003]);
        assert.match(fault?.message ?? '', message);
        return true;
      });
      assert.equal(pool.size(), size);
    },
  };
}

/** Any will do that differs. */
function hashOf(raw: Hex): Hex {
  return `0x${raw.slice(-64)}`;
}

function addressOf(sender: number): Hex {
  return numberToHex(sender, { size: 20 });
}

test('takes a transaction, tells of it once, and shows it until a block has it', async () => {
  const { pool, make, added } = openPool();
  const raw = make({ nonce: 0 });
  const hash = await pool.add(raw);
  assert.deepEqual([added(), pool.size()], [1, 1]);
  const found = pool.find(hash);
  assert.deepEqual([found?.raw, found?.from, found?.nonce], [raw, addressOf(1), 0]);
  await assert.rejects(pool.add(raw), /already known/);
  assert.deepEqual([added(), pool.size()], [1, 1]);
  pool.settle([hash], []);
  assert.deepEqual([pool.find(hash), pool.size(), pool.candidates()], [null, 0, []]);
});

test('refuses what no block can take, also of the service itself', async () => {
  const { refuses } = openPool();
  for (const own of [false, true]) {
    const account = { nonce: 3, balanceWei: 500n };
    await refuses({ account, nonce: 2 }, /nonce too low: next nonce 3, got 2/, { own });
    await refuses({ account, nonce: 3, costWei: 501n }, /insufficient funds/, { own });
    await refuses({ gasLimit: mostGas + 1 }, /exceeds block gas limit/, { own });
  }
});

test('refuses of others a fee below that of the next block and a nonce far ahead', async () => {
  const { refuses, add } = openPool();
  await refuses({ maxFeeWei: baseFeeWei - 1n }, /max fee per gas less than block base fee: 999 < 1000/);
  await add({ maxFeeWei: baseFeeWei });
  await refuses({ nonce: 65 }, /nonce too high/);
  await add({ nonce: 64 });
  await add({ sender: 2, nonce: 65, maxFeeWei: 1n }, { own: true });
});

test('has at most 64 transactions of one sender, and 1,024 of all, but always room for its own', async () => {
  const { add, refuses, pool } = openPool();
  for (let nonce = 0; nonce < 64; nonce += 1) await add({ nonce });
  await refuses({ nonce: 64 }, /has 64 transactions of this sender/);
  for (let sender = 2; sender <= 16; sender += 1) {
    for (let nonce = 0; nonce < 64; nonce += 1) await add({ sender, nonce });
  }
  assert.equal(pool.size(), 1_024);
  await refuses({ sender: 17 }, /txpool is full/);
  await add({ sender: 17 }, { own: true });
  await add({ nonce: 64 }, { own: true });
  assert.equal(pool.size(), 1_026);
});

test('has at most 8 MiB of others', async () => {
  const { add, refuses } = openPool();
  const bytes = 128 * 1024;
  for (let sender = 1; sender <= 63; sender += 1) await add({ sender, bytes: bytes - 1 });
  await refuses({ sender: 64, bytes: 2 * bytes }, /txpool is full/);
  await add({ sender: 64, bytes: 2 * bytes }, { own: true });
  await add({ sender: 65, bytes: bytes - 1 });
});

test('a replacement does not get around the bound on bytes', async () => {
  const { add, refuses } = openPool();
  const bytes = 128 * 1024;
  for (let sender = 1; sender <= 63; sender += 1) await add({ sender, bytes: bytes - 1 });
  const higher = { maxFeeWei: 3_000n, priorityFeeWei: 20n };
  await refuses({ sender: 1, bytes: 3 * bytes, ...higher }, /txpool is full/);
  await add({ sender: 1, bytes: bytes - 1, ...higher });
});

test('replaces a transaction by one whose fees are both a tenth higher', async () => {
  const { add, refuses, pool } = openPool();
  const first = await add({ maxFeeWei: 2_000n, priorityFeeWei: 10n });
  const underpriced = /replacement transaction underpriced/;
  await refuses({ maxFeeWei: 2_199n, priorityFeeWei: 11n }, underpriced);
  await refuses({ maxFeeWei: 2_200n, priorityFeeWei: 10n }, underpriced);
  await refuses({ maxFeeWei: 2_000n, priorityFeeWei: 11n }, underpriced, { own: true });
  const second = await add({ maxFeeWei: 2_200n, priorityFeeWei: 11n });
  assert.deepEqual(pool.candidates(), [second]);
  assert.equal(pool.find(hashOf(first)), null);
  await add({ sender: 2, maxFeeWei: 2_000n, priorityFeeWei: 0n });
  await refuses({ sender: 2, maxFeeWei: 2_200n, priorityFeeWei: 0n }, underpriced);
});

test('a full pool still takes replacements', async () => {
  const { add, pool } = openPool();
  for (let nonce = 0; nonce < 64; nonce += 1) await add({ nonce });
  await add({ nonce: 5, maxFeeWei: 3_000n, priorityFeeWei: 20n });
  assert.equal(pool.size(), 64);
});

test('forgets those of others after ten minutes, and never its own', async () => {
  const { add, pool, wait } = openPool();
  await add({ sender: 1 });
  const own = await add({ sender: 2 }, { own: true });
  wait(10 * 60_000);
  assert.equal(pool.candidates().length, 2);
  wait(1);
  assert.deepEqual(pool.candidates(), [own]);
  assert.equal(pool.size(), 1);
});

test('a block tries its own first, and the nonces of each sender in order', async () => {
  const { add, pool } = openPool();
  const other1 = await add({ sender: 1, nonce: 1 });
  const third = await add({ sender: 3, nonce: 0 });
  const own1 = await add({ sender: 2, nonce: 1 }, { own: true });
  const other0 = await add({ sender: 1, nonce: 0 });
  const own0 = await add({ sender: 2, nonce: 0 }, { own: true });
  assert.deepEqual(pool.candidates(), [own0, own1, other0, other1, third]);
});

test('a block tries no more gas than two blocks have, but at least one transaction', async () => {
  const { add, pool } = openPool();
  for (let nonce = 0; nonce < 20; nonce += 1) await add({ nonce, gasLimit: 4_000_000 });
  assert.equal(pool.candidates().length, 15);
});

test('the next nonce is that after the consecutive ones', async () => {
  const { add, pool } = openPool();
  assert.equal(pool.nextNonce(addressOf(1), 7), 7);
  for (const nonce of [7, 8, 10]) await add({ nonce, account: { nonce: 7, balanceWei: 10n } });
  assert.equal(pool.nextNonce(addressOf(1), 7), 9);
  assert.equal(pool.nextNonce(addressOf(1), 9), 9);
  assert.equal(pool.nextNonce(addressOf(2), 0), 0);
});

test('after a loss of the engine it tries each alone, and removes one with which it happens again', async () => {
  const { add, pool } = openPool();
  const good = await add({ sender: 1 }, { own: true });
  const bad = await add({ sender: 2 });
  const late = await add({ sender: 3 });
  assert.deepEqual(pool.suspect([good, bad]), []);
  assert.deepEqual(pool.candidates(), [good]);
  pool.settle([hashOf(good)], []);
  assert.deepEqual(pool.candidates(), [bad]);
  assert.deepEqual(pool.suspect([bad]), [hashOf(bad)]);
  assert.deepEqual(pool.candidates(), [late]);
});

test('a suspect that no block takes does not keep the others out for ever', async () => {
  const { add, pool } = openPool();
  const gapped = await add({ sender: 1, nonce: 5 });
  const good = await add({ sender: 2 });
  pool.suspect([gapped, good]);
  assert.deepEqual(pool.candidates(), [gapped]);
  // The engine built a block without it, and was not lost.
  pool.acquit([gapped]);
  assert.deepEqual(pool.candidates(), [good]);
  pool.acquit([good]);
  assert.deepEqual(pool.candidates(), [gapped, good]);
});
