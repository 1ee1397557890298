/**
 * Two implementations of Keccak-256: plain JavaScript for the few hashes of one proof, WebAssembly for whole batches. The
 * second was measured to be ten times as fast, but has to be loaded first; its code is inside the package, nothing is
 * fetched.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { createKeccak } from 'hash-wasm';

/** Returns a new array of 32 bytes, which the next call does not overwrite. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** Needs no WebAssembly, so that a page with a strict content security policy can check a proof. */
export const plainKeccak: Keccak = (bytes) => keccak_256(bytes);

export async function loadKeccak(): Promise<Keccak> {
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest('binary');
}
