/**
 * The encryption of a blob: AES-256-GCM in chunks, so that any range can be read, under a key of its own. The nonce of
 * a chunk contains its number and whether it is the last one: a chunk that was changed, moved, left out or added cannot
 * be decrypted. (The STREAM construction, https://eprint.iacr.org/2015/189.)
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import type { ByteRange } from './blob-store.ts';

/** Larger chunks gain nothing, smaller ones cost time: 64 KiB a fifth more, 16 KiB twice as much. */
export const chunkBytes = 128 * 1024;
export const tagBytes = 16;
export const keyBytes = 32;

/** The stored bytes are not those that were written under this key. */
export class BlobDamaged extends Error {
  constructor(how: string) {
    super(`the stored bytes are damaged: ${how}`);
    this.name = 'BlobDamaged';
  }
}

/** The stored size of a blob with this plain size. */
export function storedBytes(size: number): number {
  return size + chunkCount(size) * tagBytes;
}

/**
 * The stored bytes that `decryptChunks` needs for a range. After the last chunk it includes one byte that must not
 * exist.
 */
export function storedRange(size: number, range: ByteRange = { start: 0, end: size }): ByteRange {
  const { first, last } = chunksOf(size, range);
  const storedChunk = chunkBytes + tagBytes;
  const toEnd = last === chunkCount(size) - 1;
  return { start: first * storedChunk, end: toEnd ? storedBytes(size) + 1 : (last + 1) * storedChunk };
}

/** Copies pieces of any size into one buffer, and encrypts it there before the next chunk comes. */
export async function* encryptChunks(bytes: AsyncIterable<Uint8Array>, key: Buffer): AsyncIterable<Buffer> {
  const secret = createSecretKey(key);
  const chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let filled = 0;
  let number = 0;
  for await (const piece of bytes) {
    for (let used = 0; used < piece.length; ) {
      // A full chunk waits until more bytes arrive: only then is it known not to be the last.
      if (filled === chunkBytes) {
        yield* encryptChunk(secret, { number, last: false }, chunk);
        number += 1;
        filled = 0;
      }
      const taken = Math.min(chunkBytes - filled, piece.length - used);
      chunk.set(piece.subarray(used, used + taken), filled);
      filled += taken;
      used += taken;
    }
  }
  yield* encryptChunk(secret, { number, last: true }, chunk.subarray(0, filled));
}

/** Decrypts the bytes of `storedRange` and yields the range. Throws BlobDamaged; yields nothing of a bad chunk. */
export async function* decryptChunks(
  stored: AsyncIterable<Uint8Array>,
  key: Buffer,
  { size, range = { start: 0, end: size } }: { size: number; range?: ByteRange | undefined },
): AsyncIterable<Buffer> {
  const secret = createSecretKey(key);
  const count = chunkCount(size);
  const { first, last } = chunksOf(size, range);
  let number = first;
  for await (const sealed of inChunks(stored, (place) => sizeOfChunk(first + place, size) + tagBytes)) {
    if (number > last) throw new BlobDamaged('there are more than there should be');
    const start = number * chunkBytes;
    const plain = decryptChunk(secret, { number, last: number === count - 1 }, sealed);
    const wanted = plain.subarray(Math.max(0, range.start - start), Math.max(0, range.end - start));
    number += 1;
    if (wanted.length > 0) yield wanted;
  }
  if (number <= last) throw new BlobDamaged('they end too soon');
}

interface ChunkPlace {
  number: number;
  last: boolean;
}

function* encryptChunk(key: KeyObject, place: ChunkPlace, plain: Buffer): Iterable<Buffer> {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(place));
  yield cipher.update(plain);
  cipher.final();
  yield cipher.getAuthTag();
}

function decryptChunk(key: KeyObject, place: ChunkPlace, sealed: Buffer): Buffer {
  if (sealed.length < tagBytes) throw new BlobDamaged('they end too soon');
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(place), { authTagLength: tagBytes });
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const plain = decipher.update(sealed.subarray(0, -tagBytes));
  try {
    decipher.final();
  } catch {
    throw new BlobDamaged(`chunk ${place.number} cannot be decrypted`);
  }
  return plain;
}

/** Never repeats under one key, since a key encrypts one blob once. */
function nonceOf({ number, last }: ChunkPlace): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
}

/** An empty blob has one chunk too, which authenticates that it is empty. */
function chunkCount(size: number): number {
  return Math.max(1, Math.ceil(size / chunkBytes));
}

function chunksOf(size: number, { start, end }: ByteRange): { first: number; last: number } {
  const final = chunkCount(size) - 1;
  const first = Math.min(final, Math.floor(start / chunkBytes));
  return { first, last: Math.min(final, Math.max(first, Math.ceil(end / chunkBytes) - 1)) };
}

/** One byte after the last chunk is enough to detect extra bytes. */
function sizeOfChunk(number: number, size: number): number {
  const left = size - number * chunkBytes;
  return number < chunkCount(size) ? Math.min(chunkBytes, left) : 1 - tagBytes;
}

/** Cuts a stream into pieces of given sizes, copying only those that span input pieces; the last may be shorter. */
async function* inChunks(
  bytes: AsyncIterable<Uint8Array>,
  sizeOf: (place: number) => number,
): AsyncIterable<Buffer> {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let place = 0;
  for await (const piece of bytes) {
    waiting.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    waitingBytes += piece.length;
    while (waitingBytes > 0 && waitingBytes >= sizeOf(place)) {
      const joined = waiting.length === 1 ? (waiting[0] as Buffer) : Buffer.concat(waiting);
      const size = sizeOf(place);
      yield joined.subarray(0, size);
      place += 1;
      waiting = [joined.subarray(size)];
      waitingBytes -= size;
    }
  }
  if (waitingBytes > 0) yield Buffer.concat(waiting);
}
