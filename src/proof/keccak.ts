/**
 * Keccak-256 twice: in plain JavaScript for the few hashes of one proof, in WebAssembly for whole batches. The second
 * was measured to be ten times as fast and has to be loaded first; its code is inside the package, nothing is fetched.
 */
import { createKeccak } from 'hash-wasm';
import { keccak256 } from 'viem/utils';

/** Gives 32 bytes of its own, which the next call leaves alone. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** Needs no WebAssembly, so that a page with a strict content security policy can check a proof. */
export const plainKeccak: Keccak = (bytes) => keccak256(bytes, 'bytes');

export async function loadKeccak(): Promise<Keccak> {
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest('binary');
}
