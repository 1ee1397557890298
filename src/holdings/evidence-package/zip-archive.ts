/** A ZIP archive that is written while it is read: file by file, never further ahead than the reader. */
import { type PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

export interface PackagedFile {
  path: string;
  bytes: Uint8Array | StoredBytes;
}

/** Bytes that are read when it is their turn. */
export interface StoredBytes {
  size: number;
  read(): Promise<AsyncIterable<Uint8Array>>;
}

/** The stream fails when a file cannot be read, so that nobody takes the archive for a complete one. */
export function zipFiles(files: PackagedFile[], madeAt: Date): Readable {
  const zip = new ZipFile();
  const stream = zip.outputStream as PassThrough;
  const options = { mtime: madeAt, mode: 0o100644 };
  let current: Readable | null = null;
  stream.on('close', () => current?.destroy());

  async function write(): Promise<void> {
    for (const { path, bytes } of files) {
      if (stream.destroyed) return;
      if (bytes instanceof Uint8Array) {
        zip.addBuffer(Buffer.from(bytes), path, options);
        continue;
      }
      const { size, read } = bytes;
      current = Readable.from(await read(), { objectMode: false });
      zip.addReadStream(current, path, { ...options, size, compress: false });
      await finished(current);
    }
    zip.end();
  }
  const fail = (error: Error): void => void stream.destroy(error);
  zip.on('error', fail);
  write().catch(fail);
  return stream;
}
