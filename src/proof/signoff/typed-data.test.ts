/** The digest of typed data, against viem. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashTypedData } from 'viem';
import { es256 } from '../../../test/support/vectors/passkey-assertions.ts';
import { byKey, release, unsigned } from '../../../test/support/vectors/signoff-made.ts';
import { registrationOf } from '../../../test/support/vectors/statements-made.ts';
import { toHex } from '../hex.ts';
import { sealDomain } from '../seal.ts';
import { registrationTypedData } from './passkey-document.ts';
import { signoffTypedData } from './signoff-message.ts';
import { type TypedData, typedDataDigest } from './typed-data.ts';

const expected = (typedData: TypedData) => hashTypedData({ domain: sealDomain, ...typedData } as never);

test('the digest of a sign-off is that of another implementation, with and without what it may lack', async () => {
  const { release: _, ...unreleased } = unsigned;
  for (const change of [
    unsigned,
    { ...unsigned, release: { ...release, organisation: null } },
    { ...unreleased, role: 'performed', licence: null },
  ]) {
    const typedData = signoffTypedData(await byKey(change));
    assert.equal(toHex(typedDataDigest(typedData)), expected(typedData));
  }
});

test('the digest of a registration is that of another implementation', async () => {
  const typedData = registrationTypedData(await registrationOf(es256, { change: { invitedWith: 'key_1' } }));
  assert.equal(toHex(typedDataDigest(typedData)), expected(typedData));
});

test('a type that is not known is a mistake, and not another digest', () => {
  const typedData = {
    types: { One: [{ name: 'two', type: 'uint8' }] },
    primaryType: 'One',
    message: { two: 2 },
  };
  assert.throws(() => typedDataDigest(typedData), /uint8 is not known/);
  assert.throws(() => typedDataDigest({ ...typedData, primaryType: 'Two' }), /no type Two/);
});
