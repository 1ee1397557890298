/** The database behind the service's back: read directly to know what was committed, and killed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { databaseUser } from '../../src/db/embedded/init.ts';
import { databaseName } from '../../src/db/embedded/locks.ts';
import { placesIn } from '../../src/db/embedded/places.ts';
import { findPostmaster } from '../../src/db/embedded/postmaster.ts';
import { connectionText, withClient } from '../database.ts';
import { waitUntil } from '../process.ts';

export interface Store {
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** Where it is now; after a restart it may be elsewhere. */
  url(): Promise<string>;
  pid(): Promise<number>;
  /** kill -9 of the server, if it runs; returns once it is gone. */
  kill(): Promise<void>;
}

export function openStore(dataDir: string): Store {
  const { clusterDir, passwordFile } = placesIn(join(dataDir, 'postgres'));

  const postmaster = () =>
    waitUntil(async () => {
      const found = await findPostmaster(clusterDir);
      return found?.ready ? found : null;
    }, 20_000);

  async function url(): Promise<string> {
    const { port } = await postmaster();
    const password = (await readFile(passwordFile, 'utf8')).trim();
    return connectionText({ host: '127.0.0.1', port, user: databaseUser, password, database: databaseName });
  }

  return {
    url,
    async query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []) {
      const connectionString = await url();
      return withClient(
        { connectionString },
        async (client) => (await client.query<R>({ text, values })).rows,
      );
    },
    pid: async () => (await postmaster()).pid,
    async kill() {
      const pid = (await findPostmaster(clusterDir))?.pid;
      if (pid === undefined) return;
      process.kill(pid, 'SIGKILL');
      await waitUntil(async () => (await findPostmaster(clusterDir))?.pid !== pid);
    },
  };
}
