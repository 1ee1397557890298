/** The lock that keeps the embedded chain of a database to one process: an advisory lock on a connection of its own. */
import pg from 'pg';
import { locks } from '../../db/turn.ts';
import { OperatorError } from '../../errors.ts';
import { pause } from '../../loop.ts';

export interface ChainLock {
  /** Returns at once while it is held; takes it again after the connection was lost, or throws and says why not. */
  hold(): Promise<void>;
  release(): Promise<void>;
}

/** After kill -9 of a service its backend needs a moment to notice. */
const longestWaitMs = 3_000;

/**
 * One service per data directory is kept by the embedded PostgreSQL already. This covers a DATABASE_URL that several
 * nodes share. It need not fence: a late writer is refused by the keys of the journal itself.
 */
export function createChainLock(connection: () => pg.ClientConfig): ChainLock {
  let holder: pg.Client | null = null;

  async function take(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionTimeoutMillis: 5_000,
      ...connection(),
      application_name: `holdfast chain pid ${process.pid}`,
      keepAlive: true,
    });
    const lost = () => {
      if (holder === client) holder = null;
    };
    client.on('error', lost).on('end', lost);
    await client.connect();
    try {
      const deadline = performance.now() + longestWaitMs;
      while (!(await tryLock(client))) {
        if (performance.now() > deadline) {
          throw new OperatorError(
            `Another process (${await holderOf(client)}) runs the embedded chain of this database. Stop it first; for several nodes set HOLDFAST_CHAIN_RPC_URLS to a chain of your own.`,
          );
        }
        await pause(50, AbortSignal.timeout(longestWaitMs));
      }
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  return {
    async hold() {
      holder ??= await take();
    },
    async release() {
      const last = holder;
      holder = null;
      await last?.end().catch(() => {});
    },
  };
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    locks.embeddedChain,
  ]);
  return rows[0]?.taken === true;
}

async function holderOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.classid = 0 and l.objid = $1 and l.objsubid = 1 and l.granted
       and l.database = (select oid from pg_database where datname = current_database())`,
    [locks.embeddedChain],
  );
  return /pid \d+/.exec(rows[0]?.name ?? '')?.[0] ?? 'pid unknown';
}
