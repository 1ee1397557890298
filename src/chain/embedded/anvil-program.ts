/** Finds anvil, the program of the embedded chain. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../runtime/errors.ts';

/** An optional dependency, which npm installs only on the matching platform. */
const packageName = '@foundry-rs/anvil-linux-amd64';

/** Finds the program that npm installed, else the one on the PATH; `from` is the file from which packages are resolved. */
export async function findAnvil({ from = import.meta.url } = {}): Promise<string> {
  const program = (await installedAnvil(from)) ?? (await anvilOnPath());
  if (program !== null) return program;
  throw new OperatorError(
    `The embedded chain needs the program anvil, but it is neither in the npm package ${packageName} (only for Linux on x64) nor on the PATH. Install Foundry (https://getfoundry.sh) so that anvil is on the PATH, or set HOLDFAST_CHAIN_RPC_URLS to a chain of your own.`,
  );
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

/** Uses the shell to search, because only config.ts reads the environment. */
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
