/** The embedded PostgreSQL: a real server in the data directory, shared by the processes that use it, restarted when it dies. */
import { createWakeup, type Loop, type LoopLog, repeating } from '../../runtime/loop.ts';
import { openCluster } from './cluster.ts';
import { databaseUser } from './init.ts';
import { databaseName } from './locks.ts';
import { processExists } from './postmaster.ts';
import { type LeaseRequest, releaseServerLease, takeServerLease } from './server-lease.ts';

export interface Connection {
  /** The directory of the server's socket; 127.0.0.1 where its path is too long, or there can be none. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  /** Explicit, because pg would otherwise read it from the environment. */
  ssl: false;
}

export interface EmbeddedPostgres {
  /** Where to connect now; the port may change after a restart, so the pool calls this for each new connection. */
  connection(): Connection;
  /**
   * Restarts the server when it dies. Meant for long-running processes such as the service; a quick command does not
   * need it.
   */
  loop: Loop;
  /** Leaves the server; the last user stops it and waits until it is gone. Close the pool first. */
  release(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  log: LoopLog;
  /** For the service: refuses to start while another service uses the data directory. */
  exclusive?: boolean;
  /** A directory with the programs of another version, for the cluster of that version. */
  programs?: string;
  /** The directory where its log is archived. */
  walArchive?: string | null;
  /** How long the server may take to become ready the first time. */
  waitMs?: number;
  /** Gives up waiting for the server; it may still be running. */
  signal?: AbortSignal | undefined;
}

/** How often to check the server's process; the end of its connection is noticed at once. */
const lookMs = 1_000;

/** How long release() waits for a running restart; with the 5 s for requests it stays within the 12 s of a shutdown. */
const longestRestoreMs = 5_000;

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, exclusive = false, programs, walArchive = null, waitMs, signal: given } = options;
  const cluster = await openCluster(options.dataDir, { programs, walArchive });
  const closing = new AbortController();
  const wakeup = createWakeup();
  const request: LeaseRequest = { cluster, exclusive, log, onLost: wakeup.wake };

  const first = given ? AbortSignal.any([given, closing.signal]) : closing.signal;
  let lease = await takeServerLease({ ...request, waitMs }, first);
  let restoring: Promise<void> | null = null;
  let released: Promise<void> | null = null;
  log.info(
    { pid: lease.pid, port: lease.port },
    lease.started ? 'embedded PostgreSQL started' : 'using the embedded PostgreSQL that is already running',
  );

  async function restore(): Promise<void> {
    await lease.client.end().catch(() => {});
    lease = await takeServerLease(request, closing.signal);
    log.error(
      { pid: lease.pid, port: lease.port },
      lease.started
        ? 'embedded PostgreSQL had died; restarted it'
        : 'connection to embedded PostgreSQL restored',
    );
  }

  async function step(signal: AbortSignal): Promise<boolean> {
    // The connection breaks when the server dies; the process is checked too, in case that takes a while.
    if (released || (!lease.lost && processExists(lease.pid))) return false;
    restoring ??= restore().finally(() => {
      restoring = null;
    });
    // The loop stops at once, but the restart continues: aborted half-way, it would leave a server that release()
    // cannot leave.
    await Promise.race([restoring, aborted(signal)]);
    return false;
  }

  async function leave(): Promise<void> {
    const timer = setTimeout(() => closing.abort(), longestRestoreMs);
    await restoring?.catch(() => {});
    clearTimeout(timer);
    closing.abort();
    await releaseServerLease(lease, request);
  }

  return {
    connection: () => ({
      host: lease.host,
      port: lease.port,
      user: databaseUser,
      password: cluster.password,
      database: databaseName,
      ssl: false,
    }),
    loop: repeating({ name: 'embedded-postgres', step, restMs: lookMs, wakeup }),
    release() {
      released ??= leave();
      return released;
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
