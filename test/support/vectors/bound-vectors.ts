/** Documents that are as large, as long or as many as they may be. */
import { type Hex, hexToBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { emptyHead, evidenceLeaf, headId } from '../../../src/proof/head.ts';
import { toHex, zeroHash } from '../../../src/proof/hex.ts';
import { plainKeccak } from '../../../src/proof/keccak.ts';
import { kindHash, leafHash, subjectHash } from '../../../src/proof/leaf.ts';
import { foldPath } from '../../../src/proof/merkle.ts';
import { type SealFields, sealId, sealTypedData } from '../../../src/proof/seal.ts';
import type { Proof, Renewal } from '../../../src/proof/verify/proof.ts';
import { anchorOf, fixed } from '../fixtures/proof-fixture.ts';
import {
  type BaseThing,
  blocksOf,
  evmOf,
  firstBlock,
  firstTime,
  givenWith,
  vaultKeys,
} from './base-batches.ts';
import { changed } from './changed.ts';
import { imprintOf } from './clocks.ts';
import { craftProof } from './crafted-batch.ts';
import { failsChain } from './evm-vectors.ts';
import { anchoredBy } from './good-vectors.ts';
import { expect, type NamedVector, type Outcome, trustOf } from './vector.ts';

const largest = '18446744073709551615';
const holds: Outcome = { time: firstTime };

type Row = [name: string, about: string, proof: Proof, outcome?: Outcome];

export async function boundVectors(file: BaseThing): Promise<NamedVector[]> {
  const { proof } = file;
  const evm = evmOf(proof);
  const many = { ...proof, merkle: { ...proof.merkle, size: Number.MAX_SAFE_INTEGER } };
  const renewal = await longRenewal(proof);
  const other = (type: string) => ({ type });
  const rows: Row[] = [
    [
      'anchors-16',
      'Sixteen anchors, of which the last one is known.',
      anchoredBy(proof, ...Array.from({ length: 15 }, () => other('other')), evm),
    ],
    [
      'anchor-type-of-32-letters',
      'An anchor whose type is as long as it may be.',
      anchoredBy(proof, other('a'.repeat(32)), evm),
    ],
    [
      'renewals-16',
      'Sixteen renewals, whose paths have 65 elements.',
      { ...proof, renewals: Array.from({ length: 16 }, () => renewal) },
    ],
    [
      'size-largest',
      'A batch of 2^53 - 1 leaves, as its submitter says.',
      anchoredBy(many, await anchorOf(many.merkle, firstBlock)),
    ],
    [
      'path-of-65',
      'A path of 65 elements, of which 32 are in the subtree of 2^32 - 1 leaves.',
      await deepProof(proof),
    ],
    ['names-longest', 'Kind and workspace are as long as they may be.', await named(proof)],
    ['version-largest', 'The largest version.', await withLeaf(proof, { version: largest })],
    [
      'inclusion-16-nodes',
      'Sixteen nodes are read, but the receipt is in the first.',
      changed(proof, 'anchors[0].inclusion.nodes', ([node]: Hex[]) => Array.from({ length: 16 }, () => node)),
      failsChain,
    ],
    [
      'inclusion-index-largest',
      'The largest index is read, but the receipt has another.',
      changed(proof, 'anchors[0].inclusion.index', 2 ** 32 - 1),
      failsChain,
    ],
  ];
  return rows.map(([name, about, made, outcome = holds]) => {
    const [later] = made.renewals;
    const trust = trustOf({ blocks: [...blocksOf(made.anchors), ...blocksOf(later?.anchors ?? [])] });
    return {
      name: `bound-${name}`,
      about,
      ...{ ...givenWith(file, made), trust },
      expected: expect(made, outcome),
    };
  });
}

const siblings = (count: number, byte: number): Hex[] => Array.from({ length: count }, () => fixed(byte));
const follow = (from: Uint8Array, path: Hex[]) =>
  foldPath(from, hexToBytes(`0x${path.map((one) => one.slice(2)).join('')}`), plainKeccak);

/** Nobody could build these trees, but somebody can name their nodes. */
async function deepProof(proof: Proof): Promise<Proof> {
  const account = privateKeyToAccount(vaultKeys.first);
  const [lower, upper] = [siblings(32, 0x01), siblings(32, 0x02)];
  const subtreeRoot = follow(leafHash(proof.leaf.values), lower);
  const fields: SealFields & { vault: Hex; sequence: string } = {
    ...{ vault: proof.seal.vault, subtreeRoot: toHex(subtreeRoot), leaves: 2 ** 32 - 1 },
    ...{ sequence: '1', previousSeal: zeroHash },
  };
  const signature = await account.signTypedData(sealTypedData(fields));
  const rest = [toHex(sealId(fields, signature)), ...upper];
  const merkle = { proof: [...lower, ...rest], root: toHex(follow(subtreeRoot, rest)), size: 5 };
  return {
    ...proof,
    merkle,
    seal: { ...fields, depth: lower.length, signature },
    anchors: [await anchorOf(merkle, firstBlock)],
  };
}

/** Of the root of the document. */
async function longRenewal({ merkle }: Proof): Promise<Renewal> {
  const [path, up] = [siblings(65, 0x03), siblings(65, 0x04)];
  const head = { ...emptyHead, evidenceRoot: toHex(follow(evidenceLeaf(imprintOf(merkle.root)), path)) };
  const batch = { root: toHex(follow(headId(head), up)), size: 2 };
  const later = { chainId: 1, blockNumber: 21_000_050, blockTime: firstBlock.blockTime + 600 };
  return {
    ...{ covers: { renewal: null, anchor: null }, path, head, proof: up, ...batch },
    anchors: [await anchorOf(batch, later)],
  };
}

function named(proof: Proof): Promise<Proof> {
  const kind = `k${'-9'.repeat(15)}z`;
  const subject = { workspaceId: `${'Aa0_-'.repeat(12)}wxyz`, id: proof.subject.id };
  const { canonicalization } = proof.content;
  const more = { kind: kindHash({ kind, canonicalization }), subject: subjectHash(subject) };
  return withLeaf({ ...proof, kind, subject }, more);
}

function withLeaf(proof: Proof, more: { kind?: Hex; subject?: Hex; version?: string }): Promise<Proof> {
  const [domain, kind, digest, subject, version, previousLeaf, vault, claims] = proof.leaf.values;
  const all = { kind, subject, version, ...more };
  const values = [domain, all.kind, digest, all.subject, all.version, previousLeaf, vault, claims] as const;
  return craftProof({ ...proof, leaf: { ...proof.leaf, values } }, firstBlock, { key: vaultKeys.first });
}
