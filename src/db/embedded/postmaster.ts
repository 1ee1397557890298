/** The server process of a cluster: who it is, by postmaster.pid and proof, and how it is stopped. */
import { execFile } from 'node:child_process';
import { readFile, stat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Postmaster {
  pid: number;
  port: number;
  /** It says that it takes connections. Before that, the port might still be anybody's. */
  ready: boolean;
}

/** The server that runs on this cluster now, if postmaster.pid names a process that provably is one. */
export async function findPostmaster(clusterDir: string): Promise<Postmaster | null> {
  const found = parsePidFile(await readPidFile(clusterDir));
  return found && (await isPostmasterOf(found.pid, clusterDir)) ? found : null;
}

/** The port of the last start; PostgreSQL keeps its command line in postmaster.opts also when it is down. */
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
    : // A server writes the file in the instant it creates it, so only an old one is cut short for good.
      Date.now() - (await stat(path)).mtimeMs > 5_000;
  if (foreign) await unlink(path);
}

/** Stops the server and returns once its process is gone; false when it is still there after all. */
export async function stopPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  // SIGINT is a fast, clean shutdown; SIGQUIT gives up on the final checkpoint, which the next start makes good.
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

/** Whether a process has this pid, even if it is not ours, or dead and not yet reaped. */
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
  // A dead process that nobody reaped has no command line; that is usual where Node runs as pid 1.
  const argv = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(emptyIfHidden)).split('\0');
  if (basename(argv[0] ?? '') !== 'postgres') return false;
  const cluster = await stat(clusterDir);
  // The working directory stays true when the data directory was renamed. Root may not look at it in a container
  // without CAP_SYS_PTRACE, but everybody may read the command line.
  const claimed = argv[argv.indexOf('-D') + 1] ?? '';
  const home = await stat(`/proc/${pid}/cwd`).catch(() => stat(claimed).catch(() => null));
  return home !== null && home.ino === cluster.ino && home.dev === cluster.dev;
}

/** The process ended just now, or belongs to another user and is hidden; any other failure proves nothing. */
function emptyIfHidden(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return '';
  throw error;
}

async function isPostmasterByPs(pid: number, clusterDir: string): Promise<boolean> {
  const ps = promisify(execFile)('/bin/ps', ['-ww', '-o', 'stat=,command=', '-p', String(pid)]);
  const { stdout } = await ps.catch(() => ({ stdout: '' }));
  return !stdout.startsWith('Z') && stdout.includes(`/postgres -D ${clusterDir} -p `);
}

function readPidFile(clusterDir: string): Promise<string | null> {
  return readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => null);
}

/** Lines: pid, data directory, start time, port, socket directory, listen address, shared memory, status. */
function parsePidFile(text: string | null): Postmaster | null {
  const [pid, , , port, , , , status] = (text ?? '').split('\n');
  if (!/^\d+$/.test(pid ?? '') || !/^\d+$/.test(port ?? '')) return null;
  return { pid: Number(pid), port: Number(port), ready: status?.trim() === 'ready' };
}
