/**
 * A ZIP archive that is written while it is read: file by file, never further ahead than the reader, and cancelled when the
 * reader disconnects. Records the size and hash of every file for the list of contents.
 */
import { createHash } from 'node:crypto';
import { type PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { ListedFile } from '../dossier-check/dossier-format.ts';

export interface DossierArchive {
  stream: Readable;
  /** The files so far. */
  contents: ListedFile[];
  /**
   * Resolves when the content has been read to its end; rejects when reading fails or the reader disconnects. With a size
   * the content is stored uncompressed and may be of any size; otherwise it is compressed and limited to 4 GiB.
   */
  add(path: string, content: AsyncIterable<Uint8Array>, options?: { size?: number }): Promise<void>;
  end(): void;
  /** Aborts the archive, so that nobody takes it for a complete one. */
  fail(error: unknown): void;
}

export function createDossierArchive(madeAt: Date): DossierArchive {
  const zip = new ZipFile();
  const stream = zip.outputStream as PassThrough;
  const contents: ListedFile[] = [];
  let current: Readable | null = null;
  const fail = (error: unknown): void => {
    stream.destroy(error instanceof Error ? error : new Error(String(error)));
  };
  zip.on('error', fail);
  stream.on('close', () => current?.destroy());

  return {
    stream,
    contents,
    async add(path, content, { size } = {}) {
      if (stream.destroyed) throw new Error('nobody reads the archive any more');
      const hash = createHash('sha256');
      let bytes = 0;
      async function* watched(): AsyncGenerator<Uint8Array> {
        for await (const piece of content) {
          hash.update(piece);
          bytes += piece.length;
          yield piece;
        }
      }
      const source = Readable.from(watched(), { objectMode: false, highWaterMark: 64 * 1024 });
      current = source;
      const options = { mtime: madeAt, mode: 0o100644 };
      zip.addReadStream(source, path, size === undefined ? options : { ...options, size, compress: false });
      await finished(source);
      contents.push({ path, bytes, sha256: hash.digest('hex') });
    },
    end: () => zip.end(),
    fail,
  };
}

/** Small content that is in memory. */
export async function* whole(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof text === 'string' ? Buffer.from(text) : text;
}
