/** The database behind the service's back: read directly to know what was committed, and killed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { databaseUser } from '../../src/db/embedded/init.ts';
import { databaseName } from '../../src/db/embedded/locks.ts';
import { pathsIn } from '../../src/db/embedded/paths.ts';
import { findPostmaster } from '../../src/db/embedded/postmaster.ts';
import { connectionText } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';

export interface Store {
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** Where it is now; after a restart it may be elsewhere. */
  url(): Promise<string>;
  pid(): Promise<number>;
  /** kill -9 of the server, if it runs; returns once it is gone. */
  kill(): Promise<void>;
}

/** A node that was just started recovers the database first; on a busy machine that takes its time. */
const longestAwayMs = 90_000;

export function openStore(dataDir: string): Store {
  const { clusterDir, passwordFile } = pathsIn(join(dataDir, 'postgres'));
  /** One for all queries, until the server is gone: to sign in anew costs more than what is asked. */
  let kept: Promise<pg.Client> | null = null;

  const postmaster = () =>
    waitUntil(async () => {
      const found = await findPostmaster(clusterDir);
      return found?.ready ? found : null;
    }, longestAwayMs);

  async function url(): Promise<string> {
    const { port } = await postmaster();
    const password = (await readFile(passwordFile, 'utf8')).trim();
    return connectionText({ port, user: databaseUser, password, database: databaseName });
  }

  function connect(): Promise<pg.Client> {
    const connecting = (async () => {
      const client = new pg.Client({ connectionString: await url() });
      client.on('error', forget).on('end', forget);
      await client.connect();
      return client;
    })();
    connecting.catch(forget);
    return connecting;

    function forget(): void {
      if (kept === connecting) kept = null;
    }
  }

  async function query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
    const used = kept;
    kept ??= connect();
    const asked = kept;
    try {
      return (await (await asked).query<R>({ text, values })).rows;
    } catch (error) {
      // One that was open already may have gone with its server, unnoticed so far.
      if (used === null || !isLost(error)) throw error;
      if (kept === used) kept = null;
      return query(text, values);
    }
  }

  return {
    url,
    query,
    pid: async () => (await postmaster()).pid,
    async kill() {
      const pid = (await findPostmaster(clusterDir))?.pid;
      if (pid === undefined) return;
      process.kill(pid, 'SIGKILL');
      await waitUntil(async () => (await findPostmaster(clusterDir))?.pid !== pid);
      kept = null;
    },
  };
}

/** The connection, not the statement: nothing that the server says of a statement, but for its own end. */
export function isLost(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined || !/^[0-9A-Z]{5}$/.test(code) || code.startsWith('57P');
}
