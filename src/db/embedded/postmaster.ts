/** The server process of a cluster: how to identify it, by postmaster.pid and by the process itself, and how to stop it. */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Postmaster {
  pid: number;
  port: number;
  /** Where to connect, as pg wants it: the directory of its socket, or 127.0.0.1. */
  host: string;
  /** The server reports that it accepts connections. Before that, the port might still belong to another process. */
  ready: boolean;
}

/**
 * The socket is in the cluster's own directory, which is closed to other accounts. The server names it relative to its
 * working directory: it may see the cluster at another path than we do (passage.ts), and no path is too long for it.
 */
export const socketDirectory = '.';

/** The server that runs on this cluster now, if postmaster.pid names a process that may be that server. */
export async function findPostmaster(clusterDir: string): Promise<Postmaster | null> {
  const found = parsePidFile(await readPidFile(clusterDir));
  if (found === null || !(await isPostmasterOf(found.pid, clusterDir))) return null;
  const { pid, port, hasSocket, ready } = found;
  return {
    pid,
    port,
    ready,
    host: hasSocket && socketReachable(clusterDir, port) ? clusterDir : '127.0.0.1',
  };
}

/** The port of the last start; PostgreSQL keeps its command line in postmaster.opts even when it is down. */
export async function lastPort(clusterDir: string): Promise<number | null> {
  const options = await readFile(join(clusterDir, 'postmaster.opts'), 'utf8').catch(() => '');
  const port = /"-p" "(\d+)"/.exec(options)?.[1];
  return port === undefined ? null : Number(port);
}

/**
 * Removes a postmaster.pid that would keep PostgreSQL from starting although its server is gone: the pid now belongs
 * to something else (usual after a container restart), or the file was cut short by a power failure. When the pid is
 * free the file stays, since PostgreSQL also looks there for shared memory that old backends still use. Call it only
 * under the start lock, or the file may be a new server's by the time it is removed.
 */
export async function clearForeignPidFile(clusterDir: string): Promise<void> {
  const text = await readPidFile(clusterDir);
  if (text === null) return;
  const path = join(clusterDir, 'postmaster.pid');
  const named = parsePidFile(text);
  const foreign = named
    ? processExists(named.pid) && !(await isPostmasterOf(named.pid, clusterDir))
    : // A server fills the file right after creating it, so only an old file is truncated for good.
      Date.now() - (await stat(path)).mtimeMs > 5_000;
  if (foreign) await unlink(path);
}

/**
 * Removes the sockets of servers that are gone. PostgreSQL replaces a stale one by itself, but not if the pid in its lock
 * file now belongs to something else. Call it only under the start lock, when no server is found.
 */
export async function clearStaleSockets(clusterDir: string): Promise<void> {
  for (const name of await readdir(clusterDir)) {
    if (name.startsWith(socketPrefix)) await rm(join(clusterDir, name), { force: true });
  }
}

/** What is known of a live process; null if hidden from us. */
export interface Signs {
  /** Everybody may read it, unless /proc is mounted with hidepid. It is empty for a zombie. */
  command: string[] | null;
  /** Whether it works in the cluster. Without CAP_SYS_PTRACE, as in a container, root cannot see this for other accounts. */
  isAtHome: boolean | null;
  pidFile: string | null;
}

/**
 * Whether a process may be the cluster's server. In doubt the answer is yes: otherwise a running server could lose its
 * postmaster.pid. Where the working directory is hidden, the command line must match the file; the directory is
 * compared as text, since the server may see it at another path than we do (passage.ts).
 */
export function mayBePostmaster({ command, isAtHome, pidFile }: Signs): boolean {
  if (command !== null && basename(command[0] ?? '') !== 'postgres') return false;
  if (isAtHome !== null) return isAtHome;
  const [, directory, , port] = pidFile?.split('\n') ?? [];
  const differs = (option: string, written = '') => {
    const said = command?.includes(option) ? (command[command.indexOf(option) + 1] ?? '') : '';
    return said !== '' && written !== '' && said !== written;
  };
  return !differs('-D', directory) && !differs('-p', port);
}

/** Stops the server and returns once its process is gone; false when it survived every signal. */
export async function stopPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  // SIGINT is a fast, clean shutdown; SIGQUIT skips the final checkpoint, and the next start recovers.
  for (const [signal, patienceMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return !(await isPostmasterOf(pid, clusterDir));
    }
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      if (!(await isPostmasterOf(pid, clusterDir))) return true;
      await sleep(20);
    }
  }
  return false;
}

/** Whether a process has this pid, even if it is not ours, or a zombie. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isPostmasterOf(pid: number, clusterDir: string): Promise<boolean> {
  if (!processExists(pid)) return false;
  if (process.platform !== 'linux') return isPostmasterByPs(pid, clusterDir);
  const cluster = await stat(clusterDir);
  // The working directory stays correct when the data directory was renamed.
  const home = await stat(`/proc/${pid}/cwd`).catch(() => null);
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  // A process that is hidden may also have just ended.
  if (command === null && !processExists(pid)) return false;
  return mayBePostmaster({
    command: command?.split('\0') ?? null,
    isAtHome: home && home.ino === cluster.ino && home.dev === cluster.dev,
    pidFile: await readPidFile(clusterDir),
  });
}

async function isPostmasterByPs(pid: number, clusterDir: string): Promise<boolean> {
  const ps = promisify(execFile)('/bin/ps', ['-ww', '-o', 'stat=,command=', '-p', String(pid)]);
  const { stdout } = await ps.catch(() => ({ stdout: '' }));
  return !stdout.startsWith('Z') && stdout.includes(`/postgres -D ${clusterDir} -p `);
}

function readPidFile(clusterDir: string): Promise<string | null> {
  return readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => null);
}

interface PidFile {
  pid: number;
  port: number;
  /** Not every file system has them. */
  hasSocket: boolean;
  ready: boolean;
}

/** Lines: pid, data directory, start time, port, socket directory, listen address, shared memory, status. */
function parsePidFile(text: string | null): PidFile | null {
  const [pid, , , port, socketDir, , , status] = (text ?? '').split('\n');
  if (!/^\d+$/.test(pid ?? '') || !/^\d+$/.test(port ?? '')) return null;
  return {
    pid: Number(pid),
    port: Number(port),
    hasSocket: socketDir?.trim() === socketDirectory,
    ready: status?.trim() === 'ready',
  };
}

/** The name that PostgreSQL gives its socket is this and the port. */
const socketPrefix = '.s.PGSQL.';

/** The longest path in a socket address: sun_path has 108 bytes on Linux and 104 on macOS, one of them for the end. */
const longestSocketPath = 103;

function socketReachable(clusterDir: string, port: number): boolean {
  return Buffer.byteLength(join(clusterDir, `${socketPrefix}${port}`)) <= longestSocketPath;
}
