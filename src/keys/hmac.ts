/** HMAC-SHA-256 with a prepared key, for many short messages. */
import { createHash, hash } from 'node:crypto';

export type Hmac = (message: string, encoding: 'hex' | 'base64') => string;

/** The block size of SHA-256, to which a key is padded; and its digest size. */
const blockBytes = 64;
const digestBytes = 32;

/**
 * Computes two one-shot hashes, as in RFC 2104, instead of using the object of `createHmac`: creating that object and
 * collecting it as garbage costs several times as much as hashing a message of a few hundred bytes.
 */
export function createHmacSha256(key: Buffer): Hmac {
  const block = Buffer.alloc(blockBytes);
  (key.length > blockBytes ? createHash('sha256').update(key).digest() : key).copy(block);
  const inner = block.map((byte) => byte ^ 0x36);
  const outer = Buffer.concat([block.map((byte) => byte ^ 0x5c)], blockBytes + digestBytes);
  return (message, encoding) => {
    const padded = Buffer.allocUnsafe(blockBytes + Buffer.byteLength(message));
    padded.set(inner);
    padded.write(message, blockBytes);
    outer.write(hash('sha256', padded, 'binary'), blockBytes, 'binary');
    return hash('sha256', outer, encoding);
  };
}
