/** `holdfast import files`: the files of a folder, one in a request, hashed here before and compared while they are sent. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { requireContentFault } from '../bulk/attempts.ts';
import { changedFault, fileKey, filesPlan, type HashedFile } from '../bulk/files.ts';
import { mediaTypeOf } from '../bulk/media-types.ts';
import type { Sent } from '../bulk/run.ts';
import type { Left, Placed } from '../bulk/units.ts';
import { type FolderFile, folderFiles } from './folder-files.ts';
import type { JournalFile } from './import-journal.ts';
import { type ImportOptions, openImport } from './import-session.ts';
import { requireActiveVault, requireScope, type ServiceCalls } from './service-calls.ts';

export interface FileOptions extends ImportOptions {
  vault: string;
  hidden?: boolean;
}

interface ReadFile extends HashedFile {
  name: string;
  full: string;
}

type FileRow = Placed & ({ path: string } & (ReadFile | Left));

const route = '/platform/files';
/** Neither a link that took the place of the file, nor a pipe on which opening it would wait. */
const careful = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

class FileChanged extends Error {}

export async function importFiles(folder: string, options: FileOptions): Promise<void> {
  const hidden = options.hidden === true;
  let totalBytes = 0;
  for await (const file of folderFiles(folder, { hidden })) totalBytes += 'size' in file ? file.size : 0;
  const { calls, run } = await openImport(options);
  await requireScope(calls, route);
  await requireActiveVault(calls, options.vault);
  const plan = filesPlan(options.vault);

  async function* units(journal: JournalFile | null): AsyncGenerator<FileRow[]> {
    let line = 0;
    let end = 0;
    for await (const file of folderFiles(folder, { hidden })) {
      line += 1;
      end += 'size' in file ? file.size : 0;
      const row = await hashed(file);
      const before = journal && 'digest' in row ? await journal.madeOf(row.path) : null;
      const fault = 'digest' in row ? changedFault(before, fileKey(plan, row)) : null;
      yield [{ line, end, ...(fault === null ? row : { path: row.path, fault }) }];
    }
  }
  await run<FileRow>({
    ...{ input: folder, identity: resolve(folder), plan, totalBytes, noun: 'files' },
    units,
    keyOf: ([file]) => fileKey(plan, file as ReadFile),
    partOf: ({ path }) => path,
    send: ([file], key) => sendFile(calls, { vault: options.vault, file: file as ReadFile, key }),
  });
}

async function hashed(file: FolderFile): Promise<ReadFile | ({ path: string } & Left)> {
  if (!('full' in file)) return file;
  try {
    const { path, name, full } = file;
    const hash = createHash('sha256');
    for await (const piece of bytesOf(full)) hash.update(piece);
    return { path, name, full, digest: hash.digest('hex') };
  } catch (error) {
    return { path: file.path, fault: `It cannot be read: ${(error as Error).message}.` };
  }
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const file: FileHandle = await open(path, careful);
  try {
    if (!(await file.stat()).isFile()) throw new Error('It is no regular file any more');
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}

async function sendFile(
  { call }: ServiceCalls,
  { vault, file, key }: { vault: string; file: ReadFile; key: string },
): Promise<Sent> {
  const boundary = `holdfast-${key.slice(-32)}`;
  let changed = false;
  const body = () =>
    ReadableStream.from(
      formOf({ vault, file, boundary }, () => {
        changed = true;
      }),
    ) as ReadableStream<Uint8Array>;
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': key };
  const timeoutMs = Number.POSITIVE_INFINITY;
  const again = () => !changed;
  const answer = await call(route, { method: 'POST', headers, timeoutMs, body, again }).catch((error) => {
    if (!changed) throw error;
    return null;
  });
  if (answer === null) return { refused: 'It was changed while it was read.' };
  if (answer.status !== 202) return { refused: requireContentFault(answer) };
  return { ids: [(answer.body as { id: string }).id] };
}

/** Never ends if the bytes are not those that were hashed, so that no other file is made under the same key. */
async function* formOf(
  { vault, file, boundary }: { vault: string; file: ReadFile; boundary: string },
  onChanged: () => void,
): AsyncGenerator<Uint8Array> {
  const field = (name: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const type = mediaTypeOf(file.name);
  yield Buffer.from(
    `${field('vaultAddress', vault)}${field('name', file.name)}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="file"\r\ncontent-type: ${type}\r\n\r\n`,
  );
  const hash = createHash('sha256');
  try {
    for await (const piece of bytesOf(file.full)) {
      hash.update(piece);
      yield piece;
    }
    if (hash.digest('hex') !== file.digest) throw new FileChanged('the file was changed');
  } catch (error) {
    onChanged();
    throw error;
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}
