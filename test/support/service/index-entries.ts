/** Counts the index entries that some work reads, including those of dead rows. */
import type { Pool } from 'pg';

/**
 * The work must use this pool, which has one connection, so that the statistics include all its reads when they are
 * flushed.
 */
export async function countEntries(
  pool: Pool,
  { index, work }: { index: string; work(): Promise<unknown> },
): Promise<number> {
  const read = async (): Promise<number> => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query(
      'select idx_tup_read from pg_stat_user_indexes where indexrelname = $1',
      [index],
    );
    return rows[0].idx_tup_read;
  };
  const start = await read();
  await work();
  return (await read()) - start;
}

/** Those beside this pool of one: they report what they have read when they end, and otherwise up to ten seconds later. */
export async function endIdleConnections(pool: Pool): Promise<void> {
  await pool.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state = 'idle'`,
  );
}
