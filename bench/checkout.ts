/** A checkout of another commit to run services from. Its packages are those that are installed here. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from './options.ts';
import { ownRoot } from './service.ts';

export interface Checkout {
  root: string;
  /** As the table names it. */
  title: string;
  source: { hash: string; subject: string } | { folder: string };
  /** Removes it, unless somebody else made it. */
  stop(): Promise<void>;
}

/** `name`: a commit, or a folder with a checkout. */
export async function openCheckout(name: string): Promise<Checkout> {
  if (await exists(join(name, 'bin/holdfast'))) {
    const root = resolve(name);
    return { root, title: basename(root), source: { folder: root }, stop: async () => {} };
  }
  const commit = await findCommit(name);
  await refuseOtherPackages(name, commit.hash);
  const root = await mkdtemp(join(tmpdir(), 'holdfast-bench-commit-'));
  const remove = () => rm(root, { recursive: true, force: true, maxRetries: 3 });
  try {
    await extract(commit.hash, root);
    await linkPackages(root);
    const short = commit.hash.slice(0, 7);
    const title = commit.hash.startsWith(name) ? short : `${name} (${short})`;
    return { root, title, source: commit, stop: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function findCommit(name: string): Promise<{ hash: string; subject: string }> {
  const told = await git(['log', '-1', '--format=%H %s', '--end-of-options', name]).catch(() => {
    throw new UsageError(`${name} is neither a commit of this repository nor a folder with a checkout.`);
  });
  const space = told.indexOf(' ');
  return { hash: told.slice(0, space), subject: told.slice(space + 1).trim() };
}

async function refuseOtherPackages(name: string, hash: string): Promise<void> {
  const theirs = await git(['show', `${hash}:package-lock.json`]);
  const ours = await readFile(join(ownRoot, 'package-lock.json'), 'utf8');
  if (theirs === ours) return;
  throw new UsageError(
    `${name} has other packages than this checkout (package-lock.json differs). Give it its own: ` +
      `git worktree add ../then ${hash.slice(0, 7)} && (cd ../then && npm ci), and measure with --against ../then.`,
  );
}

/** Not as a work tree of git's: that would have to be taken off its list again, also after a crash. */
async function extract(hash: string, folder: string): Promise<void> {
  const archive = join(folder, 'archive.tar');
  await git(['archive', '--format=tar', `--output=${archive}`, hash]);
  await promisify(execFile)('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
}

/** Each by itself: compiled code that is kept beside them belongs to one checkout. */
async function linkPackages(folder: string): Promise<void> {
  const packages = join(ownRoot, 'node_modules');
  await mkdir(join(folder, 'node_modules'));
  for (const name of await readdir(packages)) {
    if (name !== '.cache') await symlink(join(packages, name), join(folder, 'node_modules', name));
  }
  const dashboard = join(ownRoot, 'dashboard/dist');
  if (await exists(dashboard)) await symlink(dashboard, join(folder, 'dashboard/dist'));
}

async function git(args: string[]): Promise<string> {
  const maxBuffer = 64 * 1024 * 1024;
  return (await promisify(execFile)('git', args, { cwd: ownRoot, maxBuffer })).stdout;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
