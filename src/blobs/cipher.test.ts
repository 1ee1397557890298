/** The encryption of blobs: every range reads back, and tampered bytes are rejected. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fc } from '../../test/support/service/properties.ts';
import {
  BlobDamaged,
  chunkBytes,
  decryptChunks,
  encryptChunks,
  keyBytes,
  storedBytes,
  storedRange,
  tagBytes,
} from './cipher.ts';

const key = randomBytes(keyBytes);
const storedChunk = chunkBytes + tagBytes;
/** Sizes at and around chunk borders. */
const sizes = fc.oneof(
  fc.nat(64),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -2, max: 2 }))
    .map(([n, d]) => n * chunkBytes + d),
  fc.nat(3 * chunkBytes),
);
const runs = { numRuns: 60 };

async function* inPieces(bytes: Buffer, pieceBytes: number) {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes);
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

function contentOf(size: number): Buffer {
  return randomBytes(size);
}

function read(stored: Buffer, { size, range }: { size: number; range?: { start: number; end: number } }) {
  const { start, end } = storedRange(size, range);
  return gather(decryptChunks(inPieces(stored.subarray(start, end), 50_000), key, { size, range }));
}

test('any range equals the slice of the plaintext, whatever the chunking of the input', async () => {
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.integer({ min: 1_000, max: 300_000 }),
      fc.nat(),
      fc.nat(),
      async (size, piece, a, b) => {
        const content = contentOf(size);
        const stored = await gather(encryptChunks(inPieces(content, piece), key));
        assert.equal(stored.length, storedBytes(size));
        assert.ok((await read(stored, { size })).equals(content), 'whole');
        const [start = 0, end = 0] = [a % (size + 1), b % (size + 1)].sort((a, b) => a - b);
        assert.ok(
          (await read(stored, { size, range: { start, end } })).equals(content.subarray(start, end)),
          'range',
        );
      },
    ),
    runs,
  );
});

test('a range reads only the chunks that it touches', () => {
  const size = 10 * chunkBytes;
  const range = { start: 3 * chunkBytes + 5, end: 4 * chunkBytes + 1 };
  assert.deepEqual(storedRange(size, range), { start: 3 * storedChunk, end: 5 * storedChunk });
});

test('refuses any flipped bit, in the whole and in a range that includes it', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), fc.nat(7), async (size, at, bit) => {
      const stored = await gather(encryptChunks(inPieces(contentOf(size), 65_536), key));
      const place = at % stored.length;
      stored.writeUInt8(stored.readUInt8(place) ^ (1 << bit), place);
      await assert.rejects(read(stored, { size }), BlobDamaged);
      const start = Math.floor(place / storedChunk) * chunkBytes;
      if (start < size)
        await assert.rejects(read(stored, { size, range: { start, end: start + 1 } }), BlobDamaged);
    }),
    runs,
  );
});

test('refuses swapped chunks, a truncated end, and appended bytes', async () => {
  const size = 3 * chunkBytes;
  const stored = await gather(encryptChunks(inPieces(contentOf(size), 65_536), key));
  const chunk = (number: number) => stored.subarray(number * storedChunk, (number + 1) * storedChunk);
  const swapped = Buffer.concat([chunk(1), chunk(0), chunk(2)]);
  const lastElsewhere = Buffer.concat([chunk(0), chunk(2), chunk(1)]);
  const twice = Buffer.concat([stored, chunk(2)]);
  for (const wrong of [
    swapped,
    lastElsewhere,
    twice,
    Buffer.concat([stored, Buffer.alloc(1)]),
    Buffer.alloc(0),
  ]) {
    await assert.rejects(read(wrong, { size }), BlobDamaged);
  }
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: stored.length }), async (cut) => {
      await assert.rejects(read(stored.subarray(0, stored.length - cut), { size }), BlobDamaged);
    }),
    runs,
  );
});

test('refuses an end cut off at a chunk boundary, even if the smaller size is expected', async () => {
  const size = 3 * chunkBytes;
  const stored = await gather(encryptChunks(inPieces(contentOf(size), 65_536), key));
  await assert.rejects(read(stored.subarray(0, 2 * storedChunk), { size: 2 * chunkBytes }), BlobDamaged);
});

test('a wrong key decrypts nothing, and an empty blob is authenticated too', async () => {
  const stored = await gather(encryptChunks(inPieces(Buffer.alloc(0), 1), key));
  assert.equal(stored.length, tagBytes);
  assert.equal((await read(stored, { size: 0 })).length, 0);
  await assert.rejects(
    gather(decryptChunks(inPieces(stored, 16), randomBytes(keyBytes), { size: 0 })),
    BlobDamaged,
  );
});
