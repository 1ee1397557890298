/** One node at a time leads work that must not be done twice; a successor's epoch fences off what the one before writes late. */
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { type LoopLog, pause } from '../runtime/loop.ts';
import type { Db } from './database.ts';
import { seekLead } from './lead-seeking.ts';
import { createLease, type Lease } from './lease.ts';

/** The time in which this node leads. */
export interface Term {
  epoch: number;
  /** Aborts when the lead is lost or given up, and when it is not certain for the moment. */
  signal: AbortSignal;
  /** Does the work in one transaction, and throws LostLead, nothing committed, when another node leads by now. */
  commit<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

/** All the time of one epoch: what is opened for the work stays open in it. Its own signal aborts at its end. */
export interface Tenure extends Term {
  /**
   * Null while the last sign of life is so old that another node may be about to lead. Where none does, the next sign that
   * is taken begins another term of the same epoch.
   */
  term(): Term | null;
}

/** The work is another node's now: to be left alone, not retried. */
export class LostLead extends Error {
  constructor(message = 'another node leads now', options?: { cause?: unknown }) {
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
    during: (tenure: Tenure) => Promise<void>,
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
  /** A database that does not answer a leader for so long is given up, and connected to anew. */
  deafAfterMs?: number;
}

/**
 * The leader holds an advisory lock on a connection of its own, which PostgreSQL frees when the node dies. One that
 * hangs keeps it, and gives no signs: a candidate then ends its connection. No clock but the candidate's own is needed
 * for that, so setting one changes nothing. A leader whose signs come late is without a term until one is taken again:
 * where nobody else wants the lead, that is all that it costs. Its row decides what is taken first, a sign or the lead
 * (lead-seeking.ts), and also about what the old leader still has under way:
 * - a commit locks the row `for key share` and checks the epoch; signs of life do not wait for it, nor it for them;
 * - a successor locks the row `for update`, which waits for such commits, and then raises the epoch.
 * So a commit is through before the successor leads, or it is refused.
 */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { work, lock, connection, db, log } = options;
  const { beatMs = 1_000, hungAfterMs = 3_000, patienceMs = 300, deafAfterMs = 10_000 } = options;
  /** The leader ends its own term well before a candidate may count it as hanging. */
  const validMs = hungAfterMs * 0.8;

  function tenureOf(epoch: number, { signal, lease }: { signal: AbortSignal; lease: Lease }): Tenure {
    // By the epoch alone, and not by the lease: what was begun in time is through before another leads, or refused.
    const commit: Term['commit'] = (todo) => {
      if (signal.aborted) return Promise.reject(new LostLead('this node no longer leads'));
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
    };
    return {
      epoch,
      signal,
      commit,
      term() {
        const certain = lease.signal();
        return certain && { epoch, signal: certain, commit };
      },
    };
  }

  /** The lock is held: waits out or ends what the leader before has under way, and begins a new epoch. */
  async function beginEpoch(client: pg.Client, pid: number): Promise<{ epoch: number; begunAt: number }> {
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
      const begunAt = performance.now();
      await client.query('commit');
      return { epoch: Number(rows[0]?.epoch), begunAt };
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
        .catch((error) =>
          log.error({ err: error, work }, 'could not end the connections of the last leader'),
        );
      await pause(100, done);
    }
  }

  /** Resolves with why the lead is lost, or with null when `done` aborts. */
  async function keepBeating(client: pg.Client, { epoch, lease, begunAt, done }: Beating) {
    let sentAt = begunAt;
    while (!done.aborted) {
      lease.renew(sentAt + validMs);
      await pause(sentAt + beatMs - performance.now(), done);
      if (done.aborted) break;
      // Counted from before a sign is sent: a candidate cannot have seen it earlier.
      sentAt = performance.now();
      const trouble = await giveSign(client, epoch);
      if (done.aborted) break;
      if (trouble !== null) return trouble;
      if (lease.signal() === null)
        log.info({ work, epoch }, 'a heartbeat was late, but no other node took over');
    }
    return null;
  }

  /** Null once it is taken, however late: under this epoch nobody else can have led. Else why it is not. */
  async function giveSign(client: pg.Client, epoch: number): Promise<string | null> {
    const sign: pg.QueryConfig & { query_timeout: number } = {
      text: 'update leaders set beat_at = clock_timestamp() where work = $1 and epoch = $2',
      values: [work, epoch],
      // Not the connection's: how long to wait is decided here.
      query_timeout: 2 * deafAfterMs,
    };
    const answer = client.query(sign).then(
      ({ rowCount }) => (rowCount === 1 ? null : 'another node leads now'),
      (error: Error) => error.message,
    );
    const answered = new AbortController();
    const silence = pause(deafAfterMs, answered.signal)
      // Where this process was held up, the answer may lie there unread while timers run.
      .then(() => setImmediate())
      .then(() => 'the database does not answer');
    try {
      return await Promise.race([answer, silence]);
    } finally {
      answered.abort();
    }
  }

  return {
    async run(during, { signal, onStandBy }) {
      const client = await connect(connection(), work);
      // Unheard it would end the process; queries report it too.
      const gone = new Promise<string>((resolve) => {
        client.on('error', (error) => resolve(error.message));
        client.on('end', () => resolve('the database connection was lost'));
      });
      try {
        const pid = await backendPid(client);
        if (!(await seekLead(client, { work, lock, beatMs, hungAfterMs, log, signal, onStandBy }))) return;
        const { epoch, begunAt } = await beginEpoch(client, pid);
        log.info({ work, epoch }, 'this node leads');
        const lease = createLease();
        // Here already, so that the work begins with a term.
        lease.renew(begunAt + validMs);
        const ending = new AbortController();
        const stop = () => {
          ending.abort();
          lease.end();
        };
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
        try {
          const doing = during(tenureOf(epoch, { signal: ending.signal, lease })).finally(stop);
          const trouble = await Promise.race([
            keepBeating(client, { epoch, lease, begunAt, done: ending.signal }),
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
          if (trouble !== null) throw new LostLead(`this node no longer leads: ${trouble}`);
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

interface Beating {
  epoch: number;
  lease: Lease;
  begunAt: number;
  done: AbortSignal;
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
