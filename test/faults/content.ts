/** The bytes of files: made anew from their seed whenever they are needed, so that no run has to keep them. */
import { createCipheriv, createHash, hash } from 'node:crypto';
import type { Random } from './random.ts';

export interface Content {
  seed: string;
  size: number;
  /** As the API gives it. */
  contentHash: string;
}

const mebibyte = 1 << 20;

/** Most are small; a few take several writes to the store. */
export function newContent(seed: string, random: Random): Content {
  const size = random.chance(0.1) ? random.between(mebibyte, 4 * mebibyte) : random.between(0, 3_000);
  return contentOf(seed, size);
}

export function contentOf(seed: string, size: number): Content {
  return { seed, size, contentHash: hashOf(bytesOf({ seed, size })) };
}

export function bytesOf({ seed, size }: Pick<Content, 'seed' | 'size'>): Buffer<ArrayBuffer> {
  const key = hash('sha256', seed, 'buffer');
  return Buffer.from(createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size)));
}

export function hashOf(bytes: Uint8Array): string {
  return `0x${createHash('sha256').update(bytes).digest('hex')}`;
}
