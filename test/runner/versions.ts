/** The versions that the tests run with, on one line: a failure elsewhere may depend on them. */
import { execFile } from 'node:child_process';
import { release } from 'node:os';
import { promisify } from 'node:util';
import { findBinaries } from '../../src/db/embedded/binaries.ts';
import { findProgram } from '../support/programs/find.ts';

export async function describeVersions(): Promise<string> {
  const versions = await Promise.all([
    versionOf('npm', async () => 'npm'),
    versionOf('PostgreSQL', async () => (await findBinaries()).postgres),
    versionOf('anvil', async () => findProgram('anvil')),
    versionOf('browser', async () => findProgram('chromium')),
    versionOf('OpenSSL', async () => findProgram('openssl'), 'version'),
    versionOf('Python', async () => findProgram('python3')),
    versionOf('Go', async () => findProgram('go'), 'version'),
  ]);
  const system = `${process.platform} ${release()} ${process.arch}`;
  return ['Running with', [`Node.js ${process.versions.node}`, ...versions, system].join(', ')].join(' ');
}

async function versionOf(
  name: string,
  find: () => Promise<string | null>,
  argument = '--version',
): Promise<string> {
  try {
    const program = await find();
    if (program === null) return `no ${name}`;
    const { stdout } = await promisify(execFile)(program, [argument]);
    return `${name} ${/\d+(\.\d+)+\S*/.exec(stdout)?.[0] ?? stdout.trim()}`;
  } catch {
    return `no ${name}`;
  }
}
