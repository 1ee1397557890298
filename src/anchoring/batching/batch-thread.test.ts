/**
 * The thread that builds batches: it builds the same trees as this thread and the same signatures as viem, without loading
 * the main thread.
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { type Hex, hashTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sealBatch } from '../../../test/support/fixtures/sealed-batch.ts';
import { threadCpuMs } from '../../../test/support/service/cpu-time.ts';
import { evidenceLeaf, headId } from '../../proof/head.ts';
import { fromHex, toHex, zeroHash } from '../../proof/hex.ts';
import { loadKeccak } from '../../proof/keccak.ts';
import { buildTree, foldPath } from '../../proof/merkle.ts';
import { sealDigest, sealId, sealTypedData } from '../../proof/seal.ts';
import { createBatchThread } from './batch-thread.ts';

const thread = createBatchThread();
after(() => thread.close());

interface Vault {
  key: Hex;
  address: Hex;
  sequence: bigint;
  previousSeal: Hex;
  leaves: number;
}

function newVault(leaves: number, sequence = 1n): Vault {
  const key = generatePrivateKey();
  const address = privateKeyToAccount(key).address.toLowerCase() as Hex;
  return {
    key,
    address,
    sequence,
    previousSeal: sequence === 1n ? zeroHash : toHex(randomBytes(32)),
    leaves,
  };
}

function orderOf(vaults: Vault[]) {
  const size = vaults.reduce((sum, { leaves }) => sum + leaves, 0);
  return {
    vaults: vaults.map(({ key: _key, ...vault }) => vault),
    leaves: new Uint8Array(randomBytes(size * 32)),
    privateKeys: new Uint8Array(Buffer.concat(vaults.map(({ key }) => fromHex(key)))),
    evidence: new Uint8Array(),
  };
}

test('returns the roots of a batch built on the main thread, and the seals that viem signs', async () => {
  const vaults = [newVault(1), newVault(5, 7n), newVault(64, 2n ** 64n - 1n), newVault(3, 2n)];
  const order = orderOf(vaults);
  const leaves = order.leaves.slice();
  const keccak = await loadKeccak();
  let start = 0;
  const expected = await sealBatch(
    vaults.map(({ leaves: count, ...vault }) => {
      start += count;
      return { ...vault, leaves: leaves.subarray((start - count) * 32, start * 32) };
    }),
  );

  const built = await thread.build(order);
  assert.ok('root' in built);
  assert.equal(order.privateKeys.length, 0);
  assert.equal(toHex(built.root), toHex(expected.root));
  let at = 0;
  for (const [place, { subtreeRoot, leaves: count, ...sealed }] of expected.subtrees.entries()) {
    const { key, address, sequence, previousSeal } = vaults[place] as Vault;
    assert.equal(toHex(built.roots.subarray(place * 32, (place + 1) * 32)), subtreeRoot);
    const fields = { vault: address, subtreeRoot, leaves: count, sequence, previousSeal };
    assert.equal(hashTypedData(sealTypedData(fields)), toHex(sealDigest(fields)));
    assert.equal(
      toHex(built.signatures.subarray(place * 65, (place + 1) * 65)),
      await privateKeyToAccount(key).signTypedData(sealTypedData(fields)),
    );
    const id = built.sealIds.subarray(place * 32, (place + 1) * 32);
    assert.equal(toHex(id), toHex(sealId(fields, sealed.signature)));
    const upper = built.upperPaths.subarray(at, at + (built.upperLengths[place] ?? 0) * 32);
    at += upper.length;
    assert.deepEqual(upper, sealed.upperPath);
    const path = Buffer.concat([id, upper]);
    assert.equal(toHex(foldPath(fromHex(subtreeRoot), path, keccak)), toHex(built.root));
  }
  assert.equal(at, built.upperPaths.length);
  assert.equal(toHex(built.evidenceRoot), zeroHash);
});

test('the head of the batch covers the evidence, and its path leads to the root', async () => {
  const evidence = new Uint8Array(Buffer.concat([1, 2, 3].map(() => evidenceLeaf(randomBytes(32)))));
  const { root: evidenceRoot } = buildTree(evidence, await loadKeccak());
  const built = await thread.build({ ...orderOf([newVault(2), newVault(1)]), evidence });
  assert.ok('root' in built);
  assert.equal(toHex(built.evidenceRoot), toHex(evidenceRoot));
  const head = headId({ evidenceRoot: toHex(evidenceRoot), logHead: zeroHash });
  assert.equal(toHex(foldPath(head, built.headPath, await loadKeccak())), toHex(built.root));
});

test('names each key that does not match its address, and builds nothing', async () => {
  const vaults = [newVault(2), newVault(2), newVault(2), newVault(2)];
  const order = orderOf(vaults);
  order.privateKeys.fill(0, 32, 64);
  order.privateKeys.set(randomBytes(32), 96);
  assert.deepEqual(await thread.build(order), { unfit: [1, 3] });
});

test('the path of a leaf leads to the root of its subtree', async () => {
  const leaves = new Uint8Array(randomBytes(37 * 32));
  const keccak = await loadKeccak();
  const { root } = buildTree(leaves, keccak);
  for (const leaf of [0, 11, 36]) {
    const path = await thread.path({ leaves, leaf });
    assert.deepEqual(foldPath(leaves.subarray(leaf * 32, (leaf + 1) * 32), path, keccak), root);
  }
  await assert.rejects(thread.path({ leaves, leaf: 37 }), /no leaf 37/);
});

test('a failed order does not affect the next one, even after the thread was closed', async () => {
  const own = createBatchThread();
  const bad = orderOf([newVault(1)]);
  await assert.rejects(own.build({ ...bad, leaves: new Uint8Array(31) }), /whole leaves/);
  assert.deepEqual(await own.path({ leaves: new Uint8Array(32), leaf: 0 }), new Uint8Array());
  const cut = own.path({ leaves: new Uint8Array(64), leaf: 0 });
  await Promise.all([assert.rejects(cut, /was closed/), own.close()]);
  assert.equal((await own.path({ leaves: new Uint8Array(64), leaf: 0 })).length, 32);
  await own.close();
});

test('100,000 leaves do not block the main thread', async () => {
  const order = orderOf(Array.from({ length: 100 }, () => newVault(1000)));
  // CPU time per thread, which other processes do not affect.
  const [mine, all] = [threadCpuMs(), process.cpuUsage()];
  const built = await thread.build(order);
  const mineMs = threadCpuMs() - mine;
  const { user, system } = process.cpuUsage(all);
  const allMs = (user + system) / 1_000;
  assert.ok('root' in built);
  assert.ok(mineMs < allMs / 5, `${mineMs} ms of ${allMs} ms were the main thread's`);
});

test('the thread ends when it has nothing to do, and starts again with the next order', async () => {
  const started: Worker[] = [];
  const onWorker = (worker: Worker) => started.push(worker);
  process.on('worker', onWorker);
  const resting = createBatchThread({ restMs: 1 });
  try {
    const answers = [];
    for (let round = 0; round < 2; round += 1) {
      answers.push(await resting.build(orderOf([newVault(2)])));
      await once(started[round] as Worker, 'exit');
    }
    assert.deepEqual(
      answers.map(({ unfit }) => unfit),
      [[], []],
    );
    assert.equal(started.length, 2);
  } finally {
    await resting.close();
    process.off('worker', onWorker);
  }
});
