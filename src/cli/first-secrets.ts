/** Where a start puts the first API key and the link for the owner: on a terminal, and otherwise in files, not in a log. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../errors.ts';

export interface FirstSecrets {
  firstKey: string | null;
  ownerLink: string | null;
}

export interface Shown {
  /** What to print in the place of each: itself, or where it is. */
  firstKey: string | null;
  ownerLink: string | null;
}

/** What is printed to anything but a terminal ends in journals and logs of containers, and stays there. */
export async function placeSecrets(
  secrets: FirstSecrets,
  dataDir: string,
  isTerminal: boolean,
): Promise<Shown> {
  if (isTerminal) return secrets;
  return {
    firstKey: await put(join(dataDir, 'first-key.txt'), secrets.firstKey),
    ownerLink: await put(join(dataDir, 'owner-link.txt'), secrets.ownerLink),
  };
}

/** The key is left for whoever has not taken it yet; a link that nobody needs any more is of no use. */
async function put(file: string, secret: string | null): Promise<string | null> {
  if (secret === null) {
    if (file.endsWith('owner-link.txt')) await rm(file, { force: true });
    return null;
  }
  try {
    await mkdir(join(file, '..'), { recursive: true });
    // Made anew, so that it has this mode whatever was there before.
    await rm(file, { force: true });
    await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new OperatorError(`${file} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
  return `in ${file}, which only you can read`;
}
