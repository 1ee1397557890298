/** The thread that makes key pairs; see key-pairs.ts. Asked for a number, it answers with that many pairs. */
import { randomBytes } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { secp256k1 } from '@bitauth/libauth';
import { createKeccak } from 'hash-wasm';

const keccak = await createKeccak(256);

parentPort?.on('message', (count: number) => {
  const pairs = new Uint8Array(count * 52);
  for (let made = 0; made < count; ) {
    const privateKey = randomBytes(32);
    // Refuses zero and numbers not below the curve's order: draw again.
    const publicKey = secp256k1.derivePublicKeyUncompressed(privateKey);
    if (typeof publicKey === 'string') continue;
    const address = keccak.init().update(publicKey.subarray(1)).digest('binary').subarray(12);
    pairs.set(privateKey, made * 52);
    pairs.set(address, made * 52 + 32);
    privateKey.fill(0);
    made += 1;
  }
  parentPort?.postMessage(pairs, [pairs.buffer]);
});
