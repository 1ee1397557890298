/** The data directory of the embedded PostgreSQL: opens its cluster, and creates one when there is none. */
import { existsSync } from 'node:fs';
import { lchown, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { OperatorError } from '../../runtime/errors.ts';
import { explainFileFault } from '../../runtime/file-fault.ts';
import { type Account, accountOf, chooseServerAccount, describeAccount, readPasswd } from './account.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { initialiseCluster, sweepDrafts } from './init.ts';
import { complaintOf, createLauncher, type Launcher, runProgram } from './launch.ts';
import { type Paths, pathsIn, upgradePaths } from './paths.ts';
import { letPass } from './reach.ts';
import { prepareWalArchive } from './wal-archive.ts';

export interface Cluster extends Paths {
  /** The data directory with symbolic links resolved, so that every process passes the same path to the server. */
  dataDir: string;
  password: string;
  binaries: Binaries;
  launcher: Launcher;
  /** Where its log is archived; null: nowhere. */
  walArchive: string | null;
}

interface ClusterOptions {
  /** A directory with the programs of another version of PostgreSQL. */
  programs?: string | undefined;
  /** The directory where its log is archived. */
  walArchive?: string | null;
}

export async function openCluster(dataDir: string, options: ClusterOptions = {}): Promise<Cluster> {
  try {
    return await open(dataDir, options);
  } catch (error) {
    throw explainFileFault(error, {
      what: 'The data directory',
      path: dataDir,
      setting: 'HOLDFAST_DATA_DIR',
    });
  }
}

async function open(givenDir: string, { programs, walArchive = null }: ClusterOptions): Promise<Cluster> {
  // Checked first: a user who may not use the data may not see the programs either, and needs the right error message.
  if (existsSync(givenDir)) await findCluster(givenDir);
  const binaries = await findBinaries(programs);
  await requireWay(givenDir, binaries);
  // Only the data directory itself is closed to others; parent directories created on the way get the usual mode.
  await mkdir(dirname(resolve(givenDir)), { recursive: true });
  await mkdir(givenDir, { mode: 0o700 }).catch(async (error) => {
    if (!(await stat(givenDir)).isDirectory()) throw error;
  });
  const { dataDir, paths, exists } = await findCluster(givenDir);
  if (!exists) refuseHalfUpgraded(dataDir);
  const account = process.geteuid?.() === 0 ? await accountFor(paths.clusterDir, exists) : null;
  if (account) await letPass(dataDir, account);
  if (account && exists) await letPass(paths.home, account);
  const launcher = await createLauncher({
    account,
    binaries,
    directory: exists ? paths.home : dataDir,
    ...(walArchive !== null && { alsoUsed: [walArchive] }),
  });
  const major = await majorVersion(launcher, binaries);

  await sweepDrafts(dataDir);
  if (!exists) await initialiseCluster({ dataDir, paths, launcher, binaries });
  await checkVersion(paths, major);
  const password = (await readFile(paths.passwordFile, 'utf8')).trim();
  if (walArchive !== null)
    await prepareWalArchive({ dir: walArchive, clusterDir: paths.clusterDir, account });
  return { ...paths, dataDir, password, binaries, launcher, walArchive };
}

/** Killed between its two renames, an upgrade leaves no cluster in place: an empty one must not take it. */
function refuseHalfUpgraded(dataDir: string): void {
  if (!existsSync(upgradePaths(dataDir).finished)) return;
  throw new OperatorError(
    `The upgrade of the database in ${dataDir} was interrupted at its last step, and nothing is lost. Run "holdfast upgrade-database" again.`,
  );
}

interface Found {
  dataDir: string;
  paths: Paths;
  exists: boolean;
}

async function findCluster(givenDir: string): Promise<Found> {
  const dataDir = await realpath(givenDir);
  const paths = pathsIn(join(dataDir, 'postgres'));
  return { dataDir, paths, exists: await checkOwner(dataDir, paths) };
}

/** Runs before anything is created: throws when the account that is to run a new cluster could not reach it. */
async function requireWay(dataDir: string, binaries: Binaries): Promise<void> {
  if (process.geteuid?.() !== 0 || existsSync(join(dataDir, 'postgres'))) return;
  let directory = resolve(dataDir);
  while (!existsSync(directory)) directory = dirname(directory);
  const account = await accountFor('', false);
  await createLauncher({ account, binaries, directory: await realpath(directory) });
}

/** Whether there is a cluster; throws when it exists but belongs to another account. */
async function checkOwner(dataDir: string, { home, clusterDir }: Paths): Promise<boolean> {
  const uid = process.geteuid?.() ?? 0;
  for (const path of [home, clusterDir]) {
    const entry = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      if (error.code !== 'EACCES') throw error;
      return stat(dataDir);
    });
    if (entry === null) return false;
    if (uid !== 0 && entry.uid !== uid) {
      const owner = describeAccount(accountOf(await readPasswd(), entry));
      const me = describeAccount(await ownAccount());
      throw new OperatorError(
        `The data in ${dataDir} belongs to ${owner}, but this process runs as ${me} and may not use it. ` +
          `Run Holdfast as the user that made it, hand the data over (chown -R ${uid} ${dataDir}), or set HOLDFAST_DATA_DIR to another directory.`,
      );
    }
  }
  return true;
}

