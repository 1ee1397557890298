/** Files as an import knows them: by their path in the folder, and their content. */
import { importKey } from './keys.ts';
import type { Made } from './run.ts';

export interface HashedFile {
  path: string;
  /** SHA-256 in hex. */
  digest: string;
}

/** `hashes`: only the hash of each file is sent. */
export function filesPlan(vault: string, kind: 'files' | 'hashes' = 'files'): string {
  return JSON.stringify({ kind, vault: vault.toLowerCase() });
}

export function fileKey(plan: string, { path, digest }: HashedFile): string {
  return importKey({ digest, plan, part: path });
}

/** `before`: what was made of the file with this path. A file that has changed since would be a second one. */
export function changedFault(before: Made | null, key: string): string | null {
  if (before === null || before.key === key) return null;
  return `It has changed since it was imported as ${before.ids[0]}. Add a version to that file instead.`;
}
