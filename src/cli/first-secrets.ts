/** Shows the first API key and the owner's link on a terminal; otherwise writes them to files, so that they reach no log. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { explainFileFault } from '../runtime/file-fault.ts';

/** Null when there is none; in the result, either the secret itself or a note of where it is. */
export interface FirstSecrets {
  firstKey: string | null;
  ownerLink: string | null;
}

/** Standard output that is not a terminal ends up in journals and container logs, and stays there. */
export async function placeSecrets(
  { firstKey, ownerLink }: FirstSecrets,
  dataDir: string,
  isTerminal: boolean,
): Promise<FirstSecrets> {
  if (isTerminal) return { firstKey, ownerLink };
  const [keyFile, linkFile] = [join(dataDir, 'first-key.txt'), join(dataDir, 'owner-link.txt')];
  // The key file stays until its owner deletes it; a used link is worthless.
  if (ownerLink === null) await rm(linkFile, { force: true });
  return {
    firstKey: firstKey && (await writeSecret(keyFile, firstKey)),
    ownerLink: ownerLink && (await writeSecret(linkFile, ownerLink)),
  };
}

async function writeSecret(file: string, secret: string): Promise<string> {
  try {
    await mkdir(dirname(file), { recursive: true });
    // Recreated, so that it has this mode whatever was there before.
    await rm(file, { force: true });
    await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw explainFileFault(error, { what: 'The file', path: file, setting: 'HOLDFAST_DATA_DIR' });
  }
  return `in ${file}, which only you can read`;
}
