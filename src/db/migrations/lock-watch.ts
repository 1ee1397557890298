/** Watches a migration from a second connection: which sessions it waits for, and how far an index has got. */
import { setTimeout as rest } from 'node:timers/promises';
import pg from 'pg';

export interface LockWatch {
  /** The sessions that the migration waited for when it was last looked at; empty if it did not wait. */
  blockers(): string;
  /** Of an index that is being built. */
  progress(): string | null;
  close(): Promise<void>;
}

const lookMs = 200;

/** A watch that cannot connect sees nothing; the migration does not depend on it. */
export async function watchLocks(connection: pg.ClientConfig, watched: pg.ClientBase): Promise<LockWatch> {
  const { processID: pid } = watched as unknown as { processID: number };
  const client = new pg.Client({
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    ...connection,
    application_name: 'holdfast migrate watch',
  });
  client.on('error', () => {});
  let blockers = '';
  let progress: string | null = null;
  const end = new AbortController();
  const pause = () => rest(lookMs, undefined, { signal: end.signal });

  async function look(): Promise<void> {
    const { rows } = await client.query<{ text: string }>(blockersOf, [pid]);
    // Kept when the wait is over: the reason is asked for after it.
    if (rows.length > 0) blockers = rows.map(({ text }) => text).join('; ');
    const { rows: index } = await client.query<{ text: string }>(progressOf, [pid]);
    progress = index[0]?.text ?? null;
  }

  /** Until it is closed. Most migrations are over before it begins, and need no second connection. */
  async function run(): Promise<void> {
    await pause();
    await client.connect();
    for (;;) {
      await look();
      await pause();
    }
  }

  const running = run().catch(() => {});
  return {
    blockers: () => blockers,
    progress: () => progress,
    async close() {
      end.abort();
      await running;
      await client.end().catch(() => {});
    },
  };
}

/** Without the text of the statement, which may contain data. */
const blockersOf = `
  select concat('session ', pid, ' (', coalesce(nullif(application_name, ''), 'without a name'), ', user ', usename, ', ', state,
    ', its transaction is ', extract(epoch from clock_timestamp() - xact_start)::integer, ' s old)') as text
  from pg_stat_activity where pid = any (pg_blocking_pids($1)) order by xact_start`;

const progressOf = `
  select concat(phase, case when blocks_total > 0 then concat(', ', 100 * blocks_done / blocks_total, ' % of the blocks') end) as text
  from pg_stat_progress_create_index where pid = $1`;
