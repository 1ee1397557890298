/** Opens one connection to the server of a cluster, and tells passing failures from lasting ones. */
import pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';
import type { Cluster } from './cluster.ts';
import { databaseUser } from './init.ts';

export interface ConnectTo {
  cluster: Cluster;
  port: number;
  /** Shown in pg_stat_activity; how a second service learns who the first one is. */
  name: string;
}

/** What a new connection meets while the server starts, stops, restarts after a crash, or is full. */
const passingStates = new Set(['57P01', '57P02', '57P03', '53300']);

export async function connect({ cluster, port, name }: ConnectTo): Promise<pg.Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: databaseUser,
    password: cluster.password,
    // Not the database `holdfast`: that may be dropped, renamed and restored while these connections stay.
    database: 'postgres',
    application_name: name,
    // Said explicitly, or pg would ask the environment.
    ssl: false,
    connectionTimeoutMillis: 5_000,
    // Longer than anybody may hold the lock we wait for, which is while the server is being stopped.
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

/** Whether trying again may help; everything that has no SQLSTATE is a matter of the network. */
export function isPassing(error: unknown): boolean {
  if (error instanceof OperatorError) return false;
  const state = stateOf(error);
  return state === null || passingStates.has(state);
}

/** The SQLSTATE of an error that the server sent. */
export function stateOf(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}
