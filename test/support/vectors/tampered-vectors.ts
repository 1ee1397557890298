/** Proofs in which one thing was changed after they were made: exactly the steps fail that the change contradicts. */

import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { fixed, makeProofs, utf8 } from '../fixtures/proof-fixture.ts';
import {
  type BaseName,
  type BaseThing,
  firstBlock,
  firstTime,
  givenWith,
  vaultKeys,
} from './base-batches.ts';
import { changed } from './changed.ts';
import { withHighS, withV } from './crafted-batch.ts';
import { expect, type NamedVector, type Outcome } from './vector.ts';

const other = fixed(0x99);
const otherAddress: Hex = `0x${'99'.repeat(20)}`;
const clocks = ['registry', 'chain', 'finality', 'time'];

/** Only these fail, and the clock vouches all the same. */
const fails = (...fail: string[]): Outcome => ({ fail, time: firstTime });
/** The path does not lead to the root, so no clock is asked. */
const failsPath = (...more: string[]): Outcome => ({ fail: ['path', ...more], skip: clocks, time: null });
const failsLeaf = (...more: string[]): Outcome => ({
  fail: ['leaf', ...more],
  skip: ['path', ...clocks],
  time: null,
});

type Row = [name: string, path: string, value: unknown, outcome: Outcome];

/** In a document with a path of five elements, two of which belong to the subtree. */
const rows: Row[] = [
  ['kind', 'kind', 'file', failsLeaf()],
  ['workspace', 'subject.workspaceId', 'ws_other', failsLeaf()],
  ['subject-id', 'subject.id', 'rec_other', failsLeaf()],
  ['content-digest', 'content.digest', other, fails('digest')],
  ['content-salt', 'content.salt', other, fails('digest')],
  ['claims-salt', 'claims.salt', other, fails('claims')],
  ['a-claim', 'claims.externalId', 'shipment-8', fails('claims')],
  ['one-claim-more', 'claims.owner', 'me', fails('claims')],
  ['one-claim-less', 'claims.externalId', undefined, fails('claims')],
  ['leaf-domain', 'leaf.values[0]', other, failsLeaf()],
  ['leaf-kind', 'leaf.values[1]', other, failsLeaf()],
  ['leaf-digest', 'leaf.values[2]', other, failsPath('digest')],
  ['leaf-subject', 'leaf.values[3]', other, failsLeaf()],
  ['leaf-version', 'leaf.values[4]', '2', failsPath()],
  ['leaf-previous', 'leaf.values[5]', other, failsPath()],
  ['leaf-vault', 'leaf.values[6]', otherAddress, failsPath('seal')],
  ['leaf-claims-hash', 'leaf.values[7]', other, failsPath('claims')],
  ['path-first', 'merkle.proof[0]', other, failsPath()],
  ['path-seal', 'merkle.proof[2]', other, failsPath('seal')],
  ['path-last', 'merkle.proof[4]', other, failsPath()],
  ['path-swapped', 'merkle.proof', (path: Hex[]) => [path[1], path[0], ...path.slice(2)], failsPath()],
  ['path-one-more', 'merkle.proof', (path: Hex[]) => [...path, other], failsPath()],
  ['path-one-more-in-front', 'merkle.proof', (path: Hex[]) => [other, ...path], failsPath('seal')],
  ['path-one-less', 'merkle.proof', (path: Hex[]) => path.slice(0, -1), failsPath()],
  ['path-without-seal', 'merkle.proof', (path: Hex[]) => path.toSpliced(2, 1), failsPath('seal')],
  ['path-only-subtree', 'merkle.proof', (path: Hex[]) => path.slice(0, 2), failsPath('seal')],
  ['path-empty', 'merkle.proof', [], failsPath('seal')],
  ['root', 'merkle.root', other, failsPath()],
  ['size', 'merkle.size', 6, { fail: ['chain'], skip: ['finality', 'time'], time: null }],
  ['depth-one-more', 'seal.depth', 3, failsPath('seal')],
  ['depth-one-less', 'seal.depth', 1, failsPath('seal')],
  ['depth-of-the-whole-path', 'seal.depth', 5, failsPath('seal')],
  ['depth-64', 'seal.depth', 64, failsPath('seal')],
  ['seal-vault', 'seal.vault', otherAddress, fails('seal')],
  ['seal-subtree-root', 'seal.subtreeRoot', other, failsPath('seal')],
  ['seal-leaves', 'seal.leaves', 4, fails('seal')],
  ['seal-sequence', 'seal.sequence', '2', fails('seal')],
  ['seal-previous', 'seal.previousSeal', other, fails('seal')],
  ['seal-signature-r', 'seal.signature', (text: Hex) => `0x11${text.slice(4)}`, fails('seal')],
  ['seal-signature-zeros', 'seal.signature', `0x${'00'.repeat(64)}1b`, fails('seal')],
  ['seal-signature-high-s', 'seal.signature', withHighS, fails('seal')],
  ['seal-signature-other-v', 'seal.signature', (text: Hex) => withV(text, (v) => 55 - v), fails('seal')],
  ['seal-signature-v-29', 'seal.signature', (text: Hex) => withV(text, () => 29), fails('seal')],
];

