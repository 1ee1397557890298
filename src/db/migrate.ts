/** Brings the schema up to date: plain SQL files, forward only, each in its own transaction, one node at a time. */
import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { OperatorError } from '../errors.ts';

const migrationsDir = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface MigrateOptions {
  connection: pg.ClientConfig;
  dir?: string;
}

/** Applies what is missing and returns the names of the applied files. Waits while another node migrates. */
export async function migrate({ connection, dir = migrationsDir }: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({
    connectionTimeoutMillis: 10_000,
    ...connection,
    application_name: 'holdfast migrate',
  });
  await client.connect();
  try {
    await refuseNewerSchema(client, dir);
    const applied = await runner({
      dbClient: client,
      dir,
      direction: 'up',
      migrationsTable: 'schema_migrations',
      singleTransaction: false,
      advisoryLockMode: 'wait',
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    return applied.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** An older version must not work on a schema whose rules it does not know. */
async function refuseNewerSchema(client: pg.Client, dir: string): Promise<void> {
  const table = await client.query("select to_regclass('schema_migrations') is not null as exists");
  if (!table.rows[0].exists) return;
  const known = new Set((await readdir(dir)).map((file) => parse(file).name));
  const applied = await client.query<{ name: string }>('select name from schema_migrations order by id');
  const unknown = applied.rows.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new OperatorError(
    `The database was migrated by a newer Holdfast (it has ${unknown.join(', ')}, which this version does not know). Start that version or a newer one; nothing was changed.`,
  );
}
