/** The PostgreSQL connection pool, and Kysely on top of it. */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { endIfSilent } from './server/silent-connection.ts';
import type { Tables } from './tables.ts';

/** The query handle, also inside a transaction. */
export type Db = Kysely<Tables>;

export interface Database {
  db: Db;
  /** For hot, hand-written statements. */
  pool: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Called for each new connection, because an embedded server may come back on another port. */
  connection(): pg.ClientConfig;
  onError(error: Error): void;
  /** Called when a connection could not be made, or leads to a server that takes no writes. */
  onRefused?(): void;
  max?: number;
  /** How long to wait for the answer beyond the statement time-out. */
  graceMs?: number;
  /** Of each session, besides the usual ones. */
  settings?: SessionSettings;
}

/** Parameters of PostgreSQL by name. */
export type SessionSettings = Record<string, string | number>;

const connectionDefaults: pg.ClientConfig = {
  application_name: 'holdfast',
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  // Otherwise the loss of an idle connection would only be noticed after two hours.
  keepAliveInitialDelayMillis: 10_000,
};

/** Set once a connection is there: poolers refuse most parameters in the connection's first message. */
const usualSettings = {
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 60_000,
  // Every statement of the service can use an index. A plan made while its table was empty would read the whole table
  // instead, and be kept until the next analyze: observed as a fifth of the speed for minutes.
  enable_seqscan: 'off',
  // Up to PostgreSQL 17, a plan that has to scan a small table then looks expensive enough to be compiled, which takes far
  // longer than the statement: observed as half of the processor time of a busy server.
  jit: 'off',
};

/**
 * For a queue, whose statements must never be planned as a scan: they use an index, whatever the table's size. They are
 * replanned each time: a plan cached for an empty table, as every day's is at midnight, took three times as long.
 */
export const indexOnly: SessionSettings = {
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_custom_plan',
};

export function openDatabase({
  connection,
  onError,
  onRefused = () => {},
  max = 10,
  graceMs = 10_000,
  settings = {},
}: DatabaseOptions): Database {
  const session = { ...usualSettings, ...settings };
  class CurrentClient extends pg.Client {
    constructor() {
      super({ ...connectionDefaults, ...connection(), types: columnTypes });
      // Also while checked out: without a listener a broken connection would end the process.
      this.on('error', onError);
      const longestMs = Number(session.statement_timeout);
      if (longestMs > 0) this.once('connect', () => endIfSilent(this, longestMs + graceMs));
      // Ended before it was connected.
      let connected = false;
      this.once('connect', () => {
        connected = true;
      }).once('end', () => {
        if (!connected) onRefused();
      });
    }
  }
  const pool = new pg.Pool({
    max,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: 5_000,
    Client: CurrentClient,
    async onConnect(client) {
      if (!(await beginSession(client, session))) return;
      onRefused();
      throw Object.assign(new Error('the database server is a standby, which takes no writes'), {
        code: 'ECONNREFUSED',
      });
    },
  });
  pool.on('error', () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, close: () => db.destroy() };
}

/** Returns whether the server is a standby. */
async function beginSession(client: pg.ClientBase, settings: SessionSettings): Promise<boolean> {
  const { rows } = await client.query<{ standby: boolean }>(
    `select pg_is_in_recovery() as standby, count(set_config(name, value, false))
     from unnest($1::text[], $2::text[]) as setting (name, value)`,
    [Object.keys(settings), Object.values(settings).map(String)],
  );
  return rows[0]?.standby === true;
}

/** bigint columns hold counters far below 2^53, read as numbers. Amounts that can be larger are numeric, read as text. */
const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};
