/** Gets a connection to the cluster's server: to the one that runs, or to one it starts. */
import { spawn } from 'node:child_process';
import { open, rename, stat } from 'node:fs/promises';
import type pg from 'pg';
import { OperatorError } from '../../errors.ts';
import { pause } from '../../loop.ts';
import type { Cluster } from './cluster.ts';
import { connect, isPassing } from './connect.ts';
import { choosePort } from './port.ts';
import { clearForeignPidFile, findPostmaster, lastPort, stopPostmaster } from './postmaster.ts';

export interface Server {
  pid: number;
  port: number;
  /** True when we started it, false when it ran already. */
  started: boolean;
  /** A connection to the database `postgres`, where the locks of locks.ts live. */
  client: pg.Client;
}

/** Long, because after a crash PostgreSQL first replays its log; it goes on with that even if we give up. */
const longestWaitMs = 120_000;
/** After a kill of the server, old backends may keep its shared memory until their queries end. */
const longestRetryMs = 15_000;
const largestLogBytes = 10 * 1024 * 1024;
const pollMs = 20;
const retryMs = 100;

/** Somebody took the port between our choice and the server's start. */
const portTaken = /could not create any TCP\/IP sockets/;
/** Another process was faster, or the backends of a killed server have not ended yet. */
const passing = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;

export async function reachServer(cluster: Cluster, name: string, signal: AbortSignal): Promise<Server> {
  const began = performance.now();
  let attempt: Attempt | null = null;
  while (!signal.aborted) {
    const waitedMs = performance.now() - began;
    const found = await findPostmaster(cluster.clusterDir);
    if (found?.ready) {
      const client = await connect({ cluster, port: found.port, name }).catch(async (error) => {
        if (isPassing(error)) return null;
        // We alone know of it: without a connection nobody would ever stop it.
        if (found.pid === attempt?.pid) await stopPostmaster(found.pid, cluster.clusterDir);
        throw error;
      });
      if (client) return { pid: found.pid, port: found.port, started: found.pid === attempt?.pid, client };
    } else if (found === null) {
      const end: Ending | null = attempt === null ? null : await attempt.end();
      if (end && !(end.passing && waitedMs < longestRetryMs)) {
        throw new OperatorError(
          `PostgreSQL did not start. The end of ${cluster.logFile}:\n${lastLines(end.output)}`,
        );
      }
      if (end) await pause(retryMs, signal);
      if (end || attempt === null) attempt = await startServer(cluster, end?.portTaken ?? false);
    }
    if (waitedMs > longestWaitMs) {
      throw new OperatorError(
        `PostgreSQL did not answer within ${longestWaitMs / 1000} s; ${cluster.logFile} may tell why.`,
      );
    }
    await pause(pollMs, signal);
  }
  throw signal.reason;
}

interface Attempt {
  pid: number | undefined;
  /** Null while the server runs. */
  end(): Promise<Ending | null>;
}

interface Ending {
  /** What the server log got since the start, and how the process ended. */
  output: string;
  portTaken: boolean;
  /** Another start may succeed. */
  passing: boolean;
}

async function startServer(cluster: Cluster, avoidLastPort: boolean): Promise<Attempt> {
  const { clusterDir, binaries, launcher, home, logFile } = cluster;
  await clearForeignPidFile(clusterDir);
  await rotateLog(logFile);
  const port = await choosePort(avoidLastPort ? null : await lastPort(clusterDir));
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '100',
    wal_level: 'minimal',
    max_wal_senders: '0',
    // Statements hold people's data, which has no place in a log.
    log_statement: 'none',
    log_min_error_statement: 'panic',
  };
  // `-D`, the directory, `-p`, the port, in this order: postmaster.ts knows our server by it.
  const { file, args, options } = launcher.prepare(binaries.postgres, [
    ...['-D', clusterDir, '-p', String(port)],
    ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ]);
  const log = await open(logFile, 'a', 0o600);
  try {
    const offset = (await log.stat()).size;
    // As root we may work on an ordinary user's data: what we add must stay theirs.
    if (launcher.account) await stat(home).then(({ uid, gid }) => log.chown(uid, gid));
    // Detached: in a session of its own, neither Ctrl-C nor a kill of our process group takes it along.
    const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log.fd, log.fd] });
    child.unref();
    let how: string | null = null;
    // Who was stopped or killed meanwhile did not fail by itself.
    let stopped = false;
    child.once('error', (error) => {
      how = error.message;
    });
    child.once('exit', (code, signal) => {
      how ??= `exit ${code ?? signal}`;
      stopped = code === 0 || signal !== null;
    });
    return {
      pid: child.pid,
      async end() {
        if (how === null) return null;
        const output = `${await readEnd(logFile, offset)}${how}`;
        const taken = portTaken.test(output);
        return { output, portTaken: taken, passing: taken || stopped || passing.test(output) };
      },
    };
  } finally {
    await log.close();
  }
}

/** Only before a start: a running server would go on writing to the renamed file. */
async function rotateLog(logFile: string): Promise<void> {
  const size = (await stat(logFile).catch(() => null))?.size ?? 0;
  if (size > largestLogBytes) await rename(logFile, `${logFile}.1`);
}

/** The last 64 kB of the file, as far as they come after the offset. */
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

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-12).join('\n');
}
