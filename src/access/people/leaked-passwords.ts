/**
 * Whether a password is in a list of leaked ones. The operator downloads the list once ("Have I Been Pwned", hashes with
 * SHA-1), so nothing about a password leaves the machine. It has tens of gigabytes and stays on disk: each look reads a few
 * blocks of it.
 */
import { hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, OperatorError } from '../../runtime/errors.ts';

export interface LeakedPasswords {
  has(password: string): Promise<boolean>;
}

/** Below this, a stretch of the file is read as a whole. */
const blockBytes = 4_096;
/** No line is longer: 40 digits, a colon, a count, and a line end. */
const longestLine = 128;
/** A file of one prefix has about 2,000 lines. */
const mostFolderBytes = 4 * 1024 * 1024;
const prefixLength = 5;

/**
 * `path`: a file with the lines `HASH:COUNT`, sorted by hash, or a folder with a file `PREFIX` or `PREFIX.txt` for each five
 * digits that a hash begins with, whose lines are the rest of the hash and the count.
 */
export function openLeakedPasswords(path: string): LeakedPasswords {
  const isFolder = statSync(path).isDirectory();
  const fault = isFolder ? faultOfFolder(path) : faultOfLines(path, /^([0-9A-F]{40}(:|\s|$)|$)/i);
  if (fault !== null) throw new OperatorError(`HOLDFAST_LEAKED_PASSWORDS: ${fault}.`);
  return {
    async has(password) {
      const digest = hash('sha1', password).toUpperCase();
      try {
        return isFolder ? await isInFolder(path, digest) : await isInFile(path, digest);
      } catch (error) {
        throw new AppError(
          'service_unavailable',
          'The list of leaked passwords cannot be read, so no password can be chosen now. Ask the operator to look at HOLDFAST_LEAKED_PASSWORDS.',
          { cause: error },
        );
      }
    },
  };
}

/** What is wrong with the list, as far as its beginning shows; null: nothing. */
function faultOfFolder(folder: string): string | null {
  const name = ['00000', '00000.txt'].find((name) => existsSync(join(folder, name)));
  if (name === undefined) return `the folder ${folder} has no file 00000 or 00000.txt`;
  return faultOfLines(join(folder, name), /^[0-9A-F]{35}(:|\s|$)/i);
}

function faultOfLines(file: string, form: RegExp): string | null {
  const handle = openSync(file, 'r');
  try {
    const begin = Buffer.alloc(longestLine);
    const length = readSync(handle, begin);
    return form.test(begin.toString('latin1', 0, length))
      ? null
      : `${file} does not begin with a hash; see docs/security.md`;
  } finally {
    closeSync(handle);
  }
}

async function isInFolder(folder: string, digest: string): Promise<boolean> {
  const prefix = digest.slice(0, prefixLength);
  const text = await readFile(join(folder, prefix), 'latin1').catch(() =>
    readFile(join(folder, `${prefix}.txt`), 'latin1'),
  );
  if (text.length > mostFolderBytes) throw new Error(`the file of the prefix ${prefix} is too large`);
  return hasLine(text, digest.slice(prefixLength));
}

/** Halves the stretch of the file that may have the line, until it is one block. */
async function isInFile(file: string, digest: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    // The line, if there is one, begins at or after `low` and before `high`.
    let low = 0;
    let high = (await handle.stat()).size;
    while (high - low > blockBytes) {
      const middle = low + Math.floor((high - low) / 2);
      const line = await firstLineAfter(handle, middle);
      if (line === null || line.start >= high || line.digest > digest) high = middle;
      else low = line.start;
    }
    return hasLine(await read(handle, low, high - low + longestLine), digest);
  } finally {
    await handle.close();
  }
}

async function firstLineAfter(
  handle: FileHandle,
  position: number,
): Promise<{ start: number; digest: string } | null> {
  const text = await read(handle, position, 2 * longestLine);
  const end = text.indexOf('\n');
  if (end === -1 && text.length === 2 * longestLine) throw new Error('the list has lines that are too long');
  const digest = end === -1 ? '' : text.slice(end + 1, end + 41);
  if (digest.length < 40) return null;
  if (!/^[0-9A-Fa-f]{40}$/.test(digest)) throw new Error('the list has lines that are not HASH:COUNT');
  return { start: position + end + 1, digest: digest.toUpperCase() };
}

async function read(handle: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(length), position });
  return buffer.toString('latin1', 0, bytesRead);
}

function hasLine(text: string, wanted: string): boolean {
  return text.split(/\r?\n/).some((line) => {
    const [digits = '', count] = line.split(':');
    // Padding of the download has the count 0.
    return digits.toUpperCase() === wanted && count !== '0';
  });
}
