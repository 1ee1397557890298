/** What an OpenTimestamps anchor proves, what it does not, and what contradicts it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { type MadeBlock, makeBlock } from '../../../test/support/opentimestamps/bitcoin-block.ts';
import {
  anchorOf,
  aTime,
  provedAnchor,
  upgradedAnchor,
} from '../../../test/support/opentimestamps/proved-anchor.ts';
import {
  append,
  bitcoinAttestation,
  detachedFile,
  hashed,
  pendingAttestation,
  prepend,
  sha256,
  startTrail,
} from '../../../test/support/opentimestamps/trails.ts';
import type { OpenTimestampsAnchor } from './anchor.ts';
import { readBitcoinHeader } from './bitcoin-header.ts';
import { judgeOpenTimestamps } from './judge.ts';
import { readDetachedFile } from './read.ts';
import { mergeFiles, writeDetachedFile } from './write.ts';

const { imprint, block, anchor, file } = provedAnchor();
const later = aTime + 1;

interface Given {
  trusted?: { height: number; hash: Hex }[];
  at?: number;
  imprint?: Uint8Array;
}

async function judge(judged: OpenTimestampsAnchor, given: Given = {}) {
  const trust = { blocks: given.trusted ?? [block] };
  return judgeOpenTimestamps(judged, { imprint: given.imprint ?? imprint, trust, at: given.at ?? later });
}

async function fails(reason: RegExp, judged: unknown, given: Given = {}): Promise<void> {
  const judgement = await judge(judged as OpenTimestampsAnchor, given);
  assert.equal(judgement.status, 'fail', JSON.stringify(judgement));
  assert.match(judgement.status === 'fail' ? judgement.reason : '', reason);
}

async function isUntrusted(reason: string, judged: OpenTimestampsAnchor, given: Given = {}): Promise<void> {
  assert.deepEqual(await judge(judged, given), { status: 'untrusted', reason });
}

test('a block whose hash is trusted vouches for the time of its header', async () => {
  for (const judged of [anchor, upgradedAnchor().anchor]) {
    const trusted = judged === anchor ? [block] : [upgradedAnchor().block];
    assert.deepEqual(await judge(judged, { trusted }), {
      status: 'pass',
      height: 800_000,
      time: aTime,
      blockHash: trusted[0]?.hash,
      message: 'Bitcoin block 800000 vouches for 2026-03-01T12:00:00.000Z, give or take 2 hours.',
    });
  }
});

test('without a trusted block nothing vouches, and nothing contradicts', async () => {
  const pending = anchorOf(detachedFile(imprint, pendingAttestation('https://a.example')));
  await isUntrusted('No Bitcoin block vouches for it yet: the .ots file is pending.', pending);
  await isUntrusted('The anchor has no header of Bitcoin block 800000.', { ...anchor, headers: [] });
  const unknown = `No hash of Bitcoin block 800000 is trusted; the header has ${block.hash}.`;
  await isUntrusted(unknown, anchor, { trusted: [] });
  await isUntrusted(unknown, anchor, { trusted: [{ ...block, height: 800_001 }] });
});

test('a block later than the time of judgement counts as absent', async () => {
  const reason = 'Bitcoin block 800000, of 2026-03-01T12:00:00.000Z, is later than the time of judgement.';
  await isUntrusted(reason, anchor, { at: aTime - 1 });
  await isUntrusted(reason, anchor, { at: Number.NaN });
  assert.equal((await judge(anchor, { at: aTime })).status, 'pass');
});

test('what contradicts fails at any time of judgement', async () => {
  const other = { height: block.height, hash: provedAnchor({ of: 'other' }).block.hash };
  const reason = `The header of Bitcoin block 800000 has the hash ${block.hash}, but the trusted one is ${other.hash}.`;
  for (const at of [0, later]) await fails(new RegExp(`^${reason}$`), anchor, { trusted: [other], at });
});

test('of several hashes of one height, one is enough', async () => {
  const other = { height: block.height, hash: provedAnchor({ of: 'other' }).block.hash };
  for (const trusted of [
    [block, other],
    [other, block],
  ]) {
    assert.equal((await judge(anchor, { trusted })).status, 'pass');
  }
});

test('the earliest of the trusted blocks counts, by time and not by height', async () => {
  const later = provedAnchor({ height: 800_002, time: aTime + 600_000 });
  const earlier = provedAnchor({ height: 800_001, time: aTime - 60_000 });
  const files = [file, later.file, earlier.file].map((bytes) => readDetachedFile(bytes));
  const all = files.reduce((one, other) => mergeFiles(one, other) ?? assert.fail('other digest'));
  const blocks: [MadeBlock, MadeBlock, MadeBlock] = [block, later.block, earlier.block];
  const judged = anchorOf(writeDetachedFile(all), ...blocks);
  const heightOf = async (trusted: MadeBlock[], at = aTime + 600_000) => {
    const judgement = await judge(judged, { trusted, at });
    return judgement.status === 'pass' ? judgement.height : judgement.status;
  };
  assert.equal(await heightOf(blocks), 800_001);
  assert.equal(await heightOf(blocks.toReversed()), 800_001);
  assert.equal(await heightOf([block, later.block]), 800_000);
  assert.equal(await heightOf([later.block]), 800_002);
  assert.equal(await heightOf([later.block], aTime + 599_999), 'untrusted');
  assert.equal(await heightOf([later.block, earlier.block], aTime), 800_001);
  // One that is trusted does not excuse one that contradicts.
  assert.equal(await heightOf([earlier.block, { ...block, hash: later.block.hash }]), 'fail');
});

test('of blocks of the same second the lower one counts', async () => {
  const twin = provedAnchor({ height: 799_999 });
  const both = mergeFiles(readDetachedFile(file), readDetachedFile(twin.file));
  const judged = anchorOf(writeDetachedFile(both ?? assert.fail()), block, twin.block);
  const judgement = await judge(judged, { trusted: [block, twin.block] });
  assert.equal(judgement.status === 'pass' && judgement.height, 799_999);
});

test('a proof of another digest fails', async () => {
  const other = provedAnchor({ of: 'other' }).imprint;
  await fails(
    /^The \.ots file is for the digest 0x[0-9a-f]{64}, but the root has 0x[0-9a-f]{64}\.$/,
    anchor,
    {
      imprint: other,
    },
  );
  const keccak = Buffer.from(file);
  keccak[32] = 0x67;
  await fails(/^The \.ots file is not for a SHA-256 digest\.$/, anchorOf(keccak, block));
});

test('a header whose Merkle root is another fails, trusted or not', async () => {
  const wrong = makeBlock({ height: block.height, time: aTime, merkleRoot: sha256(imprint) });
  const reason =
    /^The \.ots file does not lead to the Merkle root of Bitcoin block 800000, 0x[0-9a-f]{64}\.$/;
  await fails(reason, anchorOf(file, wrong), { trusted: [wrong] });
  await fails(reason, anchorOf(file, wrong), { trusted: [] });
});

test('a Bitcoin attestation of what is no Merkle root fails', async () => {
  // The Merkle root is the end of the message.
  const longer = prepend(startTrail(imprint), Buffer.from([1]));
  const merkleRoot = longer.message.subarray(1);
  const made = makeBlock({ height: 5, time: aTime, merkleRoot });
  const judged = detachedFile(imprint, ...(longer.operations[0] ?? []), bitcoinAttestation(5));
  await fails(/does not lead to the Merkle root/, anchorOf(judged, made), { trusted: [made] });
  // The digest itself may be one.
  const direct = detachedFile(imprint, bitcoinAttestation(5));
  assert.equal((await judge(anchorOf(direct, made), { trusted: [made] })).status, 'pass');
});

test('every attestation of a block has to fit its header', async () => {
  const stray = append(startTrail(imprint), Buffer.from([1]));
  const other = detachedFile(
    imprint,
    ...(hashed(stray).operations[0] ?? []),
    bitcoinAttestation(block.height),
  );
  const both = mergeFiles(readDetachedFile(file), readDetachedFile(other));
  await fails(/does not lead to the Merkle root/, anchorOf(writeDetachedFile(both ?? assert.fail()), block));
});

test('a header that the file says nothing about fails', async () => {
  const extra = makeBlock({ height: 6, time: aTime, merkleRoot: imprint });
  const reason = /^The anchor has a header of Bitcoin block 6, of which the \.ots file says nothing\.$/;
  await fails(reason, anchorOf(file, block, extra), { trusted: [block, extra] });
  await fails(reason, anchorOf(detachedFile(imprint, pendingAttestation('a')), extra));
});

test('a header without its proof of work fails, even if its hash is trusted', async () => {
  const withBits = (bits: number): MadeBlock => {
    const { merkleRoot } = readBitcoinHeader(block.header);
    const made = makeBlock({ height: block.height, time: aTime, merkleRoot, bits });
    return { ...made, hash: readBitcoinHeader(made.header).hash };
  };
  // Bitcoin's least work, a negative target, zero in two ways, and more than 256 bits.
  for (const bits of [0x1d00ffff, 0x20ffffff, 0x20000000, 0x01007fff, 0x23000001, 0xff7fffff]) {
    const made = withBits(bits);
    const reason = /^The header of Bitcoin block 800000 lacks the proof of work that it demands\.$/;
    await fails(reason, anchorOf(file, made), { trusted: [made] });
  }
  // The largest targets that have 256 bits.
  for (const bits of [0x2100ffff, 0x220000ff]) {
    const made = withBits(bits);
    assert.equal((await judge(anchorOf(file, made), { trusted: [made] })).status, 'pass', bits.toString(16));
  }
});

test('an anchor of another shape fails, with the fault', async () => {
  const [header] = anchor.headers;
  const malformed: [string, unknown][] = [
    ['it is not an object', null],
    ['type is not "opentimestamps"', { ...anchor, type: 'evm' }],
    ['proof is missing', { type: 'opentimestamps', headers: [] }],
    ['note is not a field of this format', { ...anchor, note: 1 }],
    ['headers is not a list', { ...anchor, headers: {} }],
    ['headers has 17 items, not 0 to 16', { ...anchor, headers: Array(17).fill(header) }],
    ['headers[1].height occurs twice', { ...anchor, headers: [header, header] }],
    [
      'headers[0].height is not an integer from 0 to 4294967295',
      { ...anchor, headers: [{ ...header, height: -1 }] },
    ],
    [
      'headers[0].header is not 0x and 160 lower-case hex digits',
      { ...anchor, headers: [{ ...header, header: block.header.slice(0, -2) }] },
    ],
    ...['', '====', 'AA', 'AB==', 'AAB=', 'A===', 'AAAA\n', 'AAA A', '_-AA', 'AA=A', 5].map(
      (proof): [string, unknown] => ['proof is not 1 to 65536 bytes in base64', { ...anchor, proof }],
    ),
    ['proof is not 1 to 65536 bytes in base64', { ...anchor, proof: 'A'.repeat(87_388) }],
  ];
  for (const [fault, judged] of malformed) {
    const judgement = await judge(judged as OpenTimestampsAnchor);
    assert.deepEqual(judgement, {
      status: 'fail',
      reason: `The OpenTimestamps anchor is malformed: ${fault}.`,
    });
  }
});

test('a file that cannot be read fails, with the reason', async () => {
  await fails(/^The \.ots file is malformed: it is not an OpenTimestamps proof\.$/, {
    ...anchor,
    proof: 'AAAA',
  });
  await fails(/malformed: it has more than 65536 bytes\.$/, { ...anchor, proof: 'A'.repeat(87_384) });
  await fails(
    /malformed: it has 1 bytes too many\.$/,
    anchorOf(Buffer.concat([file, Buffer.alloc(1)]), block),
  );
});

test("a digest in Bitcoin's first block is as old as Bitcoin", async () => {
  // The only transaction of the block, whose hash is the Merkle root; the digest stands for 32 bytes of its public key.
  const transaction = Buffer.from(
    '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d6573' +
      '2030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e' +
      '6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4' +
      'f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000',
    'hex',
  );
  const header: Hex =
    '0x0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c';
  const hash: Hex = '0x000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
  const place = transaction.indexOf(Buffer.from('678afdb0', 'hex'));
  const digest = transaction.subarray(place, place + 32);
  const whole = append(
    prepend(startTrail(digest), transaction.subarray(0, place)),
    transaction.subarray(place + 32),
  );
  const root = hashed(hashed(whole));
  const judged = anchorOf(detachedFile(digest, ...(root.operations[0] ?? []), bitcoinAttestation(0)), {
    height: 0,
    header,
    hash,
    time: 0,
  });
  assert.deepEqual(await judge(judged, { imprint: digest, trusted: [{ height: 0, hash }] }), {
    status: 'pass',
    height: 0,
    time: Date.parse('2009-01-03T18:15:05Z'),
    blockHash: hash,
    message: 'Bitcoin block 0 vouches for 2009-01-03T18:15:05.000Z, give or take 2 hours.',
  });
});
