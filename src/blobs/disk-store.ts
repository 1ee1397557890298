/** The blob store on disk: writes a temporary file beside its final name, makes it durable, then renames it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { explainFileFault } from '../runtime/file-fault.ts';
import { BlobMissing, type BlobStore, type ByteRange, type StoredObject, StoreFailed } from './blob-store.ts';
import { giveBack } from './given-away.ts';
import { checkName, journalFolder, markerName } from './object-names.ts';
import { sourceOf } from './source.ts';

/** The number of bytes written to disk in one call, while the next are collected. */
const writtenAtOnceBytes = 1 << 20;
const readAtOnceBytes = 1 << 18;

/** `NAME.HOST-PID-NUMBER.part`: names the writer, so that leftovers of a dead process are recognised at once. */
const partName = /\.([0-9a-f]{8})-(\d+)-(\d+)\.part$/;

/** The temporary files that this process is writing, in any directory. */
const beingWritten = new Set<string>();
let partsMade = 0;

export async function openDiskStore(dir: string): Promise<BlobStore> {
  try {
    const made = await mkdir(dir, { recursive: true, mode: 0o700 });
    if (made !== undefined) await syncDirectories(dir, dirname(made));
  } catch (error) {
    throw explainFileFault(error, {
      what: 'The directory of the blob store',
      path: dir,
      setting: 'HOLDFAST_BLOB_URL',
    });
  }
  const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
  const pathOf = (name: string) => join(dir, checkName(name));

  return {
    async put(name, bytes, options) {
      const path = pathOf(name);
      partsMade += 1;
      const part = `${path}.${host}-${process.pid}-${partsMade}.part`;
      const source = sourceOf(bytes, options);
      beingWritten.add(part);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const file = await open(part, 'wx', 0o600);
        try {
          await writeAll(file, source.bytes, options?.givenAway ? giveBack : () => {});
          await file.datasync();
        } finally {
          await file.close();
        }
        await rename(part, path);
        await syncDirectories(dirname(path), dir);
        return { bytes: source.count() };
      } catch (error) {
        await rm(part, { force: true }).catch(() => {});
        throw source.blame(error);
      } finally {
        beingWritten.delete(part);
      }
    },
    get: (name, range) => readFrom(pathOf(name), { name, range }),
    async remove(name) {
      const path = pathOf(name);
      await rm(path, { force: true }).catch((error) => {
        throw new StoreFailed('remove', error);
      });
    },
    async *list(folder) {
      const journal = join(dir, journalFolder, sep);
      for await (const path of filesUnder(folder === undefined ? dir : join(dir, checkName(folder)))) {
        if (partName.test(path) || path === join(dir, markerName)) continue;
        if (folder === undefined && path.startsWith(journal)) continue;
        const found = await stat(path).catch(nullWhenMissing);
        if (found)
          yield {
            name: relative(dir, path),
            bytes: found.size,
            modifiedAt: found.mtime,
          } satisfies StoredObject;
      }
    },
    async removeUnfinished(olderThanMs) {
      let removed = 0;
      for await (const path of filesUnder(dir)) {
        if (!partName.test(path) || beingWritten.has(path)) continue;
        const found = await stat(path).catch(nullWhenMissing);
        if (!found || (!isLeftBehind(path, host) && Date.now() - found.mtimeMs < olderThanMs)) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    },
    close: async () => {},
  };
}

/** Collects up to a mebibyte while the previous one is being written. */
async function writeAll(
  file: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  onWritten: (piece: Uint8Array) => void,
): Promise<void> {
  let gathered: Uint8Array[] = [];
  let gatheredBytes = 0;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    const pieces = gathered;
    gathered = [];
    gatheredBytes = 0;
    await writing;
    writing = writePieces(file, pieces).then(() => pieces.forEach(onWritten));
    // Awaited before the next write; until then a failure must not count as an unhandled rejection.
    writing.catch(() => {});
  };
  try {
    for await (const piece of bytes) {
      gathered.push(piece);
      gatheredBytes += piece.length;
      if (gatheredBytes >= writtenAtOnceBytes) await write();
    }
    if (gatheredBytes > 0) await write();
  } finally {
    // Also after a failure, because the file is closed and removed next.
    await writing;
  }
}

/** The system may write fewer bytes than requested. */
async function writePieces(file: FileHandle, pieces: Uint8Array[]): Promise<void> {
  let rest = pieces;
  for (;;) {
    let { bytesWritten } = await file.writev(rest);
    const open = rest.findIndex((piece) => {
      if (bytesWritten < piece.length) return true;
      bytesWritten -= piece.length;
      return false;
    });
    if (open === -1) return;
    const [cut, ...after] = rest.slice(open) as [Uint8Array, ...Uint8Array[]];
    rest = [cut.subarray(bytesWritten), ...after];
  }
}

/**
 * A new name is durable once its directory is synced; another put may have just created that directory, so its parents
 * are synced too.
 */
async function syncDirectories(lowest: string, highest: string): Promise<void> {
  for (let dir = lowest; ; dir = dirname(dir)) {
    const handle = await open(dir, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (dir === highest) return;
  }
}

async function* readFrom(
  path: string,
  { name, range }: { name: string; range: ByteRange | undefined },
): AsyncIterable<Uint8Array> {
  if (range && range.end <= range.start) return;
  const stream = createReadStream(path, {
    highWaterMark: readAtOnceBytes,
    ...(range && { start: range.start, end: range.end - 1 }),
  });
  try {
    yield* stream;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new BlobMissing(name);
    throw new StoreFailed('read', error);
  }
}

async function* filesUnder(dir: string): AsyncIterable<string> {
  const entries = await opendir(dir).catch(nullWhenMissing);
  if (!entries) return;
  for await (const entry of entries) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesUnder(path);
    else if (entry.isFile()) yield path;
  }
}

/** Whether the writing process ran on this machine and is gone. */
function isLeftBehind(path: string, host: string): boolean {
  const [, madeOn, pid] = partName.exec(path) ?? [];
  if (madeOn !== host) return false;
  // This process knows its own files: an unknown one with our pid is from an earlier process, as after a container restart.
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function nullWhenMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
