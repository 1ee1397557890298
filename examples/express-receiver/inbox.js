/**
 * Events that have arrived, in a database: each id once, whatever arrives twice, at the same time, or after a crash. SQLite
 * stands for the database that you have; what matters are the unique key and the transaction.
 */
import { DatabaseSync } from 'node:sqlite';

const schema = `
  create table if not exists received_events (
    id          text primary key,
    received_at text not null default current_timestamp
  );
  create table if not exists jobs (
    event_id text primary key references received_events,
    event    text not null,
    done_at  text
  );`;

export function openInbox(file, work) {
  const database = new DatabaseSync(file);
  database.exec(
    `pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000; ${schema}`,
  );
  const insertEvent = database.prepare('insert into received_events (id) values (?) on conflict do nothing');
  const insertJob = database.prepare('insert into jobs (event_id, event) values (?, ?)');
  const nextJob = database.prepare(
    'select event_id, event from jobs where done_at is null order by rowid limit 1',
  );
  const finishJob = database.prepare('update jobs set done_at = current_timestamp where event_id = ?');
  let working = false;

  /** One job after the other. A job that fails stays, and is tried again. */
  async function workOn() {
    if (working) return;
    working = true;
    try {
      for (let job = nextJob.get(); job; job = nextJob.get()) {
        await work(JSON.parse(job.event));
        finishJob.run(job.event_id);
      }
    } catch (error) {
      console.error(error);
      setTimeout(workOn, 5_000).unref();
    } finally {
      working = false;
    }
  }

  return {
    workOn,
    /** Whether the event is new. Id and job are committed together, before the answer: neither is ever without the other. */
    store(event) {
      database.exec('begin immediate');
      try {
        // The unique key decides, not a look before: two requests with one event may run at the same time.
        const isNew = insertEvent.run(event.id).changes === 1;
        if (isNew) insertJob.run(event.id, JSON.stringify(event));
        database.exec('commit');
        if (isNew) setImmediate(workOn);
        return isNew;
      } catch (error) {
        database.exec('rollback');
        throw error;
      }
    },
  };
}
