/**
 * Elects one node at a time to lead work that must not be done twice; the epoch fences off late writes of a former
 * leader.
 */
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { type LoopLog, pause } from '../runtime/loop.ts';
import type { Db } from './database.ts';
import { seekLead } from './lead-seeking.ts';
import { createLease, type Lease } from './lease.ts';

/** A time during which this node leads. */
export interface Term {
  epoch: number;
  /** Aborts when the lead is lost or given up, and also when it is temporarily uncertain. */
  signal: AbortSignal;
  /** Does the work in one transaction; throws LostLead, without committing, when another node leads by now. */
  commit<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

/** The whole time of one epoch: resources opened for the work stay open during it. Its own signal aborts at its end. */
export interface Tenure extends Term {
  /**
   * Null while the last sign of life is so old that another node may be about to lead. If none does, the next recorded
   * sign begins another term of the same epoch.
   */
  term(): Term | null;
}

/** Another node does the work now: leave it alone, do not retry. */
export class LostLead extends Error {
  constructor(message = 'another node leads now', options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LostLead';
  }
}

export interface Leadership {
  /**
   * Seeks the lead until the signal aborts, and calls `during` each time this node gets it. When `during` returns or
   * throws, the lead is given up so that another node can try, and run returns or throws likewise. Throws LostLead when
   * the lead was lost.
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
  /** Called with the transaction of each sign of life. */
  onSign?(transactionId: number): void;
  /** How often a leader gives a sign of life; candidates look twice as often. */
  beatMs?: number;
  /** A leader without a sign for this long, by the candidate's own clock, counts as hanging. */
  hungAfterMs?: number;
  /** How long a successor waits for running commits before it terminates their connections. */
  patienceMs?: number;
  /** A leader drops its connection and reconnects when the database does not answer for this long. */
  deafAfterMs?: number;
}

/**
 * The leader holds an advisory lock on a connection of its own, which PostgreSQL releases when the node dies. A hanging
 * leader keeps the lock but gives no signs of life: a candidate then terminates its connection. This needs only the
 * candidate's own monotonic clock, so changing the system time has no effect. A leader whose signs are late has no term
 * until one is recorded again: if nobody else wants the lead, that is the only cost. The row in `leaders` decides which
 * comes first, a sign or a takeover (lead-seeking.ts), and also what happens to work that the old leader still has in
 * flight:
 * - a commit locks the row `for key share` and checks the epoch; it and signs of life do not block each other;
 * - a successor locks the row `for update`, which waits for such commits, and then raises the epoch.
 * So a commit either finishes before the successor leads, or is refused.
 */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { work, lock, connection, db, log, onSign = () => {} } = options;
  const { beatMs = 1_000, hungAfterMs = 3_000, patienceMs = 300, deafAfterMs = 10_000 } = options;
  /** The leader ends its own term well before a candidate may count it as hanging. */
  const validMs = hungAfterMs * 0.8;

  function tenureOf(epoch: number, { signal, lease }: { signal: AbortSignal; lease: Lease }): Tenure {
    // Checks the epoch alone, not the lease: a commit begun in time finishes before another node leads, or is refused.
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

  /** Call with the lock held: waits for or terminates what the former leader has in flight, and begins a new epoch. */
  async function beginEpoch(client: pg.Client, pid: number): Promise<{ epoch: number; begunAt: number }> {
    const begun = new AbortController();
    const ending = endBlockers(pid, begun.signal);
    try {
      await client.query('begin');
      // Other writes on this connection need not reach the disk, but an epoch must never repeat.
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

  /** Resolves with the reason why the lead is lost, or with null when `done` aborts. */
  async function keepBeating(client: pg.Client, { epoch, lease, begunAt, done }: Beating) {
    let sentAt = begunAt;
    while (!done.aborted) {
      lease.renew(sentAt + validMs);
      await pause(Math.max(0, sentAt + beatMs - performance.now()), done);
      if (done.aborted) break;
      // Counted from before the sign is sent: a candidate cannot have seen it earlier.
      sentAt = performance.now();
      const trouble = await giveSign(client, epoch);
      if (done.aborted) break;
      if (trouble !== null) return trouble;
      if (lease.signal() === null)
        log.info({ work, epoch }, 'a heartbeat was late, but no other node took over');
    }
    return null;
  }

  /** Null once the sign is recorded, however late: under this epoch nobody else can have led. Otherwise the reason. */
  async function giveSign(client: pg.Client, epoch: number): Promise<string | null> {
    const sign: pg.QueryConfig & { query_timeout: number } = {
      text: `update leaders set beat_at = clock_timestamp() where work = $1 and epoch = $2
             returning pg_current_xact_id()::text as id`,
      values: [work, epoch],
      // Overrides the connection's time-out: this function decides how long to wait.
      query_timeout: 2 * deafAfterMs,
    };
    const answer = client.query<{ id: string }>(sign).then(
      ({ rows: [recorded] }) => {
        if (!recorded) return 'another node leads now';
        onSign(Number(recorded.id));
        return null;
      },
      (error: Error) => error.message,
    );
    const answered = new AbortController();
    const silence = pause(deafAfterMs, answered.signal)
      // If this process was blocked, the answer may be waiting unread while timers fire.
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
      // Without a listener the error would end the process; queries report it too.
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
        // Renewed here so that the work begins with a term.
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
          // Closes the connection at once: the longer it holds the lock, the later another node leads.
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
    // A candidate whose connection hangs starts over.
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

/**
 * Sends no terminate message, since a hanging server would not answer. PostgreSQL releases the lock when it sees the
 * end.
 */
function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Seconds since the last heartbeat of whoever leads this work; null if nobody ever has. */
export async function readBeatAge(db: Db, work: string): Promise<number | null> {
  const { rows } = await sql<{ age: number }>`
    select extract(epoch from now() - beat_at)::float8 as age from leaders where work = ${work}`.execute(db);
  return rows[0]?.age ?? null;
}
