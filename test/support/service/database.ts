/** Databases for tests: copies of the migrated template on the server that test/run.ts started. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { clockIsSet, makeDatabaseClock, setDatabaseClock } from './clock.ts';
import { emptyDatabase, type Original, readOriginal } from './emptied.ts';

export const templateDatabase = 'holdfast_template';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Over TCP, where tests can put a proxy in between. */
export function connectionText({ port, user, password, database }: pg.ClientConfig): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

export async function withClient<T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  // A lost connection rejects the statement; without a listener it would also end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** For services that share the database and have no store of their own. */
export function blobsOf(databaseUrl: string): string {
  return join(tmpdir(), `holdfast-blobs-${new URL(databaseUrl).pathname.slice(1)}`);
}

/** A separate database; `empty` leaves out the schema, and `fresh` the traces of rows that were deleted. */
export async function createTestDatabase({ empty = false, fresh = false } = {}): Promise<TestDatabase> {
  const server = process.env.HOLDFAST_TEST_SERVER;
  if (!server) throw new Error('run tests with "npm test", or one file with "npm test -- FILE"');
  const bare = empty || clockIsSet;
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url = urlOf(server, name);
  const isEmptied = !bare && !fresh && (await takeUsed(server, name));
  if (!isEmptied) await create(server, name, await templateFor(server, empty));
  if (clockIsSet) {
    await withClient({ connectionString: url }, async (client) => {
      if (empty) await makeDatabaseClock(client);
      await setDatabaseClock(client, name);
    });
  }
  let dropped = false;
  return {
    url,
    drop: async () => {
      if (dropped) return;
      dropped = true;
      if (bare || !(await keepUsed(server, name))) await drop(server, name);
      await rm(blobsOf(url), { recursive: true, force: true });
    },
  };
}

async function templateFor(server: string, empty: boolean): Promise<string> {
  if (empty) return 'template0';
  return clockIsSet ? clockedTemplate(server) : templateDatabase;
}

/** Databases that tests of this process have finished with, under new names. */
const used: string[] = [];
const mostUsed = 3;
let original: Promise<Original> | undefined;

/** Whether an emptied one now has this name. */
async function takeUsed(server: string, name: string): Promise<boolean> {
  for (let kept = used.pop(); kept !== undefined; kept = used.pop()) {
    original ??= withClient({ connectionString: urlOf(server, templateDatabase) }, readOriginal);
    const template = await original;
    if (
      await withClient({ connectionString: urlOf(server, kept) }, (client) => emptyDatabase(client, template))
    ) {
      await onServer(server, `alter database ${kept} rename to ${name}`);
      return true;
    }
    await drop(server, kept);
  }
  return false;
}

/** Connections that are still open end, as they would when the database is dropped. */
async function keepUsed(server: string, name: string): Promise<boolean> {
  if (used.length >= mostUsed) return false;
  const kept = `used_${randomBytes(8).toString('hex')}`;
  try {
    await onServer(
      server,
      'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1',
      [name],
    );
    await onServer(server, `alter database ${name} rename to ${kept}`);
  } catch {
    // Somebody connected again: then it is dropped by force.
    return false;
  }
  used.push(kept);
  return true;
}

/** PostgreSQL copies a template only while nobody else does; two test files may want to at once. */
async function create(server: string, name: string, template: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Copying files takes half as long as writing each block to the log, which nobody reads here.
      await onServer(server, `create database ${name} template ${template} strategy file_copy`);
      return;
    } catch (error) {
      if (attempt === 50 || (error as { code?: string }).code !== '55006') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function drop(server: string, name: string): Promise<void> {
  await onServer(server, `drop database if exists ${name} with (force)`);
}

function onServer(server: string, text: string, values: unknown[] = []): Promise<unknown> {
  return withClient({ connectionString: server }, (client) => client.query(text, values));
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

let clocked: Promise<string> | null = null;

/** Like the template, with a clock that can be set. Made by whoever needs it first, for all processes of the run. */
function clockedTemplate(server: string): Promise<string> {
  clocked ??= withClient({ connectionString: server }, async (client) => {
    const name = `${templateDatabase}_clocked`;
    // Kept until the connection ends.
    await client.query('select pg_advisory_lock(1)');
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount !== 0) return name;
    const draft = `${name}_draft`;
    await client.query(`drop database if exists ${draft}`);
    await client.query(`create database ${draft} template template0`);
    const connection = { connectionString: urlOf(server, draft) };
    await withClient(connection, async (client) => {
      await makeDatabaseClock(client);
      await setDatabaseClock(client, draft);
    });
    await migrate({ connection });
    await client.query(`alter database ${draft} rename to ${name}`);
    return name;
  });
  return clocked;
}

/** A separate database with the handles that the service uses; closing drops it. */
export async function openTestDatabase(
  options: { fresh?: boolean } = {},
): Promise<Database & { url: string }> {
  const { url, drop } = await createTestDatabase(options);
  const database = openDatabase({ connection: () => ({ connectionString: url }), onError() {} });
  return {
    ...database,
    url,
    async close() {
      await database.close();
      await drop();
    },
  };
}
