/** Finds programs on the PATH, as a shell would, and Python with a package. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** The first of these names that the PATH leads to. */
export function onPath(...names: string[]): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return (
    names.flatMap((name) => folders.map((folder) => resolve(folder, name))).find((file) => isProgram(file)) ??
    null
  );
}

/** The same, if it answers these arguments: version managers put programs on the PATH that only say what is missing. */
export function answering(name: string, ...args: string[]): string | null {
  const file = onPath(name);
  return file !== null && spawnSync(file, args).status === 0 ? file : null;
}

/** The first Python that has these packages: another one may come before the system's in the PATH. */
export function pythonWith(...packages: string[]): string | null {
  const found = [onPath('python3'), '/usr/bin/python3'].filter((file) => file !== null && isProgram(file));
  const args = ['-c', `import ${packages.join()}`];
  return found.find((file) => file !== null && spawnSync(file, args).status === 0) ?? null;
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
