/** Damaged and hostile files: whatever is changed either fails, or changes nothing that is claimed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  anchorOf,
  aTime,
  provedAnchor,
  upgradedAnchor,
} from '../../../test/support/opentimestamps/proved-anchor.ts';
import {
  bitcoinAttestation,
  detachedFile,
  pendingAttestation,
  sha256,
  sized,
} from '../../../test/support/opentimestamps/trails.ts';
import { threadCpuMs } from '../../../test/support/service/cpu-time.ts';
import { fc } from '../../../test/support/service/properties.ts';
import type { OpenTimestampsAnchor } from './anchor.ts';
import { judgeOpenTimestamps } from './judge.ts';

const pruned = provedAnchor();
const upgraded = upgradedAnchor();

function judge(anchor: OpenTimestampsAnchor, { imprint, block }: typeof pruned, trusted = true) {
  return judgeOpenTimestamps(anchor, { imprint, trust: { blocks: trusted ? [block] : [] }, at: aTime });
}

function* flips(bytes: Buffer): Generator<{ place: number; flipped: Buffer }> {
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    const flipped = Buffer.from(bytes);
    const place = bit >> 3;
    flipped[place] = (flipped[place] ?? 0) ^ (1 << (bit & 7));
    yield { place, flipped };
  }
}

test('every flipped bit of a pruned file fails', async () => {
  assert.equal((await judge(pruned.anchor, pruned)).status, 'pass');
  for (const { place, flipped } of flips(pruned.file)) {
    const { status } = await judge(anchorOf(flipped, pruned.block), pruned);
    assert.equal(status, 'fail', `a bit of byte ${place}`);
  }
});

test('every flipped bit of a larger file fails, or is in a part that no block vouches for', async () => {
  const sound = await judge(upgraded.anchor, upgraded);
  assert.equal(sound.status, 'pass');
  const changedNothing = new Map<string, number>(upgraded.unproved.map(({ what }) => [what, 0]));
  for (const { place, flipped } of flips(upgraded.file)) {
    const judgement = await judge(anchorOf(flipped, upgraded.block), upgraded);
    if (judgement.status === 'fail') continue;
    assert.deepEqual(judgement, sound, `a bit of byte ${place}`);
    const { what } =
      upgraded.unproved.find(({ start, end }) => place >= start && place < end) ??
      assert.fail(`a bit of byte ${place} passes`);
    changedNothing.set(what, (changedNothing.get(what) ?? 0) + 1);
  }
  for (const [what, flips] of changedNothing) assert.ok(flips > 0, what);
});

test('every flipped bit of a header fails where its hash is trusted, and passes nowhere', async () => {
  const header = Buffer.from(pruned.block.header.slice(2), 'hex');
  for (const { place, flipped } of flips(header)) {
    const anchor = anchorOf(pruned.file, { ...pruned.block, header: `0x${flipped.toString('hex')}` });
    assert.equal((await judge(anchor, pruned)).status, 'fail', `a bit of byte ${place}`);
    // The Merkle root is in bytes 36 to 67. Otherwise only half of the hashes are too large for so little work.
    const { status } = await judge(anchor, pruned, false);
    assert.ok(status === 'fail' || (status === 'untrusted' && (place < 36 || place > 67)), `byte ${place}`);
  }
});

test('every flipped bit of a height fails', async () => {
  const [header = assert.fail()] = pruned.anchor.headers;
  for (let bit = 0; bit < 32; bit += 1) {
    const height = (header.height ^ (1 << bit)) >>> 0;
    const anchor = { ...pruned.anchor, headers: [{ ...header, height }] };
    assert.equal((await judge(anchor, pruned)).status, 'fail', `bit ${bit}`);
  }
});

test('every changed character of the base64 fails', async () => {
  const { proof } = pruned.anchor;
  for (let place = 0; place < proof.length; place += 1) {
    for (const character of ['A', '/', '=', ' ', '-']) {
      if (proof[place] === character) continue;
      const changed = proof.slice(0, place) + character + proof.slice(place + 1);
      const { status } = await judge({ ...pruned.anchor, proof: changed }, pruned);
      assert.equal(status, 'fail', `${character} at ${place}`);
    }
  }
});

test('a file that was cut short or made longer fails', async () => {
  for (let length = 0; length < upgraded.file.length; length += 1) {
    const { status } = await judge(anchorOf(upgraded.file.subarray(0, length), upgraded.block), upgraded);
    assert.equal(status, 'fail', `${length}`);
  }
  const longer = Buffer.concat([upgraded.file, Buffer.from([0])]);
  assert.equal((await judge(anchorOf(longer, upgraded.block), upgraded)).status, 'fail');
});

test('no mixture of the bytes of good files passes as anything else, and none throws', async () => {
  const sound = await judge(upgraded.anchor, upgraded);
  const files = [upgraded.file, pruned.file, provedAnchor({ height: 5 }).file];
  const piece = fc.record({
    of: fc.nat(2),
    from: fc.nat(700),
    to: fc.nat(700),
    noise: fc.uint8Array({ maxLength: 3 }),
  });
  const edits = fc.array(fc.record({ piece, at: fc.nat(700), removed: fc.nat(60) }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(edits, async (all) => {
      let bytes = upgraded.file;
      for (const { piece, at, removed } of all) {
        const source = files[piece.of] ?? upgraded.file;
        const inserted = source.subarray(Math.min(piece.from, piece.to), Math.max(piece.from, piece.to));
        bytes = Buffer.concat([bytes.subarray(0, at), inserted, piece.noise, bytes.subarray(at + removed)]);
      }
      const judgement = await judge(anchorOf(bytes, upgraded.block), upgraded);
      if (judgement.status !== 'fail') assert.deepEqual(judgement, sound);
    }),
    { numRuns: 2_000 },
  );
});

test('random bytes after a good start are judged without an exception', async () => {
  const start = detachedFile(upgraded.imprint);
  // Mostly bytes that mean something.
  const byte = fc.oneof(fc.constantFrom(0, 1, 2, 3, 8, 0x67, 0xf0, 0xf1, 0xf2, 0xf3, 0xff), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 80 }), async (rest) => {
      const bytes = Buffer.concat([start, Buffer.from(rest)]);
      assert.notEqual((await judge(anchorOf(bytes, upgraded.block), upgraded)).status, 'pass');
    }),
    { numRuns: 3_000 },
  );
});

test('the most expensive files are judged in little time', async () => {
  const digest = sha256(Buffer.from('expensive'));
  const fork = Buffer.from([0xff]);
  const header = { ...pruned.block, height: 5 };
  const long = Buffer.concat([Buffer.from([0xf0]), sized(Buffer.alloc(4064))]);
  const many = (count: number, part: (place: number) => Buffer) =>
    Array.from({ length: count }, (_, place) => part(place));
  const files = {
    'one message of 4,096 bytes, turned around until the bound': [
      long,
      Buffer.alloc(62, 0xf2),
      bitcoinAttestation(5),
    ],
    // Up to 2,048 bytes by doubling, then hashed again: 8 bytes of the file for 4,064 bytes of results.
    'hashes of long messages': [
      ...many(31, () => Buffer.from([0xf3, 0xf3, 0xf3, 0xf3, 0xf3, 0xf3, 0x67])),
      bitcoinAttestation(5),
    ],
    'as many branches as fit': [
      ...many(4_000, (place) =>
        Buffer.concat([fork, Buffer.from([0xf0, 2, place >> 8, place & 255]), bitcoinAttestation(5)]),
      ),
      bitcoinAttestation(5),
    ],
    'as many attestations as fit': [
      ...many(3_000, (place) => Buffer.concat([fork, pendingAttestation(`${place}`)])),
      bitcoinAttestation(5),
    ],
  };
  for (const [what, parts] of Object.entries(files)) {
    const anchor = anchorOf(detachedFile(digest, ...parts), header);
    const given = { imprint: digest, trust: { blocks: [] }, at: aTime };
    const began = threadCpuMs();
    const judgement = await judgeOpenTimestamps(anchor, given);
    const took = threadCpuMs() - began;
    // Read to the end: it fails only because the header is of another block.
    assert.match(JSON.stringify(judgement), /does not lead to the Merkle root/, what);
    assert.ok(took < 1_000, `${what}: ${took} ms`);
  }
});
