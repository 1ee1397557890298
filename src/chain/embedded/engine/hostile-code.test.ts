/** Whoever may send a call or a transaction can run any code: it ends, and the engine lives on within its memory. */
// tier: process
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { signCode, startEngine } from '../../../../test/support/fixtures/engine-fixture.ts';

/** Pushes the arguments of a STATICCALL with all gas: in at 0, out at 0. */
function staticCall(address: string, inputBytes: number): string {
  return `60005f61${inputBytes.toString(16).padStart(4, '0')}5f73${address.padStart(40, '0')}5afa`;
}

/** Repeats the code until the gas is used up. */
function forever(code: string): Hex {
  return `0x5b${code}5f56`;
}

const hostile: Record<string, Hex> = {
  'an endless loop': '0x5b5f56',
  'a loop over hashes of 8 KB': forever('6120005f2050'),
  'a loop over powers': forever('7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff800a50'),
  'memory of 2 GB': '0x637fffffff51',
  'all the memory that its gas pays for': '0x5b5959526000565b',
  'a modular power with a long exponent': `0x60016000526316e36060205260016040526001606053${staticCall('05', 0x61)}00`,
  'a modular power of numbers with 1,024 bytes': `0x610400600052610400602052610400604052600160605360ff61045f5360ff61085f53${staticCall('05', 0xc60)}00`,
  'a point evaluation of blobs': `0x${staticCall('0a', 192)}5f5260205ff3`,
  'a loop over pairings': forever(`${staticCall('08', 0xc0)}50`),
  'a loop over points of BLS12-381': forever(`${staticCall('11', 0x80)}50`),
  'a loop over recovered signers': forever(
    `60016000526001601f5260016040526001606052${staticCall('01', 0x80)}50`,
  ),
  'a loop over new contracts': forever('5f5f5ff050'),
  'a loop over empty accounts': forever('5a3150'),
  'a loop over slots': forever('5a5450'),
  'a loop that writes slots': forever('5a5a55'),
  'a loop over logs': forever('6110005fa0'),
  'a loop over block hashes': forever('600143034050'),
  'calls of itself, one in the other': '0x365f5f37365f5ff0',
  'an answer of a megabyte': '0x62100000 5ff3'.replace(' ', '') as Hex,
};

/** Where that is no surprise: the calls that take longest. */
function tookTooLong(error: Error): null {
  assert.equal(error.message, 'execution took too long');
  return null;
}

test('hostile code ends, as a call and in a block, and the engine lives on within its memory', async (t) => {
  const { engine, head, build, losses } = await startEngine(t);
  const pid = engine.pid();
  let nonce = 0;
  for (const [name, data] of Object.entries(hostile)) {
    await t.test(name, async () => {
      const call = await engine.ask('call', { at: head(), call: { data } }).catch(tookTooLong);
      if (call) assert.ok(call.gasUsed <= 4_000_000, `${call.gasUsed} gas`);
      const { block, dropped } = await build([await signCode(data, nonce)]);
      // Which of both depends on the machine; never that the engine is lost.
      assert.equal(block.transactions.length + dropped.length, 1);
      nonce += block.transactions.length;
    });
  }
  assert.deepEqual(losses, []);
  assert.equal(engine.pid(), pid);
  if (process.platform === 'linux') {
    const peak = Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    assert.ok(peak < 300, `${peak} MB`);
  }
});

test('a block with costly transactions ends early, and the rest goes into the next one', async (t) => {
  const { build } = await startEngine(t);
  const raws = await Promise.all(Array.from({ length: 7 }, (_, nonce) => signCode('0x5b5f56', nonce)));
  const mined: Hex[] = [];
  for (let blocks = 0; blocks < 7 && mined.length < raws.length; blocks += 1) {
    const { block, dropped } = await build(raws.slice(mined.length));
    assert.deepEqual(dropped, []);
    assert.ok(block.transactions.length > 0);
    mined.push(...block.transactions.map(({ raw }) => raw));
  }
  assert.deepEqual(mined, raws);
});

test('a transaction that takes too long is dropped, and the others are mined', async (t) => {
  const { build } = await startEngine(t);
  const slow = await signCode(hostile['a loop over points of BLS12-381'] as Hex, 1, 25_000_000n);
  const { block, dropped } = await build([await signCode('0x00', 0), slow]);
  assert.deepEqual(
    dropped.map(({ reason }) => reason),
    ['execution took too long'],
  );
  assert.equal(block.transactions.length, 1);
});
