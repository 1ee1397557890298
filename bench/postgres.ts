/** The PostgreSQL of the service, which the benchmark joins as a guest: peers get databases there, and rows look inside. */
import { join } from 'node:path';
import pg from 'pg';
import { type Connection, startEmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts';
import { pathsIn } from '../src/db/embedded/paths.ts';
import { findPostmaster } from '../src/db/embedded/postmaster.ts';

export interface Postgres {
  /** Of the server. */
  pid: number;
  connection(database: string): Connection;
  /** One statement on a connection of its own. */
  query<R extends pg.QueryResultRow>(database: string, text: string, values?: unknown[]): Promise<R[]>;
  countRows(database: string, table: string): Promise<number>;
  stop(): Promise<void>;
}

/** The service's own database. */
export const holdfastDatabase = 'holdfast';

export async function joinPostgres(dataDir: string): Promise<Postgres> {
  const guest = await startEmbeddedPostgres({ dataDir, log: { info() {}, error: console.error } });
  const server = await findPostmaster(pathsIn(join(dataDir, 'postgres')).clusterDir);
  const connection = (database: string): Connection => ({ ...guest.connection(), database });

  async function withClient<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ ...connection(database), application_name: 'bench' });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  async function query<R extends pg.QueryResultRow>(
    database: string,
    text: string,
    values: unknown[] = [],
  ): Promise<R[]> {
    return withClient(database, async (client) => (await client.query<R>(text, values)).rows);
  }

  return {
    pid: server?.pid ?? 0,
    connection,
    query,
    async countRows(database, table) {
      const [row] = await query<{ count: number }>(database, `select count(*)::int as count from ${table}`);
      return row?.count ?? 0;
    },
    stop: () => guest.release(),
  };
}
