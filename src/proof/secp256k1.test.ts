/** The recovery of signers, against the implementation of @noble/curves that viem uses. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type Hex, recoverAddress } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { fromHex, toHex } from './hex.ts';
import { addressOf } from './secp256k1.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

async function expected(hash: Hex, signature: Hex): Promise<Hex | null> {
  return recoverAddress({ hash, signature }).then(
    (address) => address.toLowerCase() as Hex,
    () => null,
  );
}

test('finds the signer, and for any other bytes what another implementation finds', async () => {
  for (let turn = 0; turn < 60; turn += 1) {
    const key = toHex(randomBytes(32));
    const hash = toHex(randomBytes(32));
    const signature = await sign({ hash, privateKey: key, to: 'hex' });
    const mine = privateKeyToAccount(key).address.toLowerCase();
    assert.equal(addressOf(fromHex(hash), fromHex(signature)), mine);
    const odd: Hex = `0x${toHex(randomBytes(64)).slice(2)}${turn % 2 === 0 ? '1b' : '1c'}`;
    assert.equal(addressOf(fromHex(hash), fromHex(odd)), await expected(hash, odd), odd);
  }
});

test('agrees at the edges: numbers that are out of range, small keys, hashes of zero and beyond the order', async () => {
  const numbers = [0n, 1n, 2n, 3n, order - 1n, order, order + 1n, 2n ** 256n - 1n];
  for (const hash of [0n, 1n, order - 1n, order, 2n ** 256n - 1n].map(word)) {
    for (const r of numbers) {
      for (const s of numbers) {
        for (const v of ['1b', '1c']) {
          const signature: Hex = `0x${word(r).slice(2)}${word(s).slice(2)}${v}`;
          assert.equal(
            addressOf(fromHex(hash), fromHex(signature)),
            await expected(hash, signature),
            signature,
          );
        }
      }
    }
    for (const key of [1n, 2n, order - 1n].map(word)) {
      const signature = await sign({ hash, privateKey: key, to: 'hex' });
      assert.equal(
        addressOf(fromHex(hash), fromHex(signature)),
        privateKeyToAccount(key).address.toLowerCase(),
      );
    }
  }
});

test('a sum at infinity is no key: s times a point minus the hash times the same point', async () => {
  const x = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n;
  const hash = word(4_711n);
  for (const v of ['1b', '1c']) {
    const signature: Hex = `0x${word(x).slice(2)}${hash.slice(2)}${v}`;
    assert.equal(addressOf(fromHex(hash), fromHex(signature)), await expected(hash, signature));
  }
  assert.equal(addressOf(fromHex(hash), fromHex(`0x${word(x).slice(2)}${hash.slice(2)}1b`)), null);
});
