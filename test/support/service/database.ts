/** Databases for tests: each is a copy of the migrated template on the server that test/run.ts started. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { clockIsSet, setDatabaseClock } from './clock.ts';

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

/** Creates a separate database; `empty` leaves out the schema. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const server = process.env.HOLDFAST_TEST_SERVER;
  if (!server) throw new Error('run tests with "npm test", or one file with "npm test -- FILE"');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const onServer = (text: string) => withClient({ connectionString: server }, (client) => client.query(text));
  const url = new URL(server);
  url.pathname = `/${name}`;
  await createWithRetry();
  if (clockIsSet) {
    await withClient({ connectionString: url.href }, (client) => setDatabaseClock(client, name));
    if (!empty) await migrate({ connection: { connectionString: url.href } });
  }
  return {
    url: url.href,
    drop: async () => {
      await onServer(`drop database if exists ${name} with (force)`);
      await rm(blobsOf(url.href), { recursive: true, force: true });
    },
  };

  /** PostgreSQL copies a template only while nobody else does; two test files may want to at once. */
  async function createWithRetry(): Promise<void> {
    const bare = empty || clockIsSet;
    // Copying files takes half as long as writing each block to the log, which nobody reads here.
    const text = `create database ${name} template ${bare ? 'template0' : templateDatabase} strategy file_copy`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await onServer(text);
        return;
      } catch (error) {
        if (attempt === 50 || (error as { code?: string }).code !== '55006') throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}

/** A separate database with the handles that the service uses; closing drops it. */
export async function openTestDatabase(): Promise<Database & { url: string }> {
  const { url, drop } = await createTestDatabase();
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
