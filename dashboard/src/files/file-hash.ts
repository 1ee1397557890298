/** Hashes a file locally: its bytes do not leave the browser. */

/** Bytes in memory at a time. */
export const pieceBytes = 4 * 1024 * 1024;

export interface Progress {
  signal: AbortSignal;
  /** From 0 to 1. */
  tell(part: number): void;
}

/** In the API's form: 0x and hex. */
export async function hashFile(file: Blob, { signal, tell }: Progress): Promise<string> {
  const { startHash } = await import('./sha256.ts');
  const hash = await startHash();
  for (let start = 0; start < file.size; start += pieceBytes) {
    signal.throwIfAborted();
    hash.add(await readPiece(file, start));
    tell(Math.min(1, (start + pieceBytes) / file.size));
  }
  return `0x${hash.end()}`;
}

export async function readPiece(file: Blob, start: number): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.slice(start, start + pieceBytes).arrayBuffer());
  } catch {
    throw new Error('The file could not be read. It may have been changed or moved: choose it again.');
  }
}
