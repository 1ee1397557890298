/** One node at a time leads work that must not be done twice; a successor's epoch fences off what the one before writes late. */
import { sql } from 'kysely';
import pg from 'pg';
import { type LoopLog, pause } from '../loop.ts';
import type { Db } from './database.ts';

/** The time in which this node leads. */
export interface Term {
  epoch: number;
  /** Aborts when the lead is lost or given up. */
  signal: AbortSignal;
  /** Does the work in one transaction, and throws LostLead, nothing committed, when another node leads by now. */
  commit<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

/** The work is another node's now: to be left alone, not retried. */
export class LostLead extends Error {
  constructor(message = 'another node leads by now', options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LostLead';
  }
}

export interface Leadership {
  /**
   * Seeks the lead until the signal aborts, and calls `during` each time this node has it. When that returns or throws,
   * the lead is given up, so that another node can try, and run ends likewise. Throws LostLead when the lead was lost.
   */
  run(
    during: (term: Term) => Promise<void>,
    options: { signal: AbortSignal; onStandBy(): void },
  ): Promise<void>;
}

export interface LeadershipOptions {
  /** The row of `leaders`. */
  work: string;
  /** The advisory lock, one of `locks`. */
  lock: number;
  connection(): pg.ClientConfig;
  db: Db;
  log: LoopLog;
  /** How often a leader gives a sign of life; candidates look twice as often. */
  beatMs?: number;
  /** Without a sign for so long, by the candidate's own clock, the leader counts as hanging. */
  hungAfterMs?: number;
  /** So long a successor waits for commits that are under way; then it ends their connections. */
  patienceMs?: number;
}

/**
 * The leader holds an advisory lock on a connection of its own, which PostgreSQL frees when the node dies. One that
 * hangs keeps it, and gives no signs: a candidate then ends its connection. No clock but the candidate's own is needed
 * for that, so setting one changes nothing. What the old leader still has under way is decided by its row:
 * - a commit locks the row `for key share` and checks the epoch; signs of life do not wait for it, nor it for them;
 * - a successor locks the row `for update`, which waits for such commits, and then raises the epoch.
 * So a commit is through before the successor leads, or it is refused.
 */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { work, lock, connection, db, log } = options;
  const { beatMs = 1_000, hungAfterMs = 3_000, patienceMs = 300 } = options;
  /** The leader ends its own term well before a candidate may count it as hanging. */
  const validMs = hungAfterMs * 0.8;

  function termOf(epoch: number, signal: AbortSignal): Term {
    return {
      epoch,
      signal,
      commit(todo) {
        if (signal.aborted) return Promise.reject(new LostLead('this node does not lead any more'));
        return db.transaction().execute(async (db) => {
          const own = await db
            .selectFrom('leaders')
            .select('epoch')
            .where('work', '=', work)
            .where('epoch', '=', epoch)
            .forKeyShare()
            .executeTakeFirst();
          if (!own) throw new LostLead();
          return todo(db);
        });
      },
    };
  }

  /** The lock is held: waits out or ends what the leader before has under way, and begins a new epoch. */
  async function beginEpoch(client: pg.Client, pid: number): Promise<number> {
    const begun = new AbortController();
    const ending = endBlockers(pid, begun.signal);
    try {
      await client.query('begin');
      // The rest of this connection need not reach the disk; an epoch must not come twice.
      await client.query('set local synchronous_commit = on');
      await client.query('insert into leaders (work) values ($1) on conflict (work) do nothing', [work]);
      await client.query('select epoch from leaders where work = $1 for update', [work]);
      const { rows } = await client.query<{ epoch: string }>(
        `update leaders set epoch = epoch + 1, backend_pid = $2, beat_at = clock_timestamp()
         where work = $1 returning epoch`,
        [work, pid],
      );
      await client.query('commit');
      return Number(rows[0]?.epoch);
    } finally {
      begun.abort();
      await ending;
    }
  }

  async function endBlockers(pid: number, done: AbortSignal): Promise<void> {
    await pause(patienceMs, done);
    while (!done.aborted) {
      await sql`select pg_terminate_backend(blocker) from unnest(pg_blocking_pids(${pid})) as blocker`
        .execute(db)
        .catch((error) => log.error({ err: error, work }, 'what the last leader left could not be ended'));
      await pause(100, done);
    }
  }

