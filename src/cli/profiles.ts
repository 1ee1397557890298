/** Profiles: services and the API keys for them, which `holdfast login` saves for the user of this machine alone. */
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { OperatorError } from '../runtime/errors.ts';

export interface Profile {
  url: string;
  key: string;
}

export interface Profiles {
  /** The one that is used unless another is named. */
  default: string | null;
  profiles: Record<string, Profile>;
}

export const profileName = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

/** As the XDG Base Directory Specification says: a relative path counts as not set. */
export function profilesFile(): string {
  const { XDG_CONFIG_HOME: given = '' } = process.env;
  return join(isAbsolute(given) ? given : join(homedir(), '.config'), 'holdfast/profiles.json');
}

export async function readProfiles(): Promise<Profiles> {
  const file = profilesFile();
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { default: null, profiles: {} };
    throw new OperatorError(`The profiles in ${file} cannot be read: ${message}.`, { cause });
  }
  const read = parse(text);
  if (read === null)
    throw new OperatorError(`The profiles in ${file} are damaged. Delete the file and log in again.`);
  return read;
}

/** Replaces the file as a whole, so that a kill leaves the old one or the new one. */
export async function writeProfiles(profiles: Profiles): Promise<void> {
  const file = profilesFile();
  const draft = `${file}.${process.pid}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
    // A draft that a kill left keeps its own mode.
    await chmod(draft, 0o600);
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {});
    throw new OperatorError(`The profiles cannot be saved in ${file}: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function parse(text: string): Profiles | null {
  try {
    const { default: usual, profiles } = JSON.parse(text);
    const entries = Object.entries(profiles as Record<string, Partial<Profile>>);
    const isWhole = ([name, { url, key }]: [string, Partial<Profile>]) =>
      profileName.test(name) && typeof url === 'string' && URL.canParse(url) && typeof key === 'string';
    if (!entries.every(isWhole) || (usual !== null && !Object.hasOwn(profiles, usual))) return null;
    return { default: usual, profiles };
  } catch {
    return null;
  }
}
