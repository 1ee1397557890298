/** Opens one connection to the server of a cluster, and distinguishes temporary failures from permanent ones. */
import pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';
import type { Cluster } from './cluster.ts';
import { databaseUser } from './init.ts';

export interface ConnectTo {
  cluster: Cluster;
  server: { host: string; port: number };
  /** Shown in pg_stat_activity; a second service learns from it which process is the first. */
  name: string;
}

/** Errors of a new connection while the server starts, stops, restarts after a crash, or is full. */
const passingStates = new Set(['57P01', '57P02', '57P03', '53300']);

export async function connect({ cluster, server, name }: ConnectTo): Promise<pg.Client> {
  const client = new pg.Client({
    host: server.host,
    port: server.port,
    user: databaseUser,
    password: cluster.password,
    // Not the database `holdfast`: that may be dropped, renamed and restored while these connections stay.
    database: 'postgres',
    application_name: name,
    // Explicit, because pg would otherwise read it from the environment.
    ssl: false,
    connectionTimeoutMillis: 5_000,
    // Longer than any process may hold the lock we wait for, which is while it stops the server.
    query_timeout: 30_000,
    keepAlive: true,
  });
  // Without a listener the loss of an idle connection would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    if (stateOf(error) === '28P01') {
      throw new OperatorError(
        `The password in ${cluster.passwordFile} does not match the database in ${cluster.clusterDir}. They belong together: restore both from the same backup.`,
        { cause: error },
      );
    }
    throw error;
  }
}

/** Whether a retry may help; every error without a SQLSTATE is a network error. */
export function isPassing(error: unknown): boolean {
  if (error instanceof OperatorError) return false;
  const state = stateOf(error);
  return state === null || passingStates.has(state);
}

/** The SQLSTATE of an error that the server sent. */
export function stateOf(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}
