/** The thread that makes key pairs; see key-pairs.ts. A message with a number is answered with that many pairs. */
import { randomBytes } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';
import { createKeccak } from 'hash-wasm';

const keccak = await createKeccak(256);
/** Imported from its own file: the whole package would take another 25 MB per thread. */
const secp256k1 = await instantiateSecp256k1(randomBytes(32));
/** A private key, followed by the 40 hex digits of its address as text. */
const pairBytes = 72;

parentPort?.on('message', (count: number) => {
  const pairs = new Uint8Array(count * pairBytes);
  for (let made = 0; made < count; ) {
    const privateKey = randomBytes(32);
    // Zero and numbers not below the curve's order are refused: draws again.
    const publicKey = secp256k1.derivePublicKeyUncompressed(privateKey);
    if (typeof publicKey === 'string') continue;
    const digits = keccak.init().update(publicKey.subarray(1)).digest('hex').slice(24);
    pairs.set(privateKey, made * pairBytes);
    pairs.set(Buffer.from(withChecksum(digits)), made * pairBytes + 32);
    privateKey.fill(0);
    made += 1;
  }
  parentPort?.postMessage(pairs, [pairs.buffer]);
});

/** EIP-55: a digit is upper case where the hash of the lower-case digits has a hex digit of 8 or more. */
function withChecksum(digits: string): string {
  const hash = keccak.init().update(digits).digest('hex');
  return Array.from(digits, (digit, place) =>
    (hash[place] ?? '0') >= '8' ? digit.toUpperCase() : digit,
  ).join('');
}
