/** What happens to statements when a connection to the database goes silent. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { createTestDatabase, type TestDatabase, withClient } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { openSilentProxy, type SilentProxy } from '../../../test/support/service/silent-proxy.ts';
import { type Database, openDatabase } from '../database.ts';
import { isDatabaseAway } from '../faults.ts';
import { endIfCut } from './silent-connection.ts';

let target: TestDatabase;
let proxy: SilentProxy;
let database: Database;
const lost: Error[] = [];

before(async () => {
  target = await createTestDatabase({ empty: true });
  proxy = await openSilentProxy(target.url);
  database = openDatabase({
    connection: () => ({ connectionString: proxy.url }),
    settings: { statement_timeout: 20_000 },
    onError: (error) => lost.push(error),
    max: 1,
    // Three seconds in total.
    graceMs: -17_000,
  });
});
after(async () => {
  await database.close();
  await proxy.close();
  await target.drop();
});

async function answers(): Promise<boolean> {
  const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database.db);
  return rows[0]?.one === 1;
}

test('gives up a statement on a silent connection, and runs the next one on a new connection', async () => {
  assert.ok(await answers());
  proxy.silence();
  await assert.rejects(answers(), (error) => isDatabaseAway(error));
  assert.match(String(lost.at(-1)?.message), /has not answered/);
  assert.ok(await answers());
});

test('gives up a transaction too, and does not reuse its connection', async () => {
  const given = database.db.transaction().execute(async (db) => {
    await sql`select 1`.execute(db);
    proxy.silence();
    await sql`select 2`.execute(db);
  });
  await assert.rejects(given, (error) => isDatabaseAway(error));
  assert.ok(await answers());
});

test('an idle connection may stay silent', async () => {
  const client = await database.pool.connect();
  try {
    await client.query('select 1');
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    assert.equal(stream.timeout, 3_000);
    // Every time: a callback passed to setTimeout would run only once.
    for (let time = 0; time < 3; time += 1) stream.emit('timeout');
    assert.ok(stream.listenerCount('timeout') > 0);
    assert.equal((await client.query('select 1')).rowCount, 1);
  } finally {
    client.release();
  }
});

/** A connection for statements without a time limit. */
async function watched(): Promise<{ client: pg.Client; pid: number; silences(): number }> {
  const connection = () => ({ connectionString: proxy.url });
  const client = new pg.Client(connection());
  client.on('error', () => {});
  await client.connect();
  let silences = 0;
  endIfCut(client, { connection, silenceMs: 300 });
  (client.connection.stream as Socket).on('timeout', () => (silences += 1));
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return { client, pid: rows[0].pid, silences: () => silences };
}

function query(text: string, values: unknown[]) {
  return withClient({ connectionString: target.url }, (client) => client.query(text, values));
}

test('waits for a long statement as long as the server works on it or waits for a lock', async () => {
  const { client, pid, silences } = await watched();
  try {
    await withClient({ connectionString: target.url }, async (holder) => {
      await holder.query('select pg_advisory_lock(1)');
      const waiting = client.query('select pg_advisory_lock(1)');
      await waitUntil(() => silences() >= 4);
      await holder.query('select pg_advisory_unlock(1)');
      await waiting;
    });
    const asked = silences();
    // No statement is running: the connection may stay silent for any time.
    await waitUntil(() => silences() >= asked + 3);
    const { rows } = await client.query('select pg_backend_pid() as pid');
    assert.equal(rows[0].pid, pid);
  } finally {
    await client.end();
  }
});

test('gives up a long statement whose answer was lost', async () => {
  const { client } = await watched();
  proxy.silence();
  await assert.rejects(client.query('select 1'), /has not answered/);
  await client.end();
});

test('gives up a long statement whose server process is gone', async () => {
  const { client, pid } = await watched();
  const waiting = client.query('select pg_sleep(3600)');
  const given = assert.rejects(waiting, /has not answered/);
  const isAsleep = async () => {
    const { rows } = await query("select 1 from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'", [
      pid,
    ]);
    return rows.length === 1;
  };
  await waitUntil(isAsleep);
  proxy.silence();
  await query('select pg_terminate_backend($1)', [pid]);
  await given;
  await client.end();
});
