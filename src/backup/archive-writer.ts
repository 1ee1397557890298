/** Writes an archive: under a temporary name until it is complete and on disk, with one piece in memory at a time. */
import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { processExists } from '../db/embedded/postmaster.ts';
import { OperatorError } from '../runtime/errors.ts';
import { pieceBytes, smallBytes } from './format.ts';

export interface Written {
  pieces: number;
  bytes: number;
  sha256: string;
}

export interface ArchiveWriter {
  /** The path until `publish`. */
  draft: string;
  /** Adds a member of any length, in pieces. `compress` when it pays off; hash and size are those of the plain bytes. */
  addPieces(
    member: string,
    bytes: AsyncIterable<Uint8Array>,
    options?: { compress?: boolean },
  ): Promise<Written>;
  /** Adds a short member. */
  addFile(member: string, text: string): Promise<void>;
  /** Resolves when everything is written and on disk. */
  finish(): Promise<void>;
  /** Renames the archive to its final name. */
  publish(): Promise<void>;
  /** Deletes the draft. After `publish` it leaves the published archive alone. */
  discard(): Promise<void>;
}

const compressed = promisify(gzip);
/** The lowest level: it gains most of what text can gain, and hardly slows down the copy. */
const level = 1;
/** Small, so that a full disk is told early, and requests are answered between one write and the next. */
const writeBytes = 4 * 1024;

/** Refuses a file that exists: a backup never replaces another. */
export async function createArchive(file: string, at: Date): Promise<ArchiveWriter> {
  await refuseExisting(file);
  await sweepDrafts(file);
  const draft = draftOf(file, process.pid);
  const handle = await open(draft, 'wx', 0o600).catch((cause) => {
    throw new OperatorError(`The archive cannot be written to ${dirname(file)}: ${cause.message}.`, {
      cause,
    });
  });
  const tar = pack();
  let failure: Error | null = null;
  const writing = writeAll(tar, handle).catch((error) => {
    failure = error;
    tar.destroy(error);
  });

  async function entry(name: string, bytes: Buffer): Promise<void> {
    if (failure) throw explain(failure, file);
    await new Promise<void>((resolve, reject) => {
      const sink = tar.entry({ name, size: bytes.length, mode: 0o600, mtime: at }, (error) =>
        error ? reject(explain(failure ?? error, file)) : resolve(),
      );
      sink.on('error', () => {});
      sink.end(bytes);
    });
  }

  return {
    draft,
    async addPieces(member, bytes, { compress = false } = {}) {
      const hash = createHash('sha256');
      const written = { pieces: 0, bytes: 0 };
      for await (const piece of inPieces(bytes)) {
        hash.update(piece);
        written.pieces += 1;
        written.bytes += piece.length;
        const number = String(written.pieces).padStart(6, '0');
        if (compress) await entry(`${member}/${number}.gz`, await shortened(piece));
        else await entry(`${member}/${number}`, piece);
      }
      return { ...written, sha256: hash.digest('hex') };
    },
    addFile: (member, text) => entry(member, Buffer.from(text)),
    async finish() {
      tar.finalize();
      await writing;
      if (failure) throw explain(failure, file);
      await handle.sync().catch((error) => {
        throw explain(error, file);
      });
      await handle.close();
    },
    async publish() {
      await refuseExisting(file);
      await rename(draft, file);
      await syncDirectory(dirname(file));
    },
    async discard() {
      tar.destroy();
      await writing;
      await handle.close().catch(() => {});
      await rm(draft, { force: true });
    },
  };
}

/** Writes a short file atomically: after a crash it is there whole or not at all. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = draftOf(file, process.pid);
  try {
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    await rm(draft, { force: true });
    throw explain(error as Error, file);
  }
}

async function shortened(piece: Buffer): Promise<Buffer> {
  return piece.length <= smallBytes ? gzipSync(piece, { level }) : await compressed(piece, { level });
}

/** Header, content and padding of a small member come apart; a write for each would take most of the time. */
async function writeAll(tar: Pack, handle: FileHandle): Promise<void> {
  let held: Buffer[] = [];
  let size = 0;
  const write = async () => {
    await handle.writeFile(Buffer.concat(held));
    held = [];
    size = 0;
  };
  for await (const chunk of tar) {
    held.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= writeBytes) await write();
  }
  if (size > 0) await write();
}

/** The same bytes in pieces of the full size, except for the last. No bytes give one empty piece. */
async function* inPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let size = 0;
  let any = false;
  for await (const chunk of bytes) {
    let rest = chunk;
    while (size + rest.length >= pieceBytes) {
      const fits = pieceBytes - size;
      yield Buffer.concat([...held, rest.subarray(0, fits)]);
      any = true;
      rest = rest.subarray(fits);
      held = [];
      size = 0;
    }
    if (rest.length === 0) continue;
    held.push(rest);
    size += rest.length;
  }
  if (size > 0 || !any) yield Buffer.concat(held);
}

function draftOf(file: string, pid: number): string {
  return `${file}.partial-${pid}`;
}

/** Removes drafts of killed processes. */
async function sweepDrafts(file: string): Promise<void> {
  const prefix = `${basename(file)}.partial-`;
  const names = await readdir(dirname(file)).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length));
    if (Number.isSafeInteger(pid) && pid > 0 && !processExists(pid)) await rm(join(dirname(file), name));
  }
}

async function refuseExisting(file: string): Promise<void> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new OperatorError(`The archive cannot be written to ${file}: ${error.message}.`, { cause: error });
  });
  if (handle === null) return;
  await handle.close();
  throw new OperatorError(`${file} already exists. Choose another name: a backup never overwrites a file.`);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function explain(error: Error, file: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof OperatorError || code === undefined) return error;
  return new OperatorError(`${file} cannot be written: ${error.message}. No file was left under that name.`, {
    cause: error,
  });
}
