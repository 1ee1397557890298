/** Key pairs made in advance, and the thread that makes them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { privateKeyToAddress } from 'viem/accounts';
import { createKeyPairs } from './key-pairs.ts';

test('the thread ends when it has nothing to do, and starts again when the stock runs low', async () => {
  const started: Worker[] = [];
  const onWorker = (worker: Worker) => started.push(worker);
  process.on('worker', onWorker);
  const pairs = createKeyPairs({ restMs: 1 });
  try {
    const addresses = new Set<string>();
    const takeOne = async () => {
      const { privateKey, address } = await pairs.take();
      assert.equal(privateKeyToAddress(`0x${privateKey.toString('hex')}`), address);
      addresses.add(address);
    };
    await takeOne();
    const [first] = started;
    assert.ok(first);
    await once(first, 'exit');
    for (let taken = 1; taken < 400; taken += 1) await takeOne();
    assert.equal(addresses.size, 400, 'no pair was given twice');
    assert.ok(started.length > 1, 'a second thread went on');
  } finally {
    await pairs.close();
    process.off('worker', onWorker);
  }
});
