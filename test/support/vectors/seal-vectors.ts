/** Seals that somebody put into a tree, or would have liked to: everything fits but the one rule that is about the seal. */
import { privateKeyToAccount } from 'viem/accounts';
import { toHex } from '../../../src/proof/hex.ts';
import { sealId, sealTypedData } from '../../../src/proof/seal.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { type BaseThing, firstBlock, firstTime, givenWith, vaultKeys } from './base-batches.ts';
import { type Crafted, craftProof, withHighS, withV } from './crafted-batch.ts';
import { expect, type NamedVector, type Outcome } from './vector.ts';

const failsSeal: Outcome = { fail: ['seal'], time: firstTime };
const failsPath: Outcome = {
  fail: ['path'],
  skip: ['registry', 'chain', 'finality', 'time'],
  time: null,
};
const holds: Outcome = { time: firstTime };

type Row = [name: string, about: string, crafted: Crafted, outcome: Outcome];

export async function sealVectors(file: BaseThing): Promise<NamedVector[]> {
  const { first, stranger } = vaultKeys;
  const { vault } = file.proof.seal;
  const rows: Row[] = [
    ['good', 'A seal as it should be: the others differ from it in one thing.', { key: first }, holds],
    ['largest-numbers', 'The largest sequence.', { key: first, sequence: '18446744073709551615' }, holds],
    [
      'by-a-stranger',
      'A stranger signed in the name of the vault, and had that seal anchored.',
      { key: stranger, vault },
      failsSeal,
    ],
    [
      'of-another-vault',
      "A stranger sealed the vault's leaf as his own, and had that seal anchored.",
      { key: stranger },
      failsSeal,
    ],
    [
      'after-the-anchor',
      'The root was anchored without a seal of this vault; it was signed later, by the right key.',
      { key: first, anchored: fixed(0x77) },
      failsSeal,
    ],
    [
      'with-high-s',
      'The second signature that everybody can make, anchored by the vault itself.',
      { key: first, edit: withHighS },
      failsSeal,
    ],
    [
      'with-v-0-or-1',
      'v without 27, anchored by the vault itself.',
      { key: first, edit: (signature) => withV(signature, (v) => v - 27) },
      failsSeal,
    ],
    [
      'with-v-29-or-30',
      'v of a signature whose r was larger than the order, anchored by the vault itself.',
      { key: first, edit: (signature) => withV(signature, (v) => v + 2) },
      failsSeal,
    ],
    [
      'with-too-many-leaves',
      'The vault signed for 4 leaves, but then none of them has the depth 1.',
      { key: first, leaves: 4 },
      failsPath,
    ],
    [
      'with-too-few-leaves',
      'The vault signed for one leaf, which would have the depth 0.',
      { key: first, leaves: 1 },
      failsPath,
    ],
    [
      'of-another-subtree',
      'Somebody put a leaf of his own beside a real seal of the vault, which is about another subtree.',
      { key: first, subtreeRoot: fixed(0x55) },
      failsPath,
    ],
    [
      'missing-in-the-tree',
      'The root of the subtree was anchored by itself, so that the path has no place for the seal.',
      { key: first, bare: true },
      { ...failsPath, fail: ['path', 'seal'] },
    ],
    ['with-no-leaves', 'The vault signed for no leaf at all.', { key: first, leaves: 0 }, failsPath],
  ];
  const made = rows.map(async ([name, about, crafted, outcome]) =>
    vectorOf(file, { name, about }, await craftProof(file.proof, firstBlock, crafted), outcome),
  );
  return [...(await Promise.all(made)), await secondSeal(file)];
}

/** The vault sealed one subtree twice; the document shows the seal that was not anchored, on the path of the other. */
async function secondSeal(file: BaseThing): Promise<NamedVector> {
  const account = privateKeyToAccount(vaultKeys.first);
  const { seal } = file.proof;
  const other = { ...seal, sequence: '9' };
  const signature = await account.signTypedData(sealTypedData(other));
  const anchored = toHex(sealId(seal, seal.signature));
  if (!file.proof.merkle.proof.includes(anchored)) throw new Error('the first seal was anchored');
  const about = 'Another seal of the vault over the same subtree, which was not anchored.';
  const proof = { ...file.proof, seal: { ...other, signature } };
  return vectorOf(file, { name: 'second-over-the-same-subtree', about }, proof, failsSeal);
}

function vectorOf(
  file: BaseThing,
  { name, about }: { name: string; about: string },
  proof: Proof,
  outcome: Outcome,
): NamedVector {
  return { name: `seal-${name}`, about, ...givenWith(file, proof), expected: expect(proof, outcome) };
}
