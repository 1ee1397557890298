/**
 * What is built from sources into a folder of the checkout, and again only when something that decides the result has
 * changed. One rule for everybody who builds, tests or serves it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { moveIntoPlace } from './move-into-place.ts';

export interface BuiltFolder {
  /** The checkout. */
  root: string;
  /** Relative to it. */
  folder: string;
  /**
   * Every file that decides the result, as patterns relative to the checkout; versions of packages are always included. What
   * the first one matches is not in a release.
   */
  sources: string[];
  build(into: string): Promise<void>;
}

export const checkout = join(import.meta.dirname, '../../..');
/** The lock file has the version of every package that builds or is built in. */
const always = ['package.json', 'package-lock.json', 'src/http/pages/built-folder.ts'];
/** The file in the folder that says what it was built from. */
export const mark = 'built-from';

/** Returns whether there was something to do. */
export async function buildIfChanged(built: BuiltFolder): Promise<boolean> {
  if (isCurrent(built)) return false;
  await buildAnew(built);
  return true;
}

/** A release has what was built, and only those sources that run there too. */
export function isCurrent(built: BuiltFolder): boolean {
  const place = join(built.root, built.folder);
  if (sourceFiles({ root: built.root, sources: built.sources.slice(0, 1) }).length === 0)
    return existsSync(place);
  const made = join(place, mark);
  return existsSync(made) && readFileSync(made, 'utf8') === fingerprint(built);
}

/** Another process may be building or reading at the same time, so the result is moved into place as a whole. */
export async function buildAnew(built: BuiltFolder): Promise<void> {
  const place = join(built.root, built.folder);
  const fresh = `${place}.${randomUUID().slice(0, 8)}`;
  // Before anything is read: what changes in the meantime makes the result an old one.
  const from = fingerprint(built);
  try {
    await mkdir(fresh, { recursive: true });
    await built.build(fresh);
    await writeFile(join(fresh, mark), from);
    // Whoever installed it may not be who serves it.
    await chmod(fresh, 0o755);
    await moveIntoPlace(fresh, place);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Relative to the checkout, sorted. */
export function sourceFiles({ root, sources }: Pick<BuiltFolder, 'root' | 'sources'>): string[] {
  return globSync(sources, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .sort();
}

function fingerprint({ root, sources }: BuiltFolder): string {
  const hash = createHash('sha256');
  for (const file of sourceFiles({ root, sources: [...always, ...sources] })) {
    const content = createHash('sha256').update(readFileSync(join(root, file)));
    hash.update(`${content.digest('hex')} ${file}\n`);
  }
  return hash.digest('hex');
}
