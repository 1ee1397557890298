/** Imports files, one in a request: each is hashed first, and sent as it was then, or only its hash is. */
import { requireContentFault } from '../../../src/bulk/attempts.ts';
import { changedFault, fileKey, filesPlan, type HashedFile } from '../../../src/bulk/files.ts';
import { importKey } from '../../../src/bulk/keys.ts';
import { mediaTypeOf } from '../../../src/bulk/media-types.ts';
import { ImportStopped, type Sent } from '../../../src/bulk/run.ts';
import type { Left, Placed } from '../../../src/bulk/units.ts';
import { findNameFault } from '../../../src/input/file-name.ts';
import { ApiError, call } from '../api/call.ts';
import { type FileVersion, filesPath } from '../files/file.ts';
import { hashFile } from '../files/file-hash.ts';
import { sendForm } from '../files/send-form.ts';
import type { ChosenFile, ChosenFiles } from './folder.ts';
import type { BrowserJournal, KeptImport } from './journal.ts';
import type { Job, Under } from './run.ts';
import type { Service } from './service.ts';

export interface FileImport {
  chosen: ChosenFiles;
  vaultAddress: string;
  workspaceId: string;
  hashOnly: boolean;
}

type ReadFile = HashedFile & { file: File };
type FileRow = Placed & ({ path: string } & (ReadFile | Left));

export function nameOf({ folder, files }: ChosenFiles): string {
  if (folder !== null) return folder;
  return files.length === 1 ? (files[0] as ChosenFile).file.name : `${files.length} files`;
}

/** Which import it is: a folder by its name, files alone by the list of them. */
export function fileImportId({ chosen, vaultAddress, workspaceId, hashOnly }: FileImport): string {
  const { folder, files } = chosen;
  const list = files.map(({ path, file }) => [path, file.size]);
  return importKey({
    digest: '',
    plan: filesPlan(vaultAddress, hashOnly ? 'hashes' : 'files'),
    part: JSON.stringify(folder === null ? [workspaceId, 'files', list] : [workspaceId, 'folder', folder]),
  });
}

export function fileJob(work: FileImport, { dryRun }: { dryRun: boolean }): Job {
  const { chosen, vaultAddress, workspaceId, hashOnly } = work;
  const { files, folder, totalBytes } = chosen;
  const plan = filesPlan(vaultAddress, hashOnly ? 'hashes' : 'files');
  const name = nameOf(chosen);
  const kept = (): KeptImport => ({
    ...{ id: fileImportId(work), workspaceId, vaultAddress, name, totalBytes, hashOnly },
    ...{ input: null, begunAt: 0, rows: 0, complete: false },
  });
  async function* unitsOf(
    journal: BrowserJournal | null,
    under: Under,
    signal: AbortSignal,
  ): AsyncGenerator<FileRow[]> {
    let line = 0;
    let end = 0;
    for (const { path, file } of files) {
      line += 1;
      end += file.size;
      const place = { line, end };
      const isInFolder = folder !== null || path.includes('/');
      const left = isInFolder && isHidden(path) ? { skipped: 'It is hidden.' } : faultOf(file);
      if (left) {
        yield [{ ...place, path, ...left }];
        continue;
      }
      const row = await hashed({ path, file }, signal, (part) => under(place, (part * file.size) / 2));
      if (row === null) return;
      const before = journal && folder !== null && 'digest' in row ? await journal.madeOf(path) : null;
      const fault = 'digest' in row ? changedFault(before, fileKey(plan, row)) : null;
      yield [{ ...place, ...(fault === null ? row : { path, fault }) }];
    }
  }
  return {
    ...{ name, noun: 'files', vaultAddress, totalBytes, dryRun, resendUnknown: false, again: false },
    begin: ({ signal }, { run }) =>
      run<FileRow>({
        kept: dryRun ? null : kept(),
        units: (journal, under) => unitsOf(journal, under, signal),
        keyOf: ([file]) => fileKey(plan, file as ReadFile),
        partOf: ({ path }) => path,
        send([row], key, service, under) {
          const read = row as ReadFile & Placed;
          const tell = (part: number) => under(read, ((1 + part) * read.file.size) / 2);
          if (hashOnly) return sendHash(read, { vaultAddress, key, service });
          return sendBytes(read, { vaultAddress, key, service, tell });
        },
      }),
  };
}

const isHidden = (path: string) => path.split('/').some((name) => name.startsWith('.'));

function faultOf({ name }: File): Left | null {
  const fault = findNameFault(name);
  return fault === null ? null : { fault };
}

/** Null: stopped meanwhile. */
async function hashed(
  { path, file }: ChosenFile,
  signal: AbortSignal,
  tell: (part: number) => void,
): Promise<ReadFile | ({ path: string } & Left) | null> {
  try {
    const digest = (await hashFile(file, { signal, tell })).slice(2);
    return { path, file, digest };
  } catch (error) {
    if (signal.aborted) return null;
    return { path, fault: (error as Error).message };
  }
}

interface Sending {
  vaultAddress: string;
  key: string;
  service: Service;
}

async function sendHash({ file, digest }: ReadFile, { vaultAddress, key, service }: Sending): Promise<Sent> {
  const mediaType = mediaTypeOf(file.name);
  const body = { vaultAddress, name: file.name, contentHash: `0x${digest}`, mediaType };
  const headers = { 'idempotency-key': key };
  const answer = await service.ask(() => call<FileVersion>('POST', filesPath, { body, headers }));
  if (answer.status !== 202) return { refused: requireContentFault(answer) };
  return { ids: [(answer.body as FileVersion).id] };
}

const changed = 'It was changed while it was read.';

async function sendBytes(
  { file, digest }: ReadFile,
  { vaultAddress, key, service, tell }: Sending & { tell(part: number): void },
): Promise<Sent> {
  const { stopping } = service;
  let isReadable = true;
  const post = async () => {
    const form = new FormData();
    form.append('vaultAddress', vaultAddress);
    form.append('name', file.name);
    // As the command line sends it: whatever began an import, the other can continue it.
    form.append('file', file.slice(0, file.size, mediaTypeOf(file.name)), 'file');
    const headers = { 'idempotency-key': key };
    try {
      return await sendForm<FileVersion>({ path: filesPath, form, headers }, { signal: stopping, tell });
    } catch (error) {
      // A browser says of a file that has changed only that nothing was sent.
      if (!(error instanceof ApiError) || error.status !== 0) throw error;
      isReadable = await canRead(file);
      throw isReadable ? error : new ImportStopped(changed);
    }
  };
  const answer = await service.ask(post).catch((error) => {
    if (isReadable) throw error;
    return null;
  });
  if (answer === null) return { refused: changed };
  if (answer.status !== 202) return { refused: requireContentFault(answer) };
  const { id, contentHash } = answer.body as FileVersion;
  if (contentHash === `0x${digest}`) return { ids: [id] };
  return { refused: `${changed} It is here with the content that it had then, as ${id}.` };
}

async function canRead(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
