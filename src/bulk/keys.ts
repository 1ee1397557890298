/** Idempotency-Keys of an import: the same part of the same input gets the same key on every machine. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** `plan` is all that determines what is made of the input: the vault, the mapping. `part` is a range of lines, or a path. */
export function importKey(of: { digest: string; plan: string; part: string }): string {
  const text = JSON.stringify(['holdfast/import@1', of.digest, of.plan, of.part]);
  return `import-${bytesToHex(sha256(new TextEncoder().encode(text)))}`;
}

export function lineRange(rows: { line: number }[]): string {
  return `${rows.at(0)?.line}-${rows.at(-1)?.line}`;
}
