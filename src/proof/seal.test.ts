/** The digest and the signature of a seal, against viem. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  encodeAbiParameters,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  recoverTypedDataAddress,
  stringToHex,
} from 'viem/utils';
import { fixed } from '../../test/support/fixtures/proof-fixture.ts';
import { readVector } from '../../test/support/fixtures/vectors.ts';
import { fc } from '../../test/support/service/properties.ts';
import { fromHex, toHex } from './hex.ts';
import {
  recoverSigner,
  type SealFields,
  sealDigest,
  sealId,
  sealTypedData,
  signatureFault,
  signatureOf,
  signSeal,
} from './seal.ts';

const key = fixed(0x44);
const account = privateKeyToAccount(key);
const fields: SealFields = {
  vault: account.address,
  subtreeRoot: fixed(0x07),
  leaves: 3,
  sequence: 9n,
  previousSeal: fixed(0x08),
};

const anyFields: fc.Arbitrary<SealFields> = fc.record({
  vault: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex),
  subtreeRoot: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex),
  leaves: fc.nat(2 ** 32 - 1),
  sequence: fc.bigInt(0n, 2n ** 64n - 1n),
  previousSeal: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex),
});

test("the digest matches viem's for the typed data", () => {
  fc.assert(
    fc.property(anyFields, (fields) =>
      assert.equal(toHex(sealDigest(fields)), hashTypedData(sealTypedData(fields))),
    ),
  );
});

test('the id is the hash of the Solidity encoding, hashed once more, with the hash of the signature', () => {
  const types = parseAbiParameters('bytes32, bytes32, address, uint32, uint64, bytes32, bytes32');
  const anySignature = fc.uint8Array({ minLength: 65, maxLength: 65 }).map(toHex);
  fc.assert(
    fc.property(anyFields, anySignature, (fields, signature) => {
      const encoded = encodeAbiParameters(types, [
        keccak256(stringToHex('holdfast/seal@1')),
        fields.subtreeRoot,
        fields.vault as Hex,
        fields.leaves,
        BigInt(fields.sequence),
        fields.previousSeal,
        keccak256(signature),
      ]);
      assert.equal(toHex(sealId(fields, signature)), keccak256(keccak256(encoded)));
    }),
  );
});

test('refuses numbers that do not fit their types, instead of truncating them', () => {
  assert.throws(() => sealDigest({ ...fields, leaves: 2 ** 32 }), /do not fit/);
  assert.throws(() => sealDigest({ ...fields, leaves: 1.5 }), /do not fit/);
  assert.throws(() => sealDigest({ ...fields, sequence: 2n ** 64n }), /do not fit/);
  assert.throws(() => sealDigest({ ...fields, sequence: -1n }), /do not fit/);
  assert.throws(() => sealDigest({ ...fields, vault: '0x00' }), /an address/);
});

test('a signature by typed data or by digest recovers to its vault', async () => {
  const signature = await signSeal(fields, (typedData) => account.signTypedData(typedData));
  const { secp256k1 } = await import('@bitauth/libauth');
  const signed = secp256k1.signMessageHashRecoverableCompact(fromHex(key), sealDigest(fields));
  assert.ok(typeof signed !== 'string');
  assert.equal(signatureOf(signed.signature, signed.recoveryId), signature);
  assert.equal(signatureFault(signature), null);
  assert.equal(await recoverSigner(fields, signature), account.address.toLowerCase());
  assert.notEqual(
    await recoverSigner({ ...fields, sequence: 10n }, signature),
    account.address.toLowerCase(),
  );
  assert.equal(await recoverSigner(fields, `0x${'00'.repeat(64)}1b`), null);
});

test('the twin of a signature recovers to the same vault, and only its high s reveals it', async () => {
  const { seal } = readVector('file-raw').proof;
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = order - BigInt(`0x${seal.signature.slice(66, 130)}`);
  const v = seal.signature.endsWith('1b') ? '1c' : '1b';
  const twin: Hex = `0x${seal.signature.slice(2, 66)}${s.toString(16).padStart(64, '0')}${v}`;
  const typedData = sealTypedData(seal);
  const recovered = await recoverTypedDataAddress({ ...typedData, signature: twin });
  assert.equal(recovered.toLowerCase(), seal.vault);
  assert.match(signatureFault(twin) ?? '', /upper half/);
});

test('the highest s that counts as low is half of the order', () => {
  const half = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
  const withS = (s: bigint): Hex => `0x${'11'.repeat(32)}${s.toString(16).padStart(64, '0')}1b`;
  assert.equal(signatureFault(withS(half)), null);
  assert.match(signatureFault(withS(half + 1n)) ?? '', /upper half/);
});

test('refuses a signer with an unusable signature before the batch is made', async () => {
  const signature = await account.signTypedData(sealTypedData(fields));
  const eip2098 = `${signature.slice(0, 130)}00` as Hex;
  await assert.rejects(
    signSeal(fields, async () => eip2098),
    /v is 0/,
  );
  assert.equal(
    await signSeal(fields, async () => signature.toUpperCase().replace('0X', '0x') as Hex),
    signature,
  );
});
