/** Connects to the cluster's server, and starts it if it is not running. */
import type pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';
import { pause } from '../../runtime/loop.ts';
import type { Cluster } from './cluster.ts';
import { connect, isPassing } from './connect.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';
import { type StartAttempt, type StartFailure, tryStart } from './start.ts';

export interface Server {
  pid: number;
  host: string;
  port: number;
  /** True when we started it, false when it was already running. */
  started: boolean;
  /** A connection to the database `postgres`, which holds the locks of locks.ts. */
  client: pg.Client;
}

/** Long, because after a crash PostgreSQL first replays its log; it continues with that even if we give up. */
const longestWaitMs = 120_000;
/** After the server was killed, old backends may keep its shared memory until their queries end. */
const longestRetryMs = 15_000;
const pollMs = 20;
const retryMs = 100;

export interface ReachOptions {
  /** The name of the connection. */
  name: string;
  signal: AbortSignal;
  /** How long a server may take to become ready. */
  waitMs?: number | undefined;
}

export async function reachServer(
  cluster: Cluster,
  { name, signal, waitMs = longestWaitMs }: ReachOptions,
): Promise<Server> {
  const began = performance.now();
  let attempt: StartAttempt | null = null;
  let failingSince: number | null = null;
  while (!signal.aborted) {
    const now = performance.now();
    const found = await findPostmaster(cluster.clusterDir);
    if (found) failingSince = null;
    if (found?.ready) {
      const client = await connect({ cluster, server: found, name }).catch(async (error) => {
        if (isPassing(error)) return null;
        // Only we know of this server: without a connection nobody would ever stop it.
        if (found.pid === attempt?.pid) await stopPostmaster(found.pid, cluster.clusterDir);
        throw error;
      });
      if (client) {
        const { pid, host, port } = found;
        return { pid, host, port, started: pid === attempt?.pid, client };
      }
    } else if (found === null) {
      const failure: StartFailure | null = attempt ? await attempt.failure() : null;
      if (failure) {
        failingSince ??= now;
        if (!failure.passing || now - failingSince > longestRetryMs) {
          const lines = failure.output.trim().split('\n').slice(-12).join('\n');
          throw new OperatorError(`PostgreSQL did not start. The end of ${cluster.logFile}:\n${lines}`);
        }
        await pause(retryMs, signal);
      }
      if (failure || attempt === null) attempt = await tryStart(cluster, failure);
    }
    if (now - began > waitMs) {
      throw new OperatorError(
        `PostgreSQL did not answer within ${waitMs / 1000} s; ${cluster.logFile} may say why.`,
      );
    }
    await pause(pollMs, signal);
  }
  throw signal.reason;
}