async function ownAccount(): Promise<Account> {
  return accountOf(await readPasswd(), { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 });
}

/** As root: the owner of the cluster runs it, no matter who created it or which accounts were added later. */
async function accountFor(clusterDir: string, exists: boolean): Promise<Account> {
  const passwd = await readPasswd();
  const owner = exists ? await stat(clusterDir) : null;
  if (owner && owner.uid !== 0) return accountOf(passwd, owner);
  const chosen = chooseServerAccount(passwd);
  if (chosen === null) {
    throw new OperatorError(
      'PostgreSQL does not run as root, and /etc/passwd has neither an account postgres nor nobody to run it instead. ' +
        'Add one, run Holdfast as an ordinary user, or set DATABASE_URL to a PostgreSQL server of your own.',
    );
  }
  // For instance, root owns the files after a restore from a backup.
  if (owner) await chownTree(clusterDir, chosen);
  return chosen;
}

async function chownTree(directory: string, { uid, gid }: Account): Promise<void> {
  const inside = await readdir(directory, { recursive: true });
  for (const name of inside) await lchown(join(directory, name), uid, gid);
  // The directory itself comes last: if this start is killed, its owner tells the next start whether all is done.
  await lchown(directory, uid, gid);
}

async function majorVersion(launcher: Launcher, binaries: Binaries): Promise<string> {
  const output = await runProgram(launcher, [binaries.postgres, '--version']).catch((cause) => {
    throw new OperatorError(
      `${binaries.postgres} does not run: ${complaintOf(cause)}. Run npm rebuild on this machine, or set DATABASE_URL to a PostgreSQL server of your own.`,
      { cause },
    );
  });
  return /\) (\d+)/.exec(output)?.[1] ?? output.trim();
}

async function checkVersion({ home, clusterDir }: Paths, major: string): Promise<void> {
  const version = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(
    (cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      throw new OperatorError(
        `${home} exists but contains no PostgreSQL cluster. Move it away to start with an empty database, or restore it from a backup.`,
        { cause },
      );
    },
  );
  if (version.trim() !== major) {
    throw new OperatorError(
      `The database in ${clusterDir} was made by PostgreSQL ${version.trim()}, but the installed programs are PostgreSQL ${major}. ` +
        `Run "holdfast upgrade-database --old-programs DIRECTORY" with the programs of PostgreSQL ${version.trim()}, or go on with the release of Holdfast that made it.`,
    );
  }
}
