/** Finds anvil, which some tests use as a chain that they can break. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** An optional dependency, which npm installs only on the matching platform. */
const packageName = '@foundry-rs/anvil-linux-amd64';

/** For `skip`: why tests that need anvil do not run. */
export const noAnvil = `needs anvil, which is neither in the npm package ${packageName} (only for Linux on x64) nor on the PATH`;

/** Resolved from there, it is found in the folder's own packages as well as in those of the checkout. */
const dependent = new URL('../../anvil/package.json', import.meta.url).href;

/** The program that npm installed, else the one on the PATH, else null; `from` is the file from which packages are resolved. */
export async function findAnvil({ from = dependent } = {}): Promise<string | null> {
  return (await installedAnvil(from)) ?? (await anvilOnPath());
}

async function installedAnvil(from: string): Promise<string | null> {
  let manifest: string;
  try {
    manifest = createRequire(from).resolve(`${packageName}/package.json`);
  } catch {
    return null;
  }
  return ifExecutable(join(dirname(manifest), 'bin/anvil'));
}

async function anvilOnPath(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', 'command -v anvil']);
    return ifExecutable(resolve(stdout.trim()));
  } catch {
    return null;
  }
}

async function ifExecutable(file: string): Promise<string | null> {
  try {
    await access(file, constants.X_OK);
    return file;
  } catch {
    return null;
  }
}
