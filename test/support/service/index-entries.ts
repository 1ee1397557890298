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
