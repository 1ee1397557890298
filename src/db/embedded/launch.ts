/** Decides under which account the PostgreSQL programs run, and how they reach their files and the data. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../runtime/errors.ts';
import { type Account, describeAccount } from './account.ts';
import type { Binaries } from './binaries.ts';
import { planPassage } from './passage.ts';
import { closedDirectories, mayPass } from './reach.ts';

export interface Launch {
  file: string;
  args: string[];
  options: { cwd: string; env: Record<string, string>; uid?: number; gid?: number };
}

export interface Launcher {
  /** The account that runs the programs; null means our own. */
  account: Account | null;
  /** `data`: the directory that the program works on. */
  prepare(program: string, args: string[], data?: string): Launch;
}

export interface LauncherNeeds {
  account: Account | null;
  binaries: Binaries;
  /** The directory that holds the cluster, or an existing one above it. */
  directory: string;
  /** Other directories that the programs use; the account must be able to reach them. */
  alsoUsed?: string[];
}

const run = promisify(execFile);

/**
 * None of our own environment is passed on: it may hold secrets, which the server's account could read in /proc, and
 * PG* variables, which would change what the programs do. Messages are English, because start.ts parses them.
 */
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};
/** Our own working directory may be closed to the server's account. */
const surroundings = { cwd: '/', env: environment };

export async function createLauncher({
  account,
  binaries,
  directory,
  alsoUsed = [],
}: LauncherNeeds): Promise<Launcher> {
  if (account === null) {
    return { account, prepare: (file, args) => ({ file, args, options: surroundings }) };
  }
  const { uid, gid } = account;
  if (!mayPass(await stat(binaries.postgres), account)) {
    throw new OperatorError(
      `PostgreSQL does not run as root, and the account ${describeAccount(account)} may not execute ${binaries.postgres}. ` +
        `Run chmod -R o+rX ${dirname(dirname(binaries.postgres))}, run Holdfast as an ordinary user, or set DATABASE_URL to a PostgreSQL server of your own.`,
    );
  }
  const programs = dirname(dirname(binaries.postgres));
  const dataClosed = await closedDirectories(directory, account);
  const programsClosed = await closedDirectories(dirname(binaries.postgres), account);
  if (dataClosed.length === 0 && programsClosed.length === 0) {
    return { account, prepare: (file, args) => ({ file, args, options: { ...surroundings, uid, gid } }) };
  }
  const refuse = (cause: unknown) =>
    new OperatorError(closedMessage({ account, dataClosed, programsClosed, cause }), { cause });
  const passage = await planPassage({ account, programs, directory, alsoUsed });
  if (passage === null) throw refuse(new Error('there is no directory such as /mnt to mount them in'));
  const launcher: Launcher = {
    account,
    prepare: (file, args, data) => ({ ...passage(file, args, data), options: surroundings }),
  };
  await runProgram(launcher, [binaries.postgres, '--version']).catch((cause) => {
    throw refuse(cause);
  });
  return launcher;
}

/** Runs a program to its end and returns its stdout; rejects with its stderr. */
export async function runProgram(
  launcher: Launcher,
  [program, ...rest]: readonly [string, ...string[]],
  data?: string,
): Promise<string> {
  const { file, args: allArgs, options } = launcher.prepare(program, rest, data);
  const { stdout } = await run(file, allArgs, options);
  return stdout;
}

/** The error message of a failed runProgram: the program's stderr, otherwise why it could not be run. */
export function complaintOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('stderr' in error && typeof error.stderr === 'string' && error.stderr.trim() !== '')
    return error.stderr.trim();
  return error.message;
}

interface Closed {
  account: Account;
  dataClosed: string[];
  programsClosed: string[];
  cause: unknown;
}

function closedMessage({ account, dataClosed, programsClosed, cause }: Closed): string {
  const directories = [...new Set([...dataClosed, ...programsClosed])];
  const wayOut =
    programsClosed.length === 0 ? 'set HOLDFAST_DATA_DIR to a directory the account can reach, ' : '';
  const reason = isMissing(cause) ? 'the program unshare (util-linux) is not installed' : complaintOf(cause);
  return (
    `PostgreSQL does not run as root, and the account ${describeAccount(account)} that runs it instead cannot enter ${directories.join(', ')}. ` +
    `Mounting the data and the programs elsewhere (unshare --mount) is not possible: ${reason}. ` +
    `Run chmod o+x ${directories.join(' ')}, ${wayOut}run Holdfast as an ordinary user, or set DATABASE_URL to a PostgreSQL server of your own.`
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
