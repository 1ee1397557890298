/** The hash of a leaf, against Solidity and the frozen proofs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { encodeAbiParameters, keccak256, parseAbiParameters, stringToHex } from 'viem/utils';
import { plainNames, readVector } from '../../test/support/fixtures/vectors.ts';
import { fc } from '../../test/support/service/properties.ts';
import { canonicalizations } from './content.ts';
import { toHex } from './hex.ts';
import { loadKeccak } from './keccak.ts';
import { claimsHash, encodeLeaf, type LeafFields, leafHash, leafTypes, leafValues } from './leaf.ts';

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => toHex(array));

const anyFields: fc.Arbitrary<LeafFields> = fc.record({
  kind: fc.constantFrom('file', 'record', 'transfer'),
  canonicalization: fc.constantFrom(...canonicalizations),
  digest: bytes(32),
  subject: fc.record({ workspaceId: fc.string(), id: fc.string({ unit: 'grapheme' }) }),
  version: fc.bigInt(0n, 2n ** 64n - 1n),
  previousLeaf: bytes(32),
  vault: bytes(20),
  claimsHash: bytes(32),
});

test('hashes a leaf twice over the Solidity encoding, with either Keccak', async () => {
  const keccak = await loadKeccak();
  const parameters = parseAbiParameters(leafTypes.join(', ')) as readonly { name: string; type: string }[];
  fc.assert(
    fc.property(anyFields, (fields) => {
      const encoded = encodeAbiParameters(parameters, [
        keccak256(stringToHex('holdfast/leaf@1')),
        keccak256(stringToHex(`${fields.kind}/${fields.canonicalization}`)),
        fields.digest,
        keccak256(stringToHex(`${fields.subject.workspaceId}/${fields.subject.id}`)),
        BigInt(fields.version),
        fields.previousLeaf,
        fields.vault,
        fields.claimsHash,
      ]);
      const values = leafValues(fields, keccak);
      assert.deepEqual(leafValues(fields), values);
      assert.equal(toHex(encodeLeaf(values)), encoded);
      assert.equal(toHex(leafHash(values)), keccak256(keccak256(encoded)));
      assert.equal(toHex(leafHash(values, keccak)), keccak256(keccak256(encoded)));
    }),
  );
});

test('refuses a version beyond uint64 and a value longer than a word', () => {
  const { values } = readVector('file-raw').proof.leaf;
  const withValue = (place: number, value: string) => () =>
    encodeLeaf(values.with(place, value as Hex) as unknown as typeof values);
  assert.throws(withValue(4, '18446744073709551616'), /uint64/);
  assert.throws(withValue(4, '-1'), /uint64/);
  assert.throws(withValue(2, `0x${'00'.repeat(33)}`), /does not fit/);
});

test('hashes claims in their canonical form', () => {
  const expected = createHash('sha256').update('{"a":"é","salt":"0x00"}').digest('hex');
  assert.equal(claimsHash({ salt: '0x00', a: 'é' }), `0x${expected}`);
});

test('leaf and fields of every frozen proof can be recomputed from its contents', () => {
  for (const name of plainNames) {
    const { proof } = readVector(name);
    const [, , , , version, previousLeaf, vault] = proof.leaf.values;
    const { kind, subject, content, claims } = proof;
    const { digest, canonicalization } = content;
    const values = leafValues({
      ...{ kind, canonicalization, subject, previousLeaf, vault, digest, version: BigInt(version) },
      claimsHash: claimsHash(claims ?? {}),
    });
    assert.deepEqual(values, proof.leaf.values, name);
  }
});
