/** The format of OpenTimestamps proofs: read, written, merged, pruned, and every bound of it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { provedAnchor, upgradedAnchor } from '../../../test/support/opentimestamps/proved-anchor.ts';
import { anyFile } from '../../../test/support/opentimestamps/timestamp-arbitraries.ts';
import {
  attestation,
  bitcoinAttestation,
  detachedFile,
  pendingAttestation,
  sha256,
  sized,
} from '../../../test/support/opentimestamps/trails.ts';
import { fc } from '../../../test/support/service/properties.ts';
import { loadKeccak } from '../keccak.ts';
import { bitcoinIn, pendingIn, smallestBitcoin } from './commitments.ts';
import { applyOperation } from './operations.ts';
import { MalformedTimestamp, readDetachedFile, readTimestamp } from './read.ts';
import { sha1 } from './sha1.ts';
import { attestedIn, prunedTo } from './timestamp.ts';
import { mergeFiles, writeDetachedFile } from './write.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const digest = sha256(Buffer.from('digest'));
const end = bitcoinAttestation(7);
const fork = Buffer.from([0xff]);
const repeated = (byte: number, times: number) => Buffer.alloc(times, byte);
const appending = (length: number) =>
  Buffer.concat([[0xf0], sized(Buffer.alloc(length))].map((part) => Buffer.from(part)));
const read = (...timestamp: Uint8Array[]) => readDetachedFile(detachedFile(digest, ...timestamp));

function refuses(reason: RegExp, ...timestamp: Uint8Array[]): void {
  assert.throws(
    () => read(...timestamp),
    (error) => error instanceof MalformedTimestamp && reason.test(error.message),
  );
}

test('what is written is read again, and written the same', () => {
  fc.assert(
    fc.property(anyFile, (file) => {
      const bytes = writeDetachedFile(file);
      assert.deepEqual(writeDetachedFile(readDetachedFile(bytes)), bytes);
    }),
  );
});

test('a file keeps its parts whatever their order, and is written in the order of the reference implementation', () => {
  const { file } = upgradedAnchor();
  const [pending, bitcoin] = [pendingAttestation('https://a.example'), bitcoinAttestation(300)];
  const ordered = detachedFile(digest, fork, bitcoin, fork, pending, Buffer.from([0x08]), end);
  const other = detachedFile(digest, fork, pending, fork, Buffer.from([0x08]), end, bitcoin);
  assert.deepEqual(Buffer.from(writeDetachedFile(readDetachedFile(other))), ordered);
  assert.deepEqual(attestedIn(readDetachedFile(file).tree).length, 5);
});

test('heights are ordered as numbers, and addresses as text', () => {
  const parts = [
    bitcoinAttestation(128),
    bitcoinAttestation(5),
    pendingAttestation('b'),
    pendingAttestation('aa'),
  ];
  const mixed = parts.flatMap((part, place) => (place < 3 ? [fork, part] : [part]));
  const found = attestedIn(readDetachedFile(writeDetachedFile(read(...mixed))).tree).map(
    ({ attestation }) => attestation,
  );
  assert.deepEqual(found, [
    { kind: 'bitcoin', height: 5 },
    { kind: 'bitcoin', height: 128 },
    { kind: 'pending', uri: 'aa' },
    { kind: 'pending', uri: 'b' },
  ]);
});

test('each operation gives what other implementations give', async () => {
  const message = Uint8Array.from({ length: 70 }, (_, place) => place * 3);
  const argument = Uint8Array.of(1, 2);
  const keccak = await loadKeccak();
  const expected: [number, Uint8Array][] = [
    [0x02, createHash('sha1').update(message).digest()],
    [0x03, createHash('ripemd160').update(message).digest()],
    [0x08, createHash('sha256').update(message).digest()],
    [0x67, keccak(message)],
    [0xf0, Buffer.from([...message, 1, 2])],
    [0xf1, Buffer.from([1, 2, ...message])],
    [0xf2, Buffer.from(message).reverse()],
    [0xf3, Buffer.from(Buffer.from(message).toString('hex'))],
  ];
  for (const [tag, result] of expected) {
    assert.deepEqual(Buffer.from(applyOperation({ tag, argument }, message)), Buffer.from(result), `${tag}`);
  }
  assert.throws(() => applyOperation({ tag: 1, argument }, message));
});

test('SHA-1 is right for every length around its blocks', () => {
  for (const length of [...Array(200).keys(), 4096]) {
    const message = Uint8Array.from({ length }, (_, place) => place * length);
    assert.equal(hex(sha1(message)), createHash('sha1').update(message).digest('hex'), `${length}`);
  }
});

test('lengths are accepted up to their bounds, and refused beyond', () => {
  read(appending(4096 - 32), end);
  refuses(/message of more than 4096/, appending(4096 - 31), end);
  refuses(/4097 bytes where at most 4096/, repeated(0x08, 1), appending(4097), end);
  refuses(/adds nothing/, appending(0), end);
  read(appending(2048 - 32), repeated(0xf3, 1), end);
  refuses(/message of more than 4096/, appending(2048 - 31), repeated(0xf3, 1), end);
  read(attestation('0102030405060708', Buffer.alloc(8192)));
  refuses(/8193 bytes where at most 8192/, attestation('0102030405060708', Buffer.alloc(8193)));
  read(pendingAttestation('a'.repeat(1000)));
  refuses(/1001 bytes where at most 1000/, pendingAttestation('a'.repeat(1001)));
});

test('up to 255 operations follow each other', () => {
  read(repeated(0x08, 255), end);
  refuses(/more than 255 operations in a row/, repeated(0x08, 256), end);
  refuses(/more than 255 operations in a row/, repeated(0x08, 60_000), end);
});

test('a file has up to 65,536 bytes', () => {
  const unknown = (length: number, tag: number) =>
    attestation(`${tag}`.padStart(16, '0'), Buffer.alloc(length));
  const full = Array.from({ length: 7 }, (_, place) => [fork, unknown(8192, place)]).flat();
  const start = detachedFile(digest, ...full).length;
  const last = 65_536 - start - 11;
  assert.equal(detachedFile(digest, ...full, unknown(last, 8)).length, 65_536);
  read(...full, unknown(last, 8));
  refuses(/more than 65536 bytes/, ...full, unknown(last + 1, 8));
});

test('all results have up to 256 KiB together, so that no small file keeps a verifier busy', () => {
  // 4,096 bytes, which are then turned around by one byte each.
  const first = [fork, appending(4096 - 32), repeated(0xf2, 62), end];
  const second = Buffer.concat([Buffer.from([0xf1]), sized(Buffer.alloc(4096 - 32))]);
  read(...first, second, end);
  refuses(/more than 262144 bytes together/, ...first, second, repeated(0x02, 1), end);
});

test('a number has one form, and at most 32 bits', () => {
  const height = (...payload: number[]) => attestation('0588960d73d71901', Buffer.from(payload));
  assert.deepEqual(attestedIn(read(height(0xff, 0xff, 0xff, 0xff, 0x0f)).tree)[0]?.attestation, {
    kind: 'bitcoin',
    height: 2 ** 32 - 1,
  });
  assert.deepEqual(attestedIn(read(height(0)).tree)[0]?.attestation, { kind: 'bitcoin', height: 0 });
  refuses(/too large/, height(0x80, 0x80, 0x80, 0x80, 0x10));
  refuses(/too large/, height(...Array(400).fill(0x80), 1));
  refuses(/needless zeros/, height(0x80, 0x00));
  refuses(/needless zeros/, height(0x87, 0x80, 0x00));
  refuses(/ends too early/, height(0x80));
  refuses(/ends too early/, height());
  refuses(/1 bytes too many/, height(0x07, 0x00));
});

test('other things that no writer writes are refused', () => {
  refuses(/unknown operation, 255/, fork, fork, end, end);
  refuses(/unknown operation, 4/, Buffer.from([0x04]), end);
  refuses(/ends too early/);
  refuses(/ends too early/, fork, end);
  refuses(/1 bytes too many/, end, Buffer.from([0]));
  refuses(/repeats/, fork, end, end);
  refuses(/repeats/, fork, Buffer.from([0x08]), end, Buffer.from([0x08]), pendingAttestation('a'));
  refuses(/repeats/, fork, appending(3), end, appending(3), pendingAttestation('a'));
  refuses(/character that is not allowed/, pendingAttestation('https://a.example/?q'));
  refuses(/character that is not allowed/, pendingAttestation('https://ä.example'));
  refuses(/character that is not allowed/, pendingAttestation('https://a.example\n'));
  refuses(/1 bytes too many/, attestation('83dfe30d2ef90c8e', Buffer.from([0, 0])));
  const file = detachedFile(digest, end);
  const changed = (place: number, value: number) => () =>
    readDetachedFile(file.map((byte, at) => (at === place ? value : byte)));
  assert.throws(changed(0, 1), /is not an OpenTimestamps proof/);
  assert.throws(changed(31, 2), /has version 2, not 1/);
  assert.throws(changed(32, 0xf2), /unknown hash function, 242/);
});

test('a file that was cut short is refused at every length', () => {
  const { file } = upgradedAnchor();
  for (let length = 0; length < file.length; length += 1) {
    assert.throws(() => readDetachedFile(file.subarray(0, length)), MalformedTimestamp, `${length}`);
  }
  readDetachedFile(file);
});

test('a timestamp alone is read for a message of the given length', () => {
  assert.deepEqual(readTimestamp(end, 44), { attestations: [{ kind: 'bitcoin', height: 7 }], branches: [] });
  assert.throws(() => readTimestamp(Buffer.concat([appending(4053), end]), 44), /more than 4096/);
  readTimestamp(Buffer.concat([appending(4052), end]), 44);
});

test('merging adds what the other has, once, and is the same either way', () => {
  const merged = (one: Uint8Array, other: Uint8Array) => {
    const file = mergeFiles(readDetachedFile(one), readDetachedFile(other));
    return file === null ? null : Buffer.from(writeDetachedFile(file));
  };
  fc.assert(
    fc.property(anyFile, anyFile, (one, other) => {
      const [first, second] = [one, { ...other, digest: one.digest }].map(writeDetachedFile);
      assert.ok(first && second);
      const both = merged(first, second);
      assert.ok(both);
      assert.deepEqual(merged(second, first), both);
      assert.deepEqual(merged(both, first), both);
      assert.deepEqual(merged(first, first), Buffer.from(first));
    }),
    { numRuns: 40 },
  );
  assert.equal(merged(detachedFile(digest, end), detachedFile(sha256(digest), end)), null);
});

test('lists the calendars to ask, and for what', () => {
  const { file, imprint } = upgradedAnchor();
  const pending = pendingIn(readDetachedFile(file));
  assert.deepEqual(
    pending.map(({ uri }) => uri),
    ['https://one.example', 'https://two.example'],
  );
  assert.deepEqual(
    pending.map(({ complete }) => complete),
    [true, false],
  );
  const nonced = sha256(imprint, Buffer.alloc(16, 7));
  assert.deepEqual(
    Buffer.from(pending[1]?.commitment ?? []),
    Buffer.concat([Buffer.from('another calendar'), nonced]),
  );
});

test('pruning leaves the way to one block, which is the smallest file with that block', () => {
  const { file, block } = upgradedAnchor();
  const upgraded = readDetachedFile(file);
  const found = smallestBitcoin(upgraded);
  assert.ok(found);
  const pruned = prunedTo(upgraded, found.attested);
  const bytes = writeDetachedFile(pruned);
  assert.ok(bytes.length < file.length);
  assert.equal(attestedIn(readDetachedFile(bytes).tree).length, 1);
  const [commitment] = bitcoinIn(pruned);
  assert.equal(commitment?.height, block.height);
  assert.equal(
    Buffer.from(commitment?.merkleRoot ?? []).toString('hex'),
    block.header.slice(2 + 72, 2 + 136),
  );
  assert.equal(smallestBitcoin(read(pendingAttestation('a'))), null);
});

test('of several blocks the one with the shortest way is kept, or the shortest of those that fit', () => {
  const near = provedAnchor({ height: 900_000 }).file;
  const { imprint } = provedAnchor();
  const far = detachedFile(imprint, appending(700), Buffer.from([0x08]), bitcoinAttestation(5));
  const twin = detachedFile(imprint, appending(700), Buffer.from([0x08]), bitcoinAttestation(4));
  const all = [far, near, twin].map((bytes) => readDetachedFile(bytes));
  const merged = all.reduce((one, other) => mergeFiles(one, other) ?? assert.fail('other digest'));
  const kept = (fits?: (height: number) => boolean) => {
    const found = smallestBitcoin(merged, ({ height }) => fits?.(height) ?? true);
    return found && Buffer.from(writeDetachedFile(prunedTo(merged, found.attested)));
  };
  assert.deepEqual(kept(), near);
  assert.deepEqual(
    kept((height) => height === 5),
    far,
  );
  assert.deepEqual(
    kept((height) => height < 6),
    twin,
  );
  assert.equal(
    kept((height) => height > 900_000),
    null,
  );
});
