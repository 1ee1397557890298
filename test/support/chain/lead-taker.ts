/** Takes the chain lead away from every node for as long as a test wants, and gives it back. */
import type { TestContext } from 'node:test';
import type pg from 'pg';
import { locks } from '../../../src/db/advisory-lock.ts';
import { once } from '../../../src/runtime/loop.ts';
import { waitUntil } from '../service/process.ts';

/**
 * Holds the lock and gives signs of life like a leading node, or another node would take it back. It queues for the
 * lock before the leader loses it, so that no other node can get it in between.
 */
export async function takeLead(
  t: TestContext,
  { pool }: { pool: pg.Pool },
): Promise<{ giveBack(): Promise<void> }> {
  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  let taken = false;
  const taking = client.query('select pg_advisory_lock($1)', [locks.chainLead]).then(() => {
    taken = true;
  });
  await waitUntil(async () => {
    const inLine = await pool.query('select 1 from pg_locks where pid = $1 and not granted', [rows[0]?.pid]);
    return taken || inLine.rows.length > 0;
  });
  await pool.query("select pg_terminate_backend(backend_pid) from leaders where work = 'chain'");
  await taking;
  const signs = setInterval(() => {
    pool.query("update leaders set beat_at = clock_timestamp() where work = 'chain'").catch(() => {});
  }, 500);
  const giveBack = once(async () => {
    clearInterval(signs);
    await client.query('select pg_advisory_unlock($1)', [locks.chainLead]);
    client.release();
  });
  t.after(giveBack);
  return { giveBack };
}
