/** Finds anvil, which some tests use as a chain that they can break. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isProgram, onPath } from './on-path.ts';

/** An optional dependency, which npm installs only on the matching platform. */
const packageName = '@foundry-rs/anvil-linux-amd64';

/** Whether `npm ci` brings it here. */
export const npmHasAnvil = process.platform === 'linux' && process.arch === 'x64';

/** Resolved from there, it is found in the folder's own packages as well as in those of the checkout. */
const dependent = new URL('../../anvil/package.json', import.meta.url).href;

/** The program that npm installed, else the one on the PATH, else null; `from` is the file from which packages are resolved. */
export function findAnvil({ from = dependent } = {}): string | null {
  return installedAnvil(from) ?? onPath('anvil');
}

function installedAnvil(from: string): string | null {
  try {
    const manifest = createRequire(from).resolve(`${packageName}/package.json`);
    const program = join(dirname(manifest), 'bin/anvil');
    return isProgram(program) ? program : null;
  } catch {
    return null;
  }
}
