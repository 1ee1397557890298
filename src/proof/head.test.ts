/** The head of a batch and the leaves of its evidence, against Solidity's encoding. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { encodeAbiParameters, keccak256, parseAbiParameters, stringToHex } from 'viem/utils';
import { fixed } from '../../test/support/fixtures/proof-fixture.ts';
import { fc } from '../../test/support/service/properties.ts';
import { emptyHead, evidenceLeaf, headId } from './head.ts';
import { toHex } from './hex.ts';
import { loadKeccak } from './keccak.ts';

const word = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('the id of a head is hashed twice over three words, with either Keccak', async () => {
  const keccak = await loadKeccak();
  const types = parseAbiParameters('bytes32, bytes32, bytes32');
  fc.assert(
    fc.property(word.map(toHex), word.map(toHex), (evidenceRoot, logHead) => {
      const encoded = encodeAbiParameters(types, [
        keccak256(stringToHex('holdfast/head@1')),
        evidenceRoot,
        logHead,
      ]);
      const expected = keccak256(keccak256(encoded));
      assert.equal(toHex(headId({ evidenceRoot, logHead })), expected);
      assert.equal(toHex(headId({ evidenceRoot, logHead }, keccak)), expected);
    }),
  );
});

test('a leaf of evidence is hashed twice over two words, with either Keccak', async () => {
  const keccak = await loadKeccak();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (item) => {
      const digest = new Uint8Array(createHash('sha256').update(item).digest());
      const encoded = encodeAbiParameters(parseAbiParameters('bytes32, bytes32'), [
        keccak256(stringToHex('holdfast/evidence@1')),
        toHex(digest),
      ]);
      const expected = keccak256(keccak256(encoded));
      assert.equal(toHex(evidenceLeaf(digest)), expected);
      assert.equal(toHex(evidenceLeaf(digest, keccak)), expected);
    }),
  );
});

test('a head that covers nothing has an id of its own, and words of another length are refused', () => {
  assert.notEqual(toHex(headId(emptyHead)), toHex(headId({ ...emptyHead, evidenceRoot: fixed(1) })));
  assert.notEqual(toHex(headId(emptyHead)), toHex(headId({ ...emptyHead, logHead: fixed(1) })));
  assert.throws(() => evidenceLeaf(new Uint8Array(31)), /32 bytes/);
  assert.throws(() => headId({ ...emptyHead, logHead: '0x00' }), /32 bytes/);
});
