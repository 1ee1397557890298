/** How a node that wants the lead gets it: it waits for the lock, and ends a leader that has it and gives no signs of life. */
import pg from 'pg';
import { type LoopLog, pause } from '../runtime/loop.ts';

export interface LeadSeeking {
  /** The row of `leaders`. */
  work: string;
  /** The advisory lock. */
  lock: number;
  /** How often a leader gives a sign of life. */
  beatMs: number;
  /** Without a sign for so long, by this node's own clock, the leader counts as hanging. */
  hungAfterMs: number;
  log: LoopLog;
  signal: AbortSignal;
  /** Each time it looks and another node leads. */
  onStandBy(): void;
}

/** Until this connection holds the lock; false when the signal aborts before. */
export async function seekLead(client: pg.Client, seeking: LeadSeeking): Promise<boolean> {
  const { work, lock, beatMs, hungAfterMs, log, signal, onStandBy } = seeking;
  let seen: string | null = null;
  let seenAt = 0;
  while (!signal.aborted) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      lock,
    ]);
    if (rows[0]?.taken) return true;
    const askedAt = performance.now();
    const leader = await look(client, seeking);
    const shown = leader && `${leader.holder} ${leader.sign}`;
    if (shown !== seen) {
      seen = shown;
      seenAt = performance.now();
    }
    // From an answer to a later question, so that what holds up this node does not count against the leader.
    if (leader && askedAt - seenAt > hungAfterMs) {
      if (await endHung(client, leader, seeking)) {
        log.error({ work, backendPid: leader.holder }, 'the leader gave no sign of life; taking over');
        continue;
      }
    }
    onStandBy();
    await pause(leader ? beatMs / 2 : 0, signal);
  }
  return false;
}

/** What is to be seen of the leader. */
interface Leader {
  /** The backend that has the lock. */
  holder: number;
  /** Changes with every sign of life. */
  sign: string;
}

const signOfRow = "concat_ws(' ', epoch, backend_pid, beat_at)";

/** Null once nobody holds the lock. */
async function look(client: pg.Client, { work, lock }: LeadSeeking): Promise<Leader | null> {
  const { rows } = await client.query<Leader>(
    `select l.pid as holder, coalesce((select ${signOfRow} from leaders where work = $2), '') as sign
     from pg_locks l where l.locktype = 'advisory' and l.classid = 0 and l.objid = $1 and l.objsubid = 1 and l.granted
       and l.database = (select oid from pg_database where datname = current_database())`,
    [lock, work],
  );
  return rows[0] ?? null;
}

/**
 * Ends the connection of a leader, unless it gave a sign of life since: false then. Its next sign waits for the lock on
 * the row and ends with the connection. So no sign is taken after the lead is, and a leader that goes by the time of its
 * last sign never believes that it leads beside another.
 */
async function endHung(
  client: pg.Client,
  { holder, sign }: Leader,
  { work, beatMs }: LeadSeeking,
): Promise<boolean> {
  const end = async () => {
    const text = 'select pg_terminate_backend($1, 1000) as ended';
    const { rows } = await client.query<{ ended: boolean }>(text, [holder]);
    return rows[0]?.ended === true;
  };
  try {
    await client.query('begin');
    await client.query("select set_config('lock_timeout', $1, true)", [String(beatMs)]);
    const { rows } = await client.query(
      `select work from leaders where work = $1 and ${signOfRow} = $2 for no key update`,
      [work, sign],
    );
    // Without a row there is none to give a sign in: it hangs in its very first epoch, before that is begun.
    const hangs = rows.length === 1 || (sign === '' && !(await hasRow(client, work)));
    const ended = hangs && (await end());
    await client.query('commit');
    return ended;
  } catch (error) {
    await client.query('rollback');
    // Whoever has the row for so long hangs while it begins its epoch or gives a sign; either ends with its connection.
    if (!isLockTimeout(error)) throw error;
    return end();
  }
}

async function hasRow(client: pg.Client, work: string): Promise<boolean> {
  return (await client.query('select from leaders where work = $1', [work])).rowCount === 1;
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}
