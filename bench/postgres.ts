/** The PostgreSQL of the service, which the benchmark joins as a guest: peers get databases there, and rows look inside. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Connection, startEmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts';

export interface Postgres {
  connection(database: string): Connection;
  /** One statement on a connection of its own. */
  query<R extends pg.QueryResultRow>(database: string, text: string, values?: unknown[]): Promise<R[]>;
  countRows(database: string, table: string): Promise<number>;
  /** Waits until nothing works in any database; returns how long that took. */
  settle(): Promise<number>;
  stop(): Promise<void>;
}

/** The service's own database. */
export const holdfastDatabase = 'holdfast';

const longestSettleMs = 60_000;

export async function joinPostgres(dataDir: string): Promise<Postgres> {
  const guest = await startEmbeddedPostgres({ dataDir, log: { info() {}, error: console.error } });
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
    connection,
    query,
    async countRows(database, table) {
      const [row] = await query<{ count: number }>(database, `select count(*)::int as count from ${table}`);
      return row?.count ?? 0;
    },
    settle: () => withClient('postgres', waitUntilQuiet),
    stop: () => guest.release(),
  };
}

/** Quiet means that five looks in a row saw nobody at work: a loop may be between two of its statements. */
async function waitUntilQuiet(client: pg.Client): Promise<number> {
  const began = performance.now();
  let lastBusy = began;
  for (let quiet = 0; quiet < 5; ) {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity
       where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid() limit 1`,
    );
    quiet = rows.length === 0 ? quiet + 1 : 0;
    if (rows.length > 0) lastBusy = performance.now();
    if (lastBusy - began > longestSettleMs) {
      throw new Error(`the database did not come to rest within ${longestSettleMs / 1000} s`);
    }
    await sleep(50);
  }
  return lastBusy - began;
}
