/** Creates a new cluster beside its final place and renames it in one step, so that a kill leaves nothing half-made. */
import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../runtime/errors.ts';
import type { Binaries } from './binaries.ts';
import { complaintOf, type Launcher, runProgram } from './launch.ts';
import { type Paths, pathsIn } from './paths.ts';
import { processExists } from './postmaster.ts';
import { letPass } from './reach.ts';

/** The superuser with which Holdfast connects. */
export const databaseUser = 'holdfast';

const draftPrefix = 'postgres.init-';
const longestInitMs = 3_600_000;

export interface NewCluster {
  dataDir: string;
  paths: Paths;
  launcher: Launcher;
  binaries: Binaries;
}

/** If two processes do this at once, the first to rename wins, and the other finds the winner's cluster. */
export async function initialiseCluster({ dataDir, paths, launcher, binaries }: NewCluster): Promise<void> {
  const { account } = launcher;
  if (account === null) requireUserName();
  const draft = await mkdtemp(join(dataDir, `${draftPrefix}${process.pid}-`));
  try {
    if (account) await letPass(draft, account);
    const { clusterDir, passwordFile, startLock } = pathsIn(draft);
    await mkdir(clusterDir, { mode: 0o700 });
    // Created here, so that it has the same owner as everything else, no matter which process locks it first.
    await writeFile(startLock, '', { mode: 0o600 });
    await writeFile(passwordFile, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
    if (account) {
      await chown(clusterDir, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    await runInitdb({ launcher, program: binaries.initdb, draft, clusterDir, passwordFile });
    if (account) await chown(passwordFile, 0, 0);
    await syncDirectory(draft);
    await rename(draft, paths.home).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    await syncDirectory(dataDir);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes the drafts of processes that were killed while creating a cluster. */
export async function sweepDrafts(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(draftPrefix)) continue;
    const draft = join(dataDir, name);
    const pid = Number.parseInt(name.slice(draftPrefix.length), 10);
    // A live pid may belong to another process by now. In a container it is often our own, from the previous run.
    const alive = processExists(pid);
    const oldestMs = Date.now() - (pid === process.pid ? process.uptime() * 1000 : longestInitMs);
    const madeMs = (await stat(draft).catch(() => null))?.mtimeMs ?? 0;
    if (alive && madeMs > oldestMs) continue;
    // An initdb that outlived its parent may still write here; the next start removes its leftovers.
    await rm(draft, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 }).catch(() => {});
  }
}

interface InitdbRun {
  launcher: Launcher;
  program: string;
  /** Contains both of the following. */
  draft: string;
  clusterDir: string;
  passwordFile: string;
}

async function runInitdb(run: InitdbRun): Promise<void> {
  const { launcher, program, draft, clusterDir, passwordFile } = run;
  const options = [
    ...['-D', clusterDir, '-U', databaseUser, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
    ...['--locale-provider=builtin', '--locale=C.UTF-8', '-E', 'UTF8', '--no-instructions'],
  ];
  await runProgram(launcher, [program, ...options], draft).catch((cause) => {
    throw new OperatorError(`PostgreSQL could not create its database files: ${complaintOf(cause)}`, {
      cause,
    });
  });
}

/** initdb fails without a user name, which is common in containers that run under an arbitrary uid. */
function requireUserName(): void {
  try {
    userInfo();
  } catch (cause) {
    throw new OperatorError(
      `The user id ${process.geteuid?.()} of this process has no entry in /etc/passwd, and PostgreSQL cannot create a database without one. ` +
        'Add an entry, run Holdfast as a user that has one, or set DATABASE_URL to a PostgreSQL server of your own.',
      { cause },
    );
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
