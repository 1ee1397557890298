/** Tells the test of certain commits as they happen, through triggers that the test itself puts into the database. */
import pg from 'pg';
import { withClient } from '../support/service/database.ts';
import { patienceMs } from './expect.ts';
import type { Store } from './store.ts';

/**
 * `attempt_stored`: nonce and signed bytes. `batch_confirmed`: the chain has the batch; nobody has been told yet.
 * `file_stored`: a file, with the answer that tells of it.
 */
export type Commit = 'attempt_stored' | 'batch_confirmed' | 'file_stored';

const writtenByLeaders = ['outgoing_transactions', 'outgoing_attempts', 'anchor_batches', 'chain_blocks'];

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
      execute function test_tell('batch_confirmed');
    create trigger test_file_stored after insert on files
      for each row execute function test_tell('file_stored');
    create table test_writes (pid integer not null, at timestamptz not null);
    create function test_note() returns trigger language plpgsql as $$
    begin
      insert into test_writes values (pg_backend_pid(), clock_timestamp());
      return null;
    end $$;
    ${writtenByLeaders
      .map(
        (table) =>
          `create trigger test_note after insert or update on ${table} for each statement execute function test_note();`,
      )
      .join('\n')}`);
}

/** Of writes that only a leader may make: those of these connections since then. */
export async function countWrites(
  store: Store,
  { pids, since }: { pids: number[]; since: string },
): Promise<number> {
  const [row] = await store.query<{ count: number }>(
    'select count(*)::integer as count from test_writes where pid = any ($1) and at > $2::timestamptz',
    [pids, since],
  );
  return row?.count ?? 0;
}

/** Calls `act` at once when the next such commit is through. */
export async function onNextCommit<T>(
  store: Store,
  { commit, act }: { commit: Commit; act: () => T },
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
