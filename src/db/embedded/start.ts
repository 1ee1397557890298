/** Starts the server process of a cluster, once, and reports why it ended if it does. */
import { spawn } from 'node:child_process';
import { open, rename, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { choosePort } from './port.ts';
import {
  clearForeignPidFile,
  clearStaleSockets,
  findPostmaster,
  lastPort,
  socketDirectory,
} from './postmaster.ts';
import { tryStartLock } from './start-lock.ts';
import { walSettings } from './wal-archive.ts';

export interface StartAttempt {
  pid: number | undefined;
  /** Null while the server runs. */
  failure(): Promise<StartFailure | null>;
}

export interface StartFailure {
  /** What the server logged since the start, and how the process ended. */
  output: string;
  portTaken: boolean;
  /** The file system of the cluster has no sockets, as is usual for directories that a virtual machine shares. */
  socketRefused: boolean;
  /** Another attempt may succeed. */
  passing: boolean;
}

const longestLockMs = 10_000;
const largestLogBytes = 10 * 1024 * 1024;

/** Another process took the port between our choice and the server's start. */
const portTaken = /could not create any TCP\/IP sockets/;
const socketRefused = /could not create any Unix-domain sockets/;
/** Another process started a server, or the backends of a killed one have not ended yet. */
const passing = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;

const settings = {
  listen_addresses: '127.0.0.1',
  // A service takes 16, a command one or two; a slot that nobody uses costs some 20 KB.
  max_connections: '200',
  max_wal_senders: '0',
  shared_buffers: `${sharedBuffersMb(totalmem())}MB`,
  // Statements contain personal data, which must not be logged.
  log_statement: 'none',
  log_min_error_statement: 'panic',
};

/**
 * A sixteenth of the memory, from PostgreSQL's default up to a gigabyte; the memory is only allocated when used. Other
 * pages are read from the system's cache, at 12 µs a page: a list of a hundred scattered rows took a millisecond
 * longer.
 */
function sharedBuffersMb(memoryBytes: number): number {
  return Math.floor(Math.min(1024, Math.max(128, memoryBytes / 16 / 1024 / 1024)));
}

/** Null when another process is starting the server, or just did. */
export async function tryStart(
  cluster: Cluster,
  lastFailure: Pick<StartFailure, 'portTaken' | 'socketRefused'> | null,
): Promise<StartAttempt | null> {
  const { clusterDir, startLock } = cluster;
  const unlock = tryStartLock(startLock);
  if (unlock === null) return null;
  try {
    if (await findPostmaster(clusterDir)) return null;
    await clearForeignPidFile(clusterDir);
    await clearStaleSockets(clusterDir);
    const port = await choosePort(lastFailure?.portTaken ? null : await lastPort(clusterDir));
    const attempt = await spawnServer(cluster, {
      port,
      socketDirectories: lastFailure?.socketRefused ? '' : socketDirectory,
    });
    // Keep the lock until others can find the server; it takes about 10 ms to write its postmaster.pid.
    const deadline = performance.now() + longestLockMs;
    while (performance.now() < deadline) {
      if ((await attempt.failure()) || (await findPostmaster(clusterDir))) break;
      await sleep(5);
    }
    return attempt;
  } finally {
    unlock();
  }
}

async function spawnServer(
  cluster: Cluster,
  { port, socketDirectories }: { port: number; socketDirectories: string },
): Promise<StartAttempt> {
  const { clusterDir, binaries, launcher, home, logFile, walArchive } = cluster;
  // `-D`, the directory, `-p`, the port, in this order: postmaster.ts identifies our server by it.
  const { file, args, options } = launcher.prepare(
    binaries.postgres,
    [
      ...['-D', clusterDir, '-p', String(port)],
      ...Object.entries({
        ...settings,
        ...walSettings(walArchive),
        unix_socket_directories: socketDirectories,
      }).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ],
    clusterDir,
  );
  await rotateLog(logFile);
  const log = await open(logFile, 'a', 0o600);
  try {
    const offset = (await log.stat()).size;
    // As root we may work on an ordinary user's data: files that we add must belong to that user.
    if (launcher.account) await stat(home).then(({ uid, gid }) => log.chown(uid, gid));
    // Detached: in a session of its own, so that neither Ctrl-C nor a kill of our process group ends it.
    const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log.fd, log.fd] });
    child.unref();
    let end: string | null = null;
    // A server that was stopped or killed meanwhile did not fail on its own.
    let stopped = false;
    child.once('error', (error) => {
      end = error.message;
    });
    child.once('exit', (code, signal) => {
      end ??= `exit ${code ?? signal}`;
      stopped = code === 0 || signal !== null;
    });
    return {
      pid: child.pid,
      async failure() {
        if (end === null) return null;
        const output = `${await readEnd(logFile, offset)}${end}`;
        const taken = portTaken.test(output);
        const refused = socketRefused.test(output);
        return {
          output,
          portTaken: taken,
          socketRefused: refused,
          passing: taken || refused || stopped || passing.test(output),
        };
      },
    };
  } finally {
    await log.close();
  }
}

/** Call only before a start: a running server would go on writing to the renamed file. */
async function rotateLog(logFile: string): Promise<void> {
  const size = (await stat(logFile).catch(() => null))?.size ?? 0;
  if (size > largestLogBytes) await rename(logFile, `${logFile}.1`);
}

/** The last 64 kB of the file, limited to what comes after the offset. */
async function readEnd(path: string, offset: number): Promise<string> {
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(64 * 1024);
    const start = Math.max(offset, (await file.stat()).size - buffer.length);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
