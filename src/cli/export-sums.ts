/** The digests of all files of an export, in the form of sha256sum. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { folderFiles } from './folder-files.ts';

const ownFiles = new Set(['SHA256SUMS', 'manifest.json', 'export.json']);

export async function sumsOf(folder: string): Promise<string> {
  const lines: string[] = [];
  for await (const file of folderFiles(folder, { hidden: true })) {
    if (!('full' in file) || ownFiles.has(file.path) || file.path.endsWith('.part')) continue;
    const hash = createHash('sha256');
    for await (const piece of createReadStream(file.full)) hash.update(piece);
    lines.push(`${hash.digest('hex')}  ${file.path}\n`);
  }
  return lines.join('');
}
