/** How many entries of an index a piece of work comes across, those of rows included that are no more. */
import type { Pool } from 'pg';

/** The work has to use this pool, which has one connection, so that all it has read is known when it says so. */
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
