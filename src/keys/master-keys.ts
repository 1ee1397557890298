/** The configured master keys: one or more versions; the highest wraps, the others only unwrap. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { MasterKeySource } from '../config/data-settings.ts';
import { OperatorError } from '../runtime/errors.ts';
import { explainFileFault } from '../runtime/file-fault.ts';

export interface MasterKeys {
  current: number;
  byVersion: ReadonlyMap<number, Buffer>;
}

const keyBytes = 32;

/**
 * A single key, as 64 hex digits or base64, is version 1. Several keys are written as `version:key`, separated by commas,
 * spaces or line breaks. Lines that start with # are comments.
 */
export function parseMasterKeys(text: string, origin: string): MasterKeys {
  const byVersion = new Map<number, Buffer>();
  for (const item of text
    .replace(/^#.*$/gm, '')
    .split(/[\s,]+/)
    .filter(Boolean)) {
    const [, version = '1', encoded = ''] = /^(?:(\d{1,9}):)?(.*)$/.exec(item) ?? [];
    const key = /^[0-9a-fA-F]{64}$/.test(encoded)
      ? Buffer.from(encoded, 'hex')
      : Buffer.from(encoded, 'base64');
    if (key.length !== keyBytes) {
      throw new OperatorError(
        `${origin} does not contain a master key: give 32 bytes as 64 hexadecimal digits or base64 (create one with "openssl rand -hex 32"), or several keys as 1:KEY,2:KEY.`,
      );
    }
    if (Number(version) < 1 || byVersion.has(Number(version))) {
      throw new OperatorError(`${origin} has version ${version} twice, or it is not a number from 1 up.`);
    }
    byVersion.set(Number(version), key);
  }
  if (byVersion.size === 0) throw new OperatorError(`${origin} is empty: it should contain the master key.`);
  return { current: Math.max(...byVersion.keys()), byVersion };
}

/** Reads the configured keys; null if the file that the first start generates does not exist yet. */
export async function readMasterKeys(source: MasterKeySource): Promise<MasterKeys | null> {
  if ('text' in source) return parseMasterKeys(source.text, 'HOLDFAST_MASTER_KEY');
  const text = await readFile(source.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && source.generated) return null;
    throw new OperatorError(`The master key file ${source.file} cannot be read: ${error.message}.`, {
      cause: error,
    });
  });
  return text === null ? null : parseMasterKeys(text, `The master key file ${source.file}`);
}

/** The inverse of parseMasterKeys. */
export function masterKeyText(keys: MasterKeys): string {
  return [...keys.byVersion].map(([version, key]) => `${version}:${key.toString('base64')}\n`).join('');
}

/** Writes the key file atomically, with mode 0600: after a crash either the old or the new file is complete. */
export async function writeMasterKeyFile(file: string, keys: MasterKeys): Promise<void> {
  const text = `# Holdfast master key. Without it no vault can sign and no secret can be read: keep a copy elsewhere.\n${masterKeyText(keys)}`;
  try {
    await replaceFile(file, text);
  } catch (error) {
    throw explainFileFault(error, { what: 'The master key file', path: file });
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.new-${process.pid}`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  const directory = await open(dirname(file), 'r');
  await directory.sync();
  await directory.close();
}

export function withNewVersion(keys: MasterKeys | null): MasterKeys {
  const current = (keys?.current ?? 0) + 1;
  return { current, byVersion: new Map([...(keys?.byVersion ?? []), [current, randomBytes(keyBytes)]]) };
}

export function withOnlyCurrent(keys: MasterKeys): MasterKeys {
  const key = keys.byVersion.get(keys.current);
  if (!key) throw new Error('the current master key is missing');
  return { current: keys.current, byVersion: new Map([[keys.current, key]]) };
}

/** Adds the versions of an older list that these keys lack. */
export function withOlder(keys: MasterKeys, older: MasterKeys | null): MasterKeys {
  return { current: keys.current, byVersion: new Map([...(older?.byVersion ?? []), ...keys.byVersion]) };
}
