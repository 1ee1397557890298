/**
 * How a candidate gets the lead: it waits for the lock, and terminates the connection of a leader that gives no signs
 * of life.
 */
import pg from 'pg';
import { type LoopLog, pause } from '../runtime/loop.ts';

export interface LeadSeeking {
  /** The row of `leaders`. */
  work: string;
  /** The advisory lock. */
  lock: number;
  /** How often a leader gives a sign of life. */
  beatMs: number;
  /** A leader without a sign for this long, by this node's own clock, counts as hanging. */
  hungAfterMs: number;
  log: LoopLog;
  signal: AbortSignal;
  /** Called each time the candidate looks and another node leads. */
  onStandBy(): void;
}

/** Waits until this connection holds the lock; false when the signal aborts first. */
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
    // Measured to the start of a later query, so that a delay of this node does not count against the leader.
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

/** What a candidate can see of the leader. */
interface Leader {
  /** The backend that holds the lock. */
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
 * Terminates the leader's connection; returns false if the leader gave a sign of life meanwhile. The leader's next sign
 * waits for the row lock and fails with the connection. So no sign is recorded after the takeover, and a leader that
 * goes by the time of its last sign never believes that it leads beside another.
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
    // Without a row the leader cannot give a sign: it hangs before beginning its very first epoch.
    const hangs = rows.length === 1 || (sign === '' && !(await hasRow(client, work)));
    const ended = hangs && (await end());
    await client.query('commit');
    return ended;
  } catch (error) {
    await client.query('rollback');
    // A session that holds the row for this long hangs while it begins its epoch or gives a sign; terminating it ends both.
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
