/** Migrates the schema: plain SQL files, forward only, each in its own transaction, one node at a time. */
import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { OperatorError } from '../runtime/errors.ts';
import { refuseOldServer } from './server/server-version.ts';
import { endIfCut } from './server/silent-connection.ts';

const migrationsDir = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface MigrateOptions {
  connection: pg.ClientConfig;
  dir?: string;
  /** For a restore in progress: apply only this many migrations, counted from the first. */
  restoring?: { upTo: number };
}

/** A table that exists while a restore is in progress. */
export const restoreMark = 'restore_under_way';

/**
 * Whether any migration was applied; true also when the check fails, so that the caller goes on and meets the actual
 * error.
 */
export async function isMigrated(connection: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ connectionTimeoutMillis: 10_000, ...connection });
  try {
    await client.connect();
    const { rows } = await client.query("select to_regclass('schema_migrations') is not null as migrated");
    return rows[0].migrated;
  } catch {
    return true;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Applies the missing migrations and returns their names. Waits while another node migrates. */
export async function migrate({
  connection,
  dir = migrationsDir,
  restoring,
}: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({
    connectionTimeoutMillis: 10_000,
    ...connection,
    application_name: 'holdfast migrate',
  });
  // Also while idle: without a listener a broken connection would end the process.
  client.on('error', () => {});
  await client.connect();
  endIfCut(client, { connection: () => connection });
  try {
    await refuseOldServer(client);
    await refuseNewerSchema(client, dir);
    if (!restoring) await refuseHalfRestored(client);
    // Imported here, because commands without a database load it for nothing, and it makes a directory for its cache.
    const { runner } = await import('node-pg-migrate');
    const applied = await runner({
      dbClient: client,
      dir,
      direction: 'up',
      migrationsTable: 'schema_migrations',
      singleTransaction: false,
      advisoryLockMode: 'wait',
      ...(restoring && { count: restoring.upTo - (await countApplied(client)) }),
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    return applied.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** The names of all migrations of this version, in order. */
export async function knownMigrations(dir = migrationsDir): Promise<string[]> {
  return (await readdir(dir)).map((file) => parse(file).name).sort();
}

/** An older version must not work on a schema whose rules it does not know. */
async function refuseNewerSchema(client: pg.Client, dir: string): Promise<void> {
  if (!(await hasTable(client, 'schema_migrations'))) return;
  const known = new Set(await knownMigrations(dir));
  const applied = await client.query<{ name: string }>('select name from schema_migrations order by id');
  const unknown = applied.rows.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new OperatorError(
    `The database was migrated by a newer Holdfast (it has ${unknown.join(', ')}, which this version does not know). Start that version or a newer one. Nothing was changed.`,
  );
}

/** The rows may exist without their blobs and their key. */
async function refuseHalfRestored(client: pg.Client): Promise<void> {
  if (!(await hasTable(client, restoreMark))) return;
  throw new OperatorError(
    'A restore into this database has not finished. Wait for it, or run "holdfast restore" again; it starts over.',
  );
}

async function countApplied(client: pg.Client): Promise<number> {
  if (!(await hasTable(client, 'schema_migrations'))) return 0;
  const { rows } = await client.query<{ count: string }>('select count(*) from schema_migrations');
  return Number(rows[0]?.count);
}

async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    name,
  ]);
  return rows[0]?.exists === true;
}
