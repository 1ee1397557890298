/**
 * A ZIP archive that is written while it is read: file by file, never further ahead than the reader, and cancelled when the
 * reader disconnects.
 */
import { type PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

export interface ZipArchive {
  stream: Readable;
  /**
   * Resolves when the content has been read to its end; rejects when reading fails or the reader disconnects. With a size
   * the content is stored uncompressed and may be of any size; otherwise it is compressed and limited to 4 GiB.
   */
  add(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { size?: number },
  ): Promise<void>;
  end(): void;
  /** Aborts the archive, so that nobody takes it for a complete one. */
  fail(error: unknown): void;
}

export function createZipArchive(madeAt: Date): ZipArchive {
  const zip = new ZipFile();
  const stream = zip.outputStream as PassThrough;
  const options = { mtime: madeAt, mode: 0o100644 };
  let current: Readable | null = null;
  const fail = (error: unknown): void => {
    stream.destroy(error instanceof Error ? error : new Error(String(error)));
  };
  zip.on('error', fail);
  stream.on('close', () => current?.destroy());

  return {
    stream,
    async add(path, content, { size } = {}) {
      if (stream.destroyed) throw new Error('nobody reads the archive any more');
      if (content instanceof Uint8Array) {
        zip.addBuffer(Buffer.from(content), path, options);
        return;
      }
      current = Readable.from(content, { objectMode: false, highWaterMark: 64 * 1024 });
      zip.addReadStream(current, path, size === undefined ? options : { ...options, size, compress: false });
      await finished(current);
    },
    end: () => zip.end(),
    fail,
  };
}

export interface PackagedFile {
  path: string;
  bytes: Uint8Array | StoredBytes;
}

/** Bytes that are read when it is their turn. */
export interface StoredBytes {
  size: number;
  read(): Promise<AsyncIterable<Uint8Array>>;
}

/** The stream fails when a file cannot be read. */
export function zipFiles(files: PackagedFile[], madeAt: Date): Readable {
  const { stream, add, end, fail } = createZipArchive(madeAt);

  async function write(): Promise<void> {
    for (const { path, bytes } of files) {
      if (stream.destroyed) return;
      if (bytes instanceof Uint8Array) await add(path, bytes);
      else await add(path, await bytes.read(), { size: bytes.size });
    }
    end();
  }
  write().catch(fail);
  return stream;
}