  /** What candidates see of the leader: it changes with every sign of life. Null once nobody holds the lock. */
  async function look(client: pg.Client): Promise<{ holder: number; sign: string } | null> {
    const { rows } = await client.query<{ holder: number; sign: string }>(
      `select l.pid as holder,
         coalesce((select concat_ws(' ', epoch, backend_pid, beat_at) from leaders where work = $2), '') as sign
       from pg_locks l where l.locktype = 'advisory' and l.classid = 0 and l.objid = $1 and l.objsubid = 1 and l.granted
         and l.database = (select oid from pg_database where datname = current_database())`,
      [lock, work],
    );
    return rows[0] ?? null;
  }

  /** Until this connection holds the lock; false when the signal aborts before. */
  async function waitForLock(
    client: pg.Client,
    signal: AbortSignal,
    onStandBy: () => void,
  ): Promise<boolean> {
    let seen = '';
    let seenAt = performance.now();
    while (!signal.aborted) {
      const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
        lock,
      ]);
      if (rows[0]?.taken) return true;
      const leader = await look(client);
      const now = performance.now();
      if (leader && `${leader.holder} ${leader.sign}` !== seen) {
        seen = `${leader.holder} ${leader.sign}`;
        seenAt = now;
      } else if (leader && now - seenAt > hungAfterMs) {
        log.error({ work, backendPid: leader.holder }, 'the leader gives no sign of life, its lead is taken');
        await client.query('select pg_terminate_backend($1, 1000)', [leader.holder]);
        continue;
      }
      onStandBy();
      await pause(leader ? beatMs / 2 : 0, signal);
    }
    return false;
  }

  /** Resolves with why the lead is lost, or with null when `done` aborts. */
  async function keepBeating(client: pg.Client, epoch: number, done: AbortSignal): Promise<string | null> {
    // Counted from before a sign is sent: a candidate cannot have seen it earlier.
    let validUntil = performance.now() + validMs;
    while (!done.aborted) {
      await pause(beatMs, done);
      if (done.aborted) return null;
      const sentAt = performance.now();
      if (sentAt > validUntil) return 'it gave no sign of life in time';
      const late = new AbortController();
      const answer = client
        .query('update leaders set beat_at = clock_timestamp() where work = $1 and epoch = $2', [work, epoch])
        .then(
          ({ rowCount }) => (rowCount === 1 ? null : 'another node leads by now'),
          (error: Error) => error.message,
        );
      const trouble = await Promise.race([
        answer,
        pause(validUntil - sentAt, late.signal).then(() => 'the database does not answer'),
      ]);
      late.abort();
      if (trouble !== null) return done.aborted ? null : trouble;
      validUntil = sentAt + validMs;
    }
    return null;
  }

  return {
    async run(during, { signal, onStandBy }) {
      const client = await connect(connection(), work);
      // Unheard it would end the process; queries report it too.
      const gone = new Promise<string>((resolve) => {
        client.on('error', (error) => resolve(error.message));
        client.on('end', () => resolve('its database connection is gone'));
      });
      try {
        const pid = await backendPid(client);
        if (!(await waitForLock(client, signal, onStandBy))) return;
        const epoch = await beginEpoch(client, pid);
        log.info({ work, epoch }, 'this node leads');
        const ending = new AbortController();
        const stop = () => ending.abort();
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
        try {
          const doing = during(termOf(epoch, ending.signal)).finally(stop);
          const trouble = await Promise.race([
            keepBeating(client, epoch, ending.signal),
            gone,
            doing.then(
              () => null,
              () => null,
            ),
          ]);
          stop();
          // Gone at once, where it still can: the longer it is held, the later another node leads.
          if (trouble !== null) destroy(client);
          await doing.catch((error) => {
            if (trouble === null && !signal.aborted) throw error;
          });
          if (trouble !== null) throw new LostLead(`this node does not lead any more: ${trouble}`);
          log.info({ work, epoch }, 'this node has given up the lead');
        } finally {
          signal.removeEventListener('abort', stop);
        }
      } finally {
        destroy(client);
      }
    },
  };
}

async function connect(config: pg.ClientConfig, work: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionTimeoutMillis: 5_000,
    // A candidate whose connection hangs begins anew.
    query_timeout: 5_000,
    ...config,
    application_name: `holdfast ${work}`,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('set synchronous_commit = off');
    return client;
  } catch (error) {
    destroy(client);
    throw error;
  }
}

async function backendPid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return Number(rows[0]?.pid);
}

/** Without a farewell, which a server that hangs would never answer. PostgreSQL frees the lock when it sees the end. */
function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}
