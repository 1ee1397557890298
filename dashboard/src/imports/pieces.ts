/** Reads a chosen file piece by piece, so that a large one is never in memory and the page stays usable. */
import { type Progress, pieceBytes, readPiece } from '../files/file-hash.ts';

/** What a file was when it was first read. */
export interface KnownContent {
  /** SHA-256 in hex. */
  digest: string;
  /** A digest of each piece. */
  marks: Uint8Array[];
}

/** Rows of so many bytes are read in a few milliseconds. */
const turnBytes = 32 * 1024;

export async function contentOf(file: Blob, { signal, tell }: Progress): Promise<KnownContent> {
  const { startHash } = await import('../files/sha256.ts');
  const hash = await startHash();
  const marks: Uint8Array[] = [];
  for (let start = 0; start < file.size; start += pieceBytes) {
    signal.throwIfAborted();
    const piece = await readPiece(file, start);
    hash.add(piece);
    marks.push(await markOf(piece));
    tell(Math.min(1, (start + pieceBytes) / file.size));
  }
  return { digest: hash.end(), marks };
}

/** `known`: nothing of a piece is used before it is known to be the same as then. */
export async function* piecesOf(file: Blob, known: KnownContent | null): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; start += pieceBytes) {
    const piece = await readPiece(file, start);
    if (known && !isSame(await markOf(piece), known.marks[start / pieceBytes]))
      throw new Error('The file was changed while it was read. Choose it again.');
    for (let at = 0; at < piece.length; at += turnBytes) {
      await turnOfPage();
      yield piece.subarray(at, at + turnBytes);
    }
  }
}

async function markOf(piece: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', piece as Uint8Array<ArrayBuffer>));
}

function isSame(now: Uint8Array, then: Uint8Array | undefined): boolean {
  return then !== undefined && now.every((byte, at) => byte === then[at]);
}

/** Lets the page draw and answer its user. Timers would wait a second in a page that is in the background. */
function turnOfPage(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
