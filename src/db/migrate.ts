/** Migrates the schema: plain SQL files, forward only, one node at a time. */
import { setTimeout as rest } from 'node:timers/promises';
import pg from 'pg';
import { OperatorError } from '../runtime/errors.ts';
import { locks } from './advisory-lock.ts';
import { judgeNewer, prepareRecord, readApplied } from './migrations/applied.ts';
import { type ApplyOptions, applyMigration, inTransaction } from './migrations/apply.ts';
import { knownMigrations, readMigration } from './migrations/migration-files.ts';
import { refuseOldServer } from './server/server-version.ts';
import { endIfCut } from './server/silent-connection.ts';

export interface MigrateOptions extends Omit<ApplyOptions, 'log'> {
  log?: ApplyOptions['log'];
  dir?: string;
  /** For a restore in progress: apply only this many migrations, counted from the first. */
  restoring?: { upTo: number };
}

const silent: ApplyOptions['log'] = { info() {} };
const askMs = 200;

export { knownMigrations };

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
  dir,
  restoring,
  log = silent,
  ...patience
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
  const known = await knownMigrations(dir);
  const turns = { connection, log, ...patience };
  try {
    await refuseOldServer(client);
    judgeNewer(await readApplied(client), known);
    if (!restoring) await refuseHalfRestored(client);
    await takeTurn(client, log);
    // Looked at again: whoever had the turn may have been a newer version.
    const applied = await readApplied(client);
    const newer = judgeNewer(applied, known);
    if (newer.length > 0) {
      log.info(
        { newer },
        'the database was migrated by a newer Holdfast, with which this version is compatible',
      );
      return [];
    }
    const missing = known.slice(applied.length, restoring?.upTo);
    if (missing.length > 0)
      await inTransaction(client, { ...turns, what: 'schema_migrations' }, () => prepareRecord(client));
    for (const name of missing) await applyMigration(client, await readMigration(name, dir), turns);
    return missing;
  } finally {
    await client.end();
  }
}

/**
 * Until the connection ends. Asks again and again instead of waiting in one statement: its transaction would be one that a
 * concurrent index of the other node waits for.
 */
async function takeTurn(client: pg.Client, log: ApplyOptions['log']): Promise<void> {
  for (let asked = 0; ; asked += 1) {
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock(${locks.migration}) as taken`,
    );
    if (rows[0]?.taken) return;
    if (asked === 0) log.info({}, 'another node migrates the database: waiting for it');
    await rest(askMs);
  }
}

/** The rows may exist without their blobs and their key. */
async function refuseHalfRestored(client: pg.Client): Promise<void> {
  if (!(await hasTable(client, restoreMark))) return;
  throw new OperatorError(
    'A restore into this database has not finished. Wait for it, or run "holdfast restore" again; it starts over.',
  );
}

async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    name,
  ]);
  return rows[0]?.exists === true;
}
