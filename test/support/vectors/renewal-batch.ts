/** Renewals: the head of a later batch that covers an item of evidence, and the clocks of that batch. */
import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import { evidenceLeaf } from '../../../src/proof/head.ts';
import { toHex, zeroHash } from '../../../src/proof/hex.ts';
import { plainKeccak } from '../../../src/proof/keccak.ts';
import { buildTree, hashBytes } from '../../../src/proof/merkle.ts';
import type { Anchor, Renewal } from '../../../src/proof/verify/proof.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { sealBatch } from '../fixtures/sealed-batch.ts';
import { vaultKeys } from './base-batches.ts';

/** A batch of `sequence` things of one vault, whose head covers the item and `others` more. */
export async function renewalOf(
  item: Uint8Array,
  covers: Renewal['covers'],
  {
    clocks,
    sequence = 40,
    others = 2,
  }: {
    clocks: (batch: { root: Hex; size: number }) => Anchor[] | Promise<Anchor[]>;
    sequence?: number;
    others?: number;
  },
): Promise<Renewal> {
  const items = [item, ...Array.from({ length: others }, (_, place) => Uint8Array.of(place))];
  const tree = buildTree(
    Buffer.concat(items.map((one) => evidenceLeaf(createHash('sha256').update(one).digest()))),
    plainKeccak,
  );
  const head = { evidenceRoot: toHex(tree.root), logHead: zeroHash };
  const leaves = Buffer.concat([fixed(0x70), fixed(0x71)].map((leaf) => Buffer.from(leaf.slice(2), 'hex')));
  const batch = await sealBatch([{ key: vaultKeys.second, leaves, sequence: BigInt(sequence) }], {
    evidenceRoot: head.evidenceRoot,
  });
  const { size } = batch;
  const root = toHex(batch.root);
  return {
    covers,
    path: split(tree.path(0)),
    head,
    proof: split(batch.headPath),
    root,
    size,
    anchors: await clocks({ root, size }),
  };
}

function split(path: Uint8Array): Hex[] {
  return Array.from({ length: path.length / hashBytes }, (_, step) =>
    toHex(path.subarray(step * hashBytes, (step + 1) * hashBytes)),
  );
}
