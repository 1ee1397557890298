/** Tells the test of certain commits as they happen, through triggers that the test itself puts into the database. */
import pg from 'pg';
import { withClient } from '../database.ts';
import type { Store } from './store.ts';

/** `attempt_stored`: nonce and signed bytes. `batch_confirmed`: the chain has the batch; nobody has been told yet. */
export type Commit = 'attempt_stored' | 'batch_confirmed';

export async function installNotices(store: Store): Promise<void> {
  await store.query(`
    create function test_tell() returns trigger language plpgsql as $$
    begin
      perform pg_notify(tg_argv[0], '');
      return null;
    end $$;
    create trigger test_attempt_stored after insert on outgoing_attempts
      for each row execute function test_tell('attempt_stored');
    create trigger test_batch_confirmed after update on anchor_batches
      for each row when (new.status = 'confirmed' and old.status <> 'confirmed')
      execute function test_tell('batch_confirmed')`);
}

/** Calls `act` at once when the next such commit is through. */
export async function onNextCommit<T>(
  store: Store,
  { commit, patienceMs, act }: { commit: Commit; patienceMs: number; act: () => T },
): Promise<T> {
  const client = new pg.Client({ connectionString: await store.url() });
  client.on('error', () => {});
  await client.connect();
  try {
    return await new Promise<T>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no ${commit} within ${patienceMs} ms`)), patienceMs);
      client.once('notification', () => {
        clearTimeout(late);
        resolve(act());
      });
      client.query(`listen ${commit}`).catch(reject);
    });
  } finally {
    await client.end();
  }
}

/** Nobody can write an event until the work is done. */
export async function withoutEvents<T>(store: Store, work: () => Promise<T>): Promise<T> {
  return withClient({ connectionString: await store.url() }, async (client) => {
    await client.query('begin');
    await client.query('lock table events in share row exclusive mode');
    try {
      return await work();
    } finally {
      await client.query('rollback');
    }
  });
}
