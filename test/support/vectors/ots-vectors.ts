/** OpenTimestamps: which block vouches, and each rule about the headers beside the file. */
import type { Hex } from 'viem';
import type { OpenTimestampsAnchor } from '../../../src/proof/opentimestamps/anchor.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { type MadeBlock, makeBlock } from '../opentimestamps/bitcoin-block.ts';
import { bitcoinAttestation, detachedFile, pendingAttestation, sha256 } from '../opentimestamps/trails.ts';
import { type BaseThing, givenWith, judgedAt } from './base-batches.ts';
import { type BitcoinProof, commitRoot, openTimestamps } from './clocks.ts';
import { anchoredBy, minedAt } from './good-vectors.ts';
import { otsBoundRows } from './ots-bound-rows.ts';
import { committed, fails, holds, type OtsRow, otsFormRows } from './ots-form-rows.ts';
import { expect, type NamedVector, type Outcome, trustOf } from './vector.ts';

const fork = Buffer.of(0xff);
const { height } = committed;
const skips: Outcome = { skip: ['block', 'time'], time: null };

export function otsVectors(file: BaseThing): NamedVector[] {
  const { root } = file.proof.merkle;
  const good = commitRoot(root, committed);
  const rows = [...otsFormRows(good), ...otsBoundRows(good), ...headerRows(root, good)];
  return rows.map(([name, about, outcome, { anchor, trusted = [good.trusted], at = judgedAt }]) => {
    const proof = anchoredBy(file.proof, anchor);
    return {
      name: `ots-${name}`,
      about,
      ...{
        ...givenWith(file, proof),
        trust: trustOf({ bitcoin: trusted.map(({ height, hash }) => ({ height, hash })) }),
        at,
      },
      expected: expect(proof, outcome),
    };
  });
}

