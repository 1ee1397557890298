/** The leaves of a head's evidence, from the hashes of its items: for 100,000 in turns, so that requests are not kept waiting. */
import { setImmediate } from 'node:timers/promises';
import { evidenceLeaf } from '../../proof/head.ts';
import { type Keccak, loadKeccak } from '../../proof/keccak.ts';

/** About 5 ms. */
const atOnce = 500;

let loading: Promise<Keccak> | undefined;

/** 32 bytes each, in the same order. */
export async function evidenceLeavesOf(hashes: readonly Uint8Array[]): Promise<Uint8Array> {
  const leaves = new Uint8Array(32 * hashes.length);
  if (hashes.length === 0) return leaves;
  loading ??= loadKeccak();
  const keccak = await loading;
  for (const [place, sha256] of hashes.entries()) {
    if (place > 0 && place % atOnce === 0) await setImmediate();
    leaves.set(evidenceLeaf(sha256, keccak), 32 * place);
  }
  return leaves;
}
