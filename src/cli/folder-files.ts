/** The files of a folder and of those inside it, in an order that does not depend on the file system. No link is followed. */
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findNameFault } from '../input/file-name.ts';
import { OperatorError } from '../runtime/errors.ts';

export type FolderFile = {
  /** Inside the folder, with slashes. */
  path: string;
} & ({ name: string; full: string; size: number } | { fault: string } | { skipped: string });

export async function* folderFiles(
  folder: string,
  options: { hidden: boolean },
  inside = '',
): AsyncGenerator<FolderFile> {
  for (const entry of await entriesOf(folder)) {
    const name = utf8(entry.name);
    const path = `${inside}${name ?? entry.name.toString('latin1')}`;
    if (name === null) yield { path, fault: 'The name is not valid UTF-8.' };
    else if (name.startsWith('.') && !options.hidden)
      yield { path, skipped: 'It is hidden: --hidden includes it.' };
    else if (entry.isSymbolicLink()) yield { path, skipped: 'It is a link, which is not followed.' };
    else if (entry.isDirectory()) yield* folderFiles(join(folder, name), options, `${path}/`);
    else if (!entry.isFile()) yield { path, skipped: 'It is no regular file.' };
    else yield await fileIn(folder, name, path);
  }
}

async function fileIn(folder: string, name: string, path: string): Promise<FolderFile> {
  const fault = findNameFault(name);
  if (fault !== null) return { path, fault };
  const full = join(folder, name);
  try {
    return { path, name, full, size: (await lstat(full)).size };
  } catch (error) {
    return { path, fault: `It cannot be read: ${(error as Error).message}.` };
  }
}

async function entriesOf(folder: string): Promise<Dirent<Buffer>[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
    return entries.sort((a, b) => Buffer.compare(a.name, b.name));
  } catch (cause) {
    throw new OperatorError(`${folder} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

function utf8(name: Buffer): string | null {
  const text = name.toString('utf8');
  return Buffer.from(text, 'utf8').equals(name) ? text : null;
}