function headerRows(root: Hex, good: BitcoinProof): OtsRow[] {
  const { imprint, operations, file, block, trusted, anchor } = good;
  const merkleRoot = Buffer.from(block.header.slice(2), 'hex').subarray(36, 68);
  const time = Date.parse(minedAt);
  const withBits = (bits: number): OtsRow[3] => {
    const made = makeBlock({ height, time, merkleRoot, bits });
    return { anchor: openTimestamps(file, made), trusted: [made] };
  };
  const wrongRoot = makeBlock({ height, time, merkleRoot: sha256(merkleRoot) });
  const stray = makeBlock({ height: 6, time, merkleRoot });
  const elsewhere = { ...trusted, hash: wrongRoot.hash };
  const direct = makeBlock({ height, time, merkleRoot: imprint });
  const longer = makeBlock({ height, time, merkleRoot: imprint });
  const both = detachedFile(
    imprint,
    ...[fork, Buffer.of(0x08), bitcoinAttestation(height)],
    ...[...operations, bitcoinAttestation(height)],
  );
  const another = commitRoot(fixed(0x99), committed);
  const pending = detachedFile(imprint, pendingAttestation('https://a.example'));
  const { anchors: two, blocks } = twoBlocks(root);
  const sixteen = Array.from({ length: 16 }, (_, at) =>
    makeBlock({ height: height + at, time, merkleRoot: imprint }),
  );
  const attested = sixteen.map((one) => bitcoinAttestation(one.height));
  const wide = detachedFile(imprint, ...attested.flatMap((one, at) => (at < 15 ? [fork, one] : [one])));
  return [
    ['untrusted', 'Nobody trusts the block: a header alone proves nothing.', skips, { anchor, trusted: [] }],
    [
      'trusted-at-another-height',
      'The trust file has the hash, but for another height.',
      skips,
      { anchor, trusted: [{ ...trusted, height: height + 1 }] },
    ],
    [
      'trusted-differs',
      'The trust file has another hash for the height.',
      fails,
      { anchor, trusted: [elsewhere] },
    ],
    [
      'trusted-differs-and-later',
      'It has another hash, and the block is later than the time of judgement.',
      fails,
      { anchor, trusted: [elsewhere], at: '2026-11-15T00:00:00Z' },
    ],
    [
      'trusted-among-others',
      'One of two hashes for the height is right.',
      holds,
      { anchor, trusted: [elsewhere, trusted] },
    ],
    ['pending', 'Only a calendar knows it so far.', skips, { anchor: openTimestamps(pending) }],
    ['without-header', 'The header of the block is missing.', skips, { anchor: openTimestamps(file) }],
    [
      'judged-before',
      'One second before the block it did not exist.',
      skips,
      { anchor, at: '2026-11-15T03:09:59Z' },
    ],
    ['judged-at', 'At the time of the block it existed.', holds, { anchor, at: minedAt }],
    [
      'other-merkle-root',
      'The file does not lead to the Merkle root of the trusted header.',
      fails,
      { anchor: openTimestamps(file, wrongRoot), trusted: [wrongRoot] },
    ],
    [
      'other-merkle-root-untrusted',
      'The file does not lead to the Merkle root of the header, which nobody trusts.',
      fails,
      { anchor: openTimestamps(file, wrongRoot), trusted: [] },
    ],
    [
      'one-of-two-merkle-roots',
      'The file leads to the block twice, once to another Merkle root.',
      fails,
      { anchor: openTimestamps(both, block) },
    ],
    [
      'direct',
      'The digest itself is the Merkle root.',
      holds,
      {
        anchor: openTimestamps(detachedFile(imprint, bitcoinAttestation(height)), direct),
        trusted: [direct],
      },
    ],
    [
      'merkle-root-of-33-bytes',
      'The message ends with the Merkle root, but has one byte more.',
      fails,
      {
        anchor: openTimestamps(
          detachedFile(imprint, Buffer.of(0xf1, 1, 7), bitcoinAttestation(height)),
          longer,
        ),
        trusted: [longer],
      },
    ],
    [
      'of-another-root',
      'A good file with a good block, but about another root.',
      fails,
      { anchor: another.anchor, trusted: [another.trusted] },
    ],
    [
      'stray-header',
      'A header of a block that the file says nothing about.',
      fails,
      { anchor: openTimestamps(file, block, stray), trusted: [trusted, stray] },
    ],
    [
      'stray-header-of-a-pending-file',
      'A header, but the file is pending.',
      fails,
      { anchor: openTimestamps(pending, stray), trusted: [stray] },
    ],
    ['work-too-little', "The hash is above Bitcoin's easiest target.", fails, withBits(0x1d00ffff)],
    ['work-negative', 'A negative target.', fails, withBits(0x20ffffff)],
    ['work-zero', 'A target of zero.', fails, withBits(0x20000000)],
    ['work-rounded-to-zero', 'A target that is rounded down to zero.', fails, withBits(0x01007fff)],
    ['work-of-257-bits', 'A target of more than 256 bits.', fails, withBits(0x23000001)],
    ['work-largest', 'The largest target of 256 bits.', holds, withBits(0x2100ffff)],
    ['work-largest-2', 'Another spelling of a large target.', holds, withBits(0x220000ff)],
    [
      'earliest',
      'Two blocks are trusted: the earlier time counts, although its height is larger.',
      { time: '2026-11-15T03:00:00Z' },
      { anchor: two, trusted: blocks },
    ],
    [
      'headers-16',
      'Sixteen headers, of which the last one is trusted.',
      holds,
      { anchor: openTimestamps(wide, ...sixteen), trusted: sixteen.slice(-1) },
    ],
    ['later-only', 'Only the later block is trusted.', holds, { anchor: two, trusted: blocks.slice(0, 1) }],
    [
      'one-contradicts',
      'One block is trusted, and the hash of the other one is not the trusted one.',
      fails,
      { anchor: two, trusted: [...blocks.slice(0, 1), { height: height + 1, hash: wrongRoot.hash }] },
    ],
  ];
}

/** A file that leads to two blocks, of which the higher one has the earlier time. */
function twoBlocks(root: Hex): { anchors: OpenTimestampsAnchor; blocks: MadeBlock[] } {
  const [one, other] = [
    commitRoot(root, committed),
    commitRoot(root, { height: height + 1, at: '2026-11-15T03:00:00Z' }),
  ];
  const way = ({ operations, block }: BitcoinProof) =>
    Buffer.concat([...operations, bitcoinAttestation(block.height)]);
  const file = detachedFile(one.imprint, fork, way(one), way(other));
  const blocks = [one.block, other.block];
  return { anchors: openTimestamps(file, ...blocks), blocks };
}
