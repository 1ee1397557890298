/** Hash and size of streamed bytes that are not stored. */
import { createHash } from 'node:crypto';
import { AppError } from '../runtime/errors.ts';

export interface Digest {
  /** SHA-256. */
  contentHash: Buffer;
  size: number;
}

/** Throws AppError payload_too_large as soon as the limit is exceeded; errors of the source pass through unchanged. */
export async function digestOf(
  bytes: AsyncIterable<Uint8Array>,
  { maxBytes }: { maxBytes: number },
): Promise<Digest> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    hash.update(piece);
  }
  return { contentHash: hash.digest(), size };
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `The file is larger than the limit of ${maxBytes} bytes.`);
}
