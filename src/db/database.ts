/** The PostgreSQL connection pool, and Kysely on top of it. */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { endIfSilent } from './silent-connection.ts';
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
  max?: number;
  /** How long to wait for the answer beyond the statement time-out. */
  graceMs?: number;
  /** For a queue, whose statements must never be planned as a scan: they use an index, whatever the table's size. */
  indexOnly?: boolean;
}

const connectionDefaults: pg.ClientConfig = {
  application_name: 'holdfast',
  connectionTimeoutMillis: 5_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 60_000,
  keepAlive: true,
  // Otherwise the loss of an idle connection would only be noticed after two hours.
  keepAliveInitialDelayMillis: 10_000,
  // Every statement of the service can use an index. A plan made while its table was empty would read the whole table
  // instead, and be kept until the next analyze: observed as a fifth of the speed for minutes.
  options: '-c enable_seqscan=off',
};

/** Replanned each time: a plan cached for an empty table, as every day's is at midnight, took three times as long. */
const indexOnlyOptions = [
  connectionDefaults.options,
  '-c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_custom_plan',
].join(' ');

export function openDatabase({
  connection,
  onError,
  max = 10,
  graceMs = 10_000,
  indexOnly = false,
}: DatabaseOptions): Database {
  class CurrentClient extends pg.Client {
    constructor() {
      const config: pg.ClientConfig = {
        ...connectionDefaults,
        ...(indexOnly && { options: indexOnlyOptions }),
        ...connection(),
        types: columnTypes,
      };
      super(config);
      // Also while checked out: without a listener a broken connection would end the process.
      this.on('error', onError);
      const { statement_timeout: longestMs } = config;
      if (longestMs) this.once('connect', () => endIfSilent(this, Number(longestMs) + graceMs));
    }
  }
  const pool = new pg.Pool({
    max,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: 5_000,
    Client: CurrentClient,
  });
  pool.on('error', () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, close: () => db.destroy() };
}

/** bigint columns hold counters far below 2^53, read as numbers. Amounts that can be larger are numeric, read as text. */
const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};
