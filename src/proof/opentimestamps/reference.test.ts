/** The same files in our hands and in those of the reference implementation. */
import assert from 'node:assert/strict';
import {
  anchorOf,
  aTime,
  provedAnchor,
  upgradedAnchor,
} from '../../../test/support/opentimestamps/proved-anchor.ts';
import { askReference, type ReferenceAttestation } from '../../../test/support/opentimestamps/reference.ts';
import { anyFile } from '../../../test/support/opentimestamps/timestamp-arbitraries.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { fc } from '../../../test/support/service/properties.ts';
import { seed } from '../../../test/support/service/seed.ts';
import { bitcoinIn, pendingIn, smallestBitcoin } from './commitments.ts';
import { judgeOpenTimestamps } from './judge.ts';
import { MalformedTimestamp, readDetachedFile } from './read.ts';
import { attestedIn, type DetachedFile, prunedTo } from './timestamp.ts';
import { mergeFiles, writeDetachedFile } from './write.ts';

const { test } = needs('python3-opentimestamps');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Buffer.from(text, 'hex');
const headerOf = ({ height, header }: { height: number; header: string }): [number, string] => [
  height,
  header.slice(2),
];

/** What we find in a file, in the words of the reference. */
function attestationsOf(file: DetachedFile): ReferenceAttestation[] {
  const pending = pendingIn(file).map(
    ({ commitment, uri }): ReferenceAttestation => [hex(commitment), 'pending', uri],
  );
  const bitcoin = bitcoinIn(file).map(
    ({ merkleRoot, height }): ReferenceAttestation => [hex(merkleRoot), 'bitcoin', height],
  );
  return [...pending, ...bitcoin].sort();
}

const comparable = (all: ReferenceAttestation[]) =>
  all.filter(([, kind]) => kind === 'pending' || kind === 'bitcoin').sort();

test('what the reference writes is read with the same messages, and written the same', async () => {
  const [{ files } = assert.fail()] = askReference('make', [{ seed, count: 200 }]);
  const answers = askReference(
    'read',
    files.map((file) => ({ file })),
  );
  assert.ok(files.length === 200 && files.some((file) => file.length > 4_000));
  for (const [place, written] of files.entries()) {
    const file = readDetachedFile(bytesOf(written));
    assert.equal(hex(writeDetachedFile(file)), written);
    const answer = answers[place];
    assert.ok(answer?.error === undefined, answer?.error);
    assert.equal(attestedIn(file.tree).length, answer?.attestations.length);
    assert.deepEqual(attestationsOf(file), comparable(answer?.attestations ?? []));
  }
});

test('what we write is read by the reference with the same messages, and written the same', async () => {
  const files = fc.sample(anyFile, 150);
  const questions = files.map((file) => ({ file: hex(writeDetachedFile(file)) }));
  for (const [place, answer] of askReference('read', questions).entries()) {
    assert.ok(answer.error === undefined, answer.error);
    assert.equal(answer.written, questions[place]?.file);
    assert.deepEqual(comparable(answer.attestations), attestationsOf(files[place] ?? assert.fail()));
  }
});

test('both merge alike', () => {
  const pairs = fc
    .sample(fc.tuple(anyFile, anyFile), 60)
    .map(([one, other]) => ({ one, other: { ...other, digest: one.digest } }));
  const answers = askReference(
    'merge',
    pairs.map(({ one, other }) => ({
      one: hex(writeDetachedFile(one)),
      other: hex(writeDetachedFile(other)),
    })),
  );
  for (const [place, { one, other }] of pairs.entries()) {
    const merged = mergeFiles(one, other);
    assert.ok(merged);
    assert.equal(hex(writeDetachedFile(merged)), answers[place]?.written);
  }
});

test('both find the same block for a file, as it was and pruned, and refuse a header of another', async () => {
  const proved = upgradedAnchor();
  const { imprint, block } = proved;
  const upgraded = readDetachedFile(proved.file);
  const { attested } = smallestBitcoin(upgraded) ?? assert.fail();
  const pruned = writeDetachedFile(prunedTo(upgraded, attested));
  const other = { ...provedAnchor({ of: 'other' }).block };
  for (const file of [proved.file, pruned]) {
    const [right, wrong] = askReference('verify', [
      { file: hex(file), headers: [headerOf(block)] },
      { file: hex(file), headers: [headerOf(other)] },
    ]);
    assert.deepEqual(right, { times: [aTime / 1000], hashes: { [block.height]: block.hash.slice(2) } });
    assert.deepEqual(wrong, { error: 'Digest does not match merkleroot' });
    const given = { imprint, trust: { blocks: [block] }, at: aTime };
    const judgement = await judgeOpenTimestamps(anchorOf(file, block), given);
    assert.equal(judgement.status === 'pass' && judgement.time, aTime);
    assert.equal((await judgeOpenTimestamps(anchorOf(file, other), given)).status, 'fail');
  }
});

test('whatever we accept of damaged files, the reference reads alike; we refuse more only for a stated reason', async () => {
  const { file } = upgradedAnchor();
  const damaged: Buffer[] = [];
  for (let bit = 0; bit < 8 * file.length; bit += 1) {
    const flipped = Buffer.from(file);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    damaged.push(flipped);
  }
  const answers = askReference(
    'read',
    damaged.map((bytes) => ({ file: hex(bytes) })),
  );
  // The reference accepts numbers of any length and form, and the last of operations that are the same.
  const stricter = /too large|needless zeros|repeats/;
  let accepted = 0;
  for (const [place, bytes] of damaged.entries()) {
    const answer = answers[place] ?? assert.fail();
    try {
      const ours = readDetachedFile(bytes);
      assert.ok(answer.error === undefined, `flip ${place}: ${answer.error}`);
      assert.deepEqual(attestationsOf(ours), comparable(answer.attestations), `flip ${place}`);
      accepted += 1;
    } catch (error) {
      assert.ok(error instanceof MalformedTimestamp, String(error));
      assert.ok(
        answer.error !== undefined || stricter.test(error.message),
        `flip ${place}: ${error.message}`,
      );
    }
  }
  assert.ok(accepted > 1_000 && accepted < damaged.length, `${accepted} of ${damaged.length}`);
});
