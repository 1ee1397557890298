/** The database of the service and of every command: embedded or external, migrated, with its default workspace. */
import type { ClientConfig } from 'pg';
import type { Logger } from 'pino';
import { ensureWorkspace } from '../access/api-keys/first-start.ts';
import { renewLeaves } from '../anchoring/leaf-renewal.ts';
import type { Config } from '../config/config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../db/embedded/embedded-postgres.ts';
import { isDatabaseAway } from '../db/faults.ts';
import { migrate } from '../db/migrate.ts';
import { refuseSharedSessions } from '../db/server/pooler.ts';
import { openServers } from '../db/server/servers.ts';
import { OperatorError } from '../runtime/errors.ts';
import { once } from '../runtime/loop.ts';
import { renewedClaims } from './renewed-claims.ts';

export interface Store {
  database: Database;
  embedded: EmbeddedPostgres | null;
  /** The current connection settings. */
  connection(): ClientConfig;
  /** For further connections to the same server: logs that one was lost, unless the store is closing. */
  onConnectionLost(error: Error): void;
  /** Migrations that were applied on opening. */
  applied: string[];
  close(): Promise<void>;
}

/** `exclusive`: for a service, as only one may use a data directory. */
export async function openStore(config: Config, log: Logger, { exclusive = false } = {}): Promise<Store> {
  const { databaseUrl } = config;
  const embedded =
    databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          log,
          exclusive,
          walArchive: config.walArchiveDir,
        })
      : null;
  const servers = databaseUrl === null ? null : await openServers(databaseUrl).catch(explainUnreachable);
  const connection = (): ClientConfig => embedded?.connection() ?? servers?.connection() ?? {};
  let closing = false;
  const onConnectionLost = (error: Error): void => {
    if (!closing) log.warn({ err: error }, 'a database connection was lost');
  };
  const database = openDatabase({
    connection,
    onError: onConnectionLost,
    onRefused: () => servers?.look(),
  });
  const close = once(async () => {
    closing = true;
    await database.close();
    await embedded?.release();
  });
  try {
    if (servers) await refuseSharedSessions(connection()).catch(explainUnreachable);
    const applied = await migrate({ connection: connection(), log }).catch(explainUnreachable);
    if (applied.length > 0) log.info({ applied }, 'database migrated');
    await renewLeaves(database.db, { log, added: renewedClaims });
    await ensureWorkspace(database.db);
    return { database, embedded, connection, onConnectionLost, applied, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** At start-up, an unusable database is the operator's to fix, so it is reported in one sentence. */
function explainUnreachable(error: unknown): never {
  if (!isDatabaseAway(error)) throw error;
  throw new OperatorError(
    `The database cannot be used: ${(error as Error).message || (error as { code?: string }).code}. Check DATABASE_URL, and check that the server is running.`,
    {
      cause: error,
    },
  );
}
