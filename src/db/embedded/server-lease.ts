/** A process's lease on the server: a connection whose locks keep the server up, until the last user stops it. */
import type pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import type { Cluster } from './cluster.ts';
import { connect, isPassing } from './connect.ts';
import { becomeOnlyService, createDatabase, joinUsers, leaveUsers, sessionName } from './locks.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';
import { reachServer } from './server.ts';

export interface LeaseRequest {
  cluster: Cluster;
  /** This process wants to be the only service. */
  exclusive: boolean;
  log: LoopLog;
  onLost(): void;
  /** How long a server may take to become ready, as after a long recovery. */
  waitMs?: number | undefined;
}

export interface ServerLease {
  pid: number;
  host: string;
  port: number;
  /** True when we started this server, false when it was already running. */
  started: boolean;
  client: pg.Client;
  lost: boolean;
}

/** How often the server may stop while we join it, as happens when its last user is just stopping it. */
const mostTries = 5;

export async function takeServerLease(request: LeaseRequest, signal: AbortSignal): Promise<ServerLease> {
  const { cluster, exclusive, onLost, waitMs } = request;
  for (let tries = 1; ; tries += 1) {
    const server = await reachServer(cluster, { name: sessionName(exclusive), signal, waitMs });
    const lease: ServerLease = { ...server, lost: false };
    lease.client.once('end', () => {
      lease.lost = true;
      onLost();
    });
    try {
      await joinUsers(lease.client);
      await createDatabase(lease.client);
      if (exclusive) await becomeOnlyService(lease.client, cluster.dataDir, signal);
      return lease;
    } catch (error) {
      await releaseServerLease(lease, request);
      if (signal.aborted || !isPassing(error) || tries === mostTries) throw error;
    }
  }
}

/** Leaves the server; if nobody else uses it, stops it and waits until it is gone. Also works for a dead server. */
export async function releaseServerLease(
  lease: ServerLease,
  { cluster, exclusive, log }: LeaseRequest,
): Promise<void> {
  let { client } = lease;
  try {
    const found = await findPostmaster(cluster.clusterDir);
    if (!found?.ready) return;
    if (lease.lost) client = await connect({ cluster, server: found, name: sessionName(exclusive) });
    if (!(await leaveUsers(client))) return;
    if (!(await stopPostmaster(found.pid, cluster.clusterDir))) {
      throw new OperatorError(`PostgreSQL (pid ${found.pid}) does not stop; ${cluster.logFile} may say why.`);
    }
  } catch (error) {
    // The server went down meanwhile, by itself or stopped by someone else: there is nothing to leave.
    if (!isPassing(error)) log.error({ err: error }, 'could not release the embedded PostgreSQL cleanly');
  } finally {
    await client.end().catch(() => {});
  }
}