export async function tamperedVectors(base: Record<BaseName, BaseThing>): Promise<NamedVector[]> {
  const record = base['record-jcs'];
  const given = givenWith(record, record.proof);
  const file = base['file-raw'];
  return [
    ...rows.map(([name, path, value, outcome]): NamedVector => {
      const proof = changed(record.proof, path, value);
      return {
        name: `tampered-${name}`,
        about: `${path} was changed: ${name.replaceAll('-', ' ')}.`,
        ...{ ...given, proof },
        expected: expect(proof, outcome),
      };
    }),
    {
      name: 'tampered-content',
      about: 'Other content than that of the digest.',
      ...{ ...givenWith(file, file.proof), content: { utf8: 'Holdfast keeps evidence!\n' } },
      expected: expect(file.proof, fails('digest')),
    },
    {
      name: 'tampered-content-and-digest',
      about: 'Other content, and its digest in the document; the leaf has the right one.',
      ...givenWith({ content: 'forged\n' }, changed(file.proof, 'content.digest', sha256('forged\n'))),
      expected: expect(file.proof, fails('digest')),
    },
    {
      name: 'tampered-digest-without-content',
      about: 'Another digest in the document than in the leaf, and no content to compare.',
      ...{ ...givenWith(file, changed(file.proof, 'content.digest', other)), content: null },
      expected: expect(file.proof, fails('digest')),
    },
    {
      name: 'tampered-depth-of-a-single-leaf',
      about: 'The seal is taken for a part of the subtree, which leads to the same root.',
      ...givenWith(base['single-leaf'], changed(base['single-leaf'].proof, 'seal.depth', 1)),
      expected: expect(base['single-leaf'].proof, failsPath('seal')),
    },
    ...(await swappedVectors(base)),
  ];
}

/**
 * One digest that is right for two contents under two canonicalizations: the leaf names the one that was meant. Of HMAC,
 * the digest is the SHA-256 of 96 bytes: the key with a mask, and the inner hash.
 */
async function swappedVectors(base: Record<BaseName, BaseThing>): Promise<NamedVector[]> {
  const salt = fixed(0xa3);
  const json = '{"a":1,"b":2}';
  const salted = Buffer.concat([Buffer.from(salt.slice(2), 'hex'), utf8(json)]);
  const outer = hmacOuter(fixed(0xa2), 'yes\n');
  const [rawOfRecord, rawOfHmac] = await makeProofs(
    [salted, outer].map((content, place) => ({
      ...{ kind: 'file', id: `fil_${place}`, canonicalization: 'raw', content, key: vaultKeys.first },
    })),
    { ...firstBlock, sequence: 3 },
  );
  if (!rawOfRecord || !rawOfHmac) throw new Error('nothing was made');
  const as = (
    proof: Proof,
    canonicalization: Proof['content']['canonicalization'],
    key: Hex | null,
  ): Proof => ({
    ...proof,
    content: { ...proof.content, canonicalization, salt: key },
  });
  const base64 = (bytes: Uint8Array) => ({ base64: Buffer.from(bytes).toString('base64') });
  const swaps: [name: string, proof: Proof, content: NamedVector['content']][] = [
    ['raw-as-jcs', as(rawOfRecord.proof, 'jcs', salt), { utf8: json }],
    ['raw-as-hmac', as(rawOfHmac.proof, 'hmac-sha256', fixed(0xa2)), { utf8: 'yes\n' }],
    ['jcs-as-raw', as(base['second-vault'].proof, 'raw', null), base64(salted)],
    ['jcs-as-hmac', as(base['second-vault'].proof, 'hmac-sha256', salt), null],
    ['hmac-as-raw', as(base['file-hmac'].proof, 'raw', null), base64(outer)],
    ['hmac-as-jcs', as(base['file-hmac'].proof, 'jcs', salt), null],
  ];
  return swaps.map(([name, proof, content]) => ({
    name: `swapped-${name}`,
    about: 'The canonicalization was exchanged; with this content the digest is right all the same.',
    ...{ ...givenWith({ content: '' }, proof), content },
    expected: expect(proof, failsLeaf()),
  }));
}

function sha256(text: string): Hex {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}

function hmacOuter(salt: Hex, content: string): Buffer {
  const key = Buffer.alloc(64);
  Buffer.from(salt.slice(2), 'hex').copy(key);
  const masked = (mask: number) => Buffer.from(key.map((byte) => byte ^ mask));
  const inner = createHash('sha256').update(masked(0x36)).update(content).digest();
  return Buffer.concat([masked(0x5c), inner]);
}
