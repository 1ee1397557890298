/** Inclusions: blocks made by hand that break one rule each under a trusted hash, large blocks, and anchors that contradict them. */
import type { Hex } from 'viem';
import { usualRegistry } from '../../../src/proof/evm/usual-registry.ts';
import type { EvmAnchor, Proof } from '../../../src/proof/verify/proof.ts';
import { anchorLog, inventBlock, mixedReceipts } from '../chain/inclusion-fixtures.ts';
import { fixed, submitter } from '../fixtures/proof-fixture.ts';
import { type BaseThing, blocksOf, firstBlock, givenWith } from './base-batches.ts';
import { changed } from './changed.ts';
import { craftAnchor, encode } from './crafted-block.ts';
import { failsChain, holds } from './evm-vectors.ts';
import { anchoredBy } from './good-vectors.ts';
import { headerRows } from './header-rows.ts';
import { logRows, receiptRows } from './receipt-rows.ts';
import { trieRows } from './trie-rows.ts';
import { expect, type NamedVector, type Outcome, trustOf } from './vector.ts';

export async function inclusionVectors(file: BaseThing): Promise<NamedVector[]> {
  const { merkle } = file.proof;
  const rows = [...headerRows, ...trieRows, ...receiptRows, ...logRows(merkle)];
  const crafted = rows.map(([name, about, outcome, block]) =>
    vectorOf(file, `inclusion-${name}`, { about, outcome, anchor: craftAnchor(merkle, block) }),
  );
  return [
    ...crafted,
    ...largest(file),
    firstOfAll(file),
    ...(await realBlocks(file)),
    ...contradicting(file),
  ];
}

function vectorOf(
  file: BaseThing,
  name: string,
  { about, outcome, anchor }: { about: string; outcome: Outcome; anchor: EvmAnchor },
): NamedVector {
  const proof = anchoredBy(file.proof, anchor);
  return { name, about, ...givenWith(file, proof), expected: expect(proof, outcome) };
}

/** Header and nodes have up to 65,536 bytes together. */
function largest(file: BaseThing): NamedVector[] {
  const withField = (bytes: number) =>
    craftAnchor(file.proof.merkle, { header: (fields) => [...fields, encode(`0x${'ab'.repeat(bytes)}`)] });
  const bytesOf = ({ inclusion }: EvmAnchor) =>
    [inclusion?.header ?? '', ...(inclusion?.nodes ?? [])].reduce((sum, hex) => sum + hex.length / 2 - 1, 0);
  const of = (total: number) => withField(60_000 + total - bytesOf(withField(60_000)));
  return [
    vectorOf(file, 'inclusion-of-65536-bytes', {
      about: 'Header and nodes are as long as they may be together.',
      ...{ outcome: holds, anchor: of(65_536) },
    }),
    vectorOf(file, 'inclusion-of-65537-bytes', {
      about: 'Header and nodes are one byte longer than they may be together.',
      ...{ outcome: failsChain, anchor: of(65_537) },
    }),
  ];
}

/** The number of the block is the empty string. */
function firstOfAll(file: BaseThing): NamedVector {
  const anchor = craftAnchor(file.proof.merkle, { header: (fields) => fields.with(8, encode('0x')) });
  return vectorOf(file, 'inclusion-in-block-0', {
    about: 'The block is the first of its chain.',
    ...{ outcome: holds, anchor: { ...anchor, blockNumber: 0 } },
  });
}

/** Blocks with many transactions, as chains have them. */
async function realBlocks(file: BaseThing): Promise<NamedVector[]> {
  const { root, size } = file.proof.merkle;
  const made = [
    [20, 18],
    [300, 0],
    [300, 299],
  ].map(async ([count = 0, index = 0]) => {
    const receipts = mixedReceipts(count);
    receipts[index] = { type: 2, logs: [anchorLog({ registry: usualRegistry, submitter, root, size })] };
    const { blockNumber, blockTime } = firstBlock;
    const block = await inventBlock(receipts, { number: blockNumber, time: blockTime });
    const anchor: EvmAnchor = {
      ...craftAnchor({ root, size }, {}),
      transactionHash: block.transactionHashes[index] as Hex,
      blockHash: block.hash,
      inclusion: await block.inclusionOf(index),
    };
    const about = `Transaction ${index} of a block of ${count}.`;
    return vectorOf(file, `inclusion-${index}-of-${count}`, { about, outcome: holds, anchor });
  });
  return Promise.all(made);
}

/** What the anchor says beside its inclusion; the trust file agrees with it. */
function contradicting(file: BaseThing): NamedVector[] {
  const { blockNumber, blockTime } = firstBlock;
  const rows: [name: string, about: string, path: string, value: unknown][] = [
    ['hash', 'The header has another hash than the anchor says.', 'blockHash', fixed(0x99)],
    ['number', 'The header has another number than the anchor says.', 'blockNumber', blockNumber + 1],
    ['time', 'The header has another time than the anchor says.', 'blockTime', blockTime - 1],
    ['submitter', 'Another submitter than the anchor says.', 'submitter', `0x${'99'.repeat(20)}`],
  ];
  return rows.map(([name, about, path, value]): NamedVector => {
    const proof: Proof = changed(file.proof, `anchors[0].${path}`, value);
    const trust = trustOf({ blocks: blocksOf(proof.anchors) });
    return {
      name: `inclusion-other-${name}`,
      about,
      ...{ ...givenWith(file, proof), trust },
      expected: expect(proof, failsChain),
    };
  });
}
