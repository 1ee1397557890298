/** The target of a restore: an empty place, marked as half restored until everything is there. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { BlobStore } from '../blobs/blob-store.ts';
import { journalFolder } from '../blobs/object-names.ts';
import { openBlobStore } from '../blobs/open-blob-store.ts';
import type { Config } from '../config/config.ts';
import { locks } from '../db/advisory-lock.ts';
import { startEmbeddedPostgres } from '../db/embedded/embedded-postgres.ts';
import { restoreMark } from '../db/migrate.ts';
import { openServers } from '../db/server/servers.ts';
import { endIfCut } from '../db/server/silent-connection.ts';
import { OperatorError } from '../runtime/errors.ts';
import type { LoopLog } from '../runtime/loop.ts';
import { quoted } from './catalogue.ts';

export interface Target {
  connection(): pg.ClientConfig;
  client: pg.Client;
  /** Sets the mark, removes what an interrupted restore left, and opens the blob store. */
  begin(): Promise<BlobStore>;
  close(): Promise<void>;
}

/** Allowed in an empty data directory: what a fresh file system contains, and a database, which is checked separately. */
const harmless = /^(lost\+found|postgres(\.init-.*)?)$/;
/** The default place of blobs. A restore that was killed early may have created it, and the store is checked separately. */
const blobsDir = 'blobs';

/** Throws at once when the place is in use, before the archive is read at length; creates nothing in an empty place. */
export async function refuseUsed(config: Config, log: LoopLog): Promise<void> {
  const entries = await entriesOf(config.dataDir);
  if (config.databaseUrl === null && entries.length === 0) return;
  await (await openTarget(config, log)).close();
}

function explainUnusable(cause: Error): never {
  if (cause instanceof OperatorError) throw cause;
  throw new OperatorError(
    `The database cannot be used: ${cause.message}. Check DATABASE_URL, and check that the server is running.`,
    { cause },
  );
}

/** Throws when the place is not empty, unless an interrupted restore filled it. */
export async function openTarget(config: Config, log: LoopLog): Promise<Target> {
  const { dataDir, databaseUrl } = config;
  const entries = await entriesOf(dataDir);
  const present = entries.filter((name) => !harmless.test(name));
  // Without a database there is no mark, so nothing needs to be started to know.
  if (databaseUrl === null && present.length > 0 && !entries.includes('postgres'))
    throw notEmpty(dataDir, present);

  const embedded =
    databaseUrl === null ? await startEmbeddedPostgres({ dataDir, log, exclusive: true }) : null;
  const servers = databaseUrl === null ? null : await openServers(databaseUrl).catch(explainUnusable);
  const connection = (): pg.ClientConfig => ({
    ...(embedded ?? servers)?.connection(),
    application_name: 'holdfast restore',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  const client = new pg.Client(connection());
  client.on('error', () => {});
  const closing: (() => Promise<unknown>)[] = [async () => embedded?.release()];
  const close = async () => {
    for (const end of closing.reverse())
      await end().catch((error) => log.error({ err: error }, 'could not close cleanly'));
  };
  try {
    await client.connect().catch(explainUnusable);
    closing.push(() => client.end());
    endIfCut(client, { connection });
    await takeTurn(client);
    const isOurs = await hasMark(client);
    if (!isOurs) {
      const tables = await listRelations(client);
      if (tables.length > 0) throw databaseNotEmpty(config, tables);
      if (present.length > 0) throw notEmpty(dataDir, present);
    }
    const begin = async () => {
      const store = await openBlobStore(config.blobs);
      closing.push(() => store.close());
      if (!isOurs) await requireEmptyStore(store);
      await markAnew(client);
      if (isOurs) await emptyStore(store);
      return store;
    };
    return { connection, client, begin, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function entriesOf(dataDir: string): Promise<string[]> {
  // A journal of erasures may be put there before, so that the restore erases what it names.
  const blobs = await readdir(join(dataDir, blobsDir)).then(
    (names) => names.filter((name) => name !== journalFolder),
    () => null,
  );
  const entries = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new OperatorError(`The data directory ${dataDir} cannot be read: ${error.message}.`, {
      cause: error,
    });
  });
  return entries.filter((name) => !(name === blobsDir && blobs?.length === 0));
}

/** Two restores into one database would delete each other's rows. */
async function takeTurn(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    locks.restore,
  ]);
  if (!rows[0]?.taken)
    throw new OperatorError('Another restore into this database is in progress. Wait until it has finished.');
}

async function hasMark(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    `public.${restoreMark}`,
  ]);
  return rows[0]?.exists === true;
}

async function listRelations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f') order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function listSequences(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S' order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** In one transaction: removes what an earlier attempt left, and sets the mark before anything else is written. */
async function markAnew(client: pg.Client): Promise<void> {
  await client.query('begin');
  // Dropping tables also drops what belongs to them: indexes, triggers, sequences of their columns.
  for (const name of await listRelations(client)) {
    await client.query(`drop table if exists public.${quoted(name)} cascade`);
  }
  for (const name of await listSequences(client)) {
    await client.query(`drop sequence public.${quoted(name)} cascade`);
  }
  const { rows } = await client.query<{ routine: string }>(
    `select p.oid::regprocedure::text as routine from pg_proc p
     where p.pronamespace = 'public'::regnamespace
       and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  );
  if (rows.length > 0)
    await client.query(`drop routine ${rows.map(({ routine }) => routine).join(', ')} cascade`);
  await client.query(`create table public.${restoreMark} (began_at timestamptz not null default now())`);
  await client.query('commit');
}

async function requireEmptyStore(store: BlobStore): Promise<void> {
  for await (const { name } of store.list()) {
    throw new OperatorError(
      `The blob store is not empty (it has ${name}). Set HOLDFAST_BLOB_URL to an empty location, or empty this one. Nothing was restored.`,
    );
  }
}

/** The store was empty when the mark was set. */
async function emptyStore(store: BlobStore): Promise<void> {
  for await (const { name } of store.list()) await store.remove(name);
  await store.removeUnfinished(0);
}

function notEmpty(dataDir: string, present: string[]): OperatorError {
  return new OperatorError(
    `The data directory ${dataDir} is not empty (it has ${present.slice(0, 5).join(', ')}). Restore into an empty one: set HOLDFAST_DATA_DIR to another directory, or move this one away. Nothing was changed.`,
  );
}

function databaseNotEmpty({ dataDir, databaseUrl }: Config, tables: string[]): OperatorError {
  const [what, advice] =
    databaseUrl === null
      ? [`The database in ${dataDir}`, 'set HOLDFAST_DATA_DIR to another directory, or move this one away']
      : ['The database of DATABASE_URL', 'create a new, empty database and set DATABASE_URL to it'];
  return new OperatorError(
    `${what} is not empty (it has ${tables.length} tables). Restore into an empty one: ${advice}. Nothing was changed.`,
  );
}
