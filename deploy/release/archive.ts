/** Writes a folder as a tar that depends on its content alone: sorted, of one time, of nobody in particular. */
import {
  createReadStream,
  createWriteStream,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import tar from 'tar-stream';

export interface ArchiveOptions {
  folder: string;
  file: string;
  /** Put before each name. */
  prefix: string;
  time: Date;
  compressed?: boolean;
}

const smallBytes = 1024 * 1024;

export async function writeArchive({
  folder,
  file,
  prefix,
  time,
  compressed,
}: ArchiveOptions): Promise<void> {
  const pack = tar.pack();
  const bytes = pack as unknown as Readable;
  const target = createWriteStream(file);
  const written = compressed ? pipeline(bytes, createGzip({ level: 9 }), target) : pipeline(bytes, target);
  const filling = fill(pack, { folder, prefix, time }).catch((error) => {
    pack.destroy(error);
    throw error;
  });
  await Promise.all([written, filling]);
}

async function fill(
  pack: tar.Pack,
  { folder, prefix, time }: Pick<ArchiveOptions, 'folder' | 'prefix' | 'time'>,
): Promise<void> {
  // With those that begin with a dot: node_modules/.bin has the link to Node.js.
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of names.sort()) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    const common = { name: prefix + name, mtime: time, uid: 0, gid: 0, uname: '', gname: '' };
    if (stats.isDirectory()) continue;
    if (stats.isSymbolicLink()) {
      pack.entry({ ...common, type: 'symlink', linkname: readlinkSync(path), mode: 0o777 });
      continue;
    }
    const entry = pack.entry({ ...common, size: stats.size, mode: stats.mode & 0o100 ? 0o755 : 0o644 });
    // Of twelve thousand files nearly all are small: a stream for each would take most of the time.
    if (stats.size <= smallBytes) await pipeline([readFileSync(path)], entry);
    else await pipeline(createReadStream(path), entry);
  }
  pack.finalize();
}
