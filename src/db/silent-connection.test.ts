import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { openSilentProxy, type SilentProxy } from '../../test/silent-proxy.ts';
import { type Database, openDatabase } from './database.ts';
import { isDatabaseAway } from './faults.ts';

let target: TestDatabase;
let proxy: SilentProxy;
let database: Database;
const lost: Error[] = [];

before(async () => {
  target = await createTestDatabase({ empty: true });
  proxy = await openSilentProxy(target.url);
  database = openDatabase({
    connection: () => ({ connectionString: proxy.url, statement_timeout: 20_000 }),
    onError: (error) => lost.push(error),
    max: 1,
    // Three seconds in all.
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

test('a statement whose connection was cut without a word is given up, and the next one has a new connection', async () => {
  assert.ok(await answers());
  proxy.silence();
  await assert.rejects(answers(), (error) => isDatabaseAway(error));
  assert.match(String(lost.at(-1)?.message), /has not answered/);
  assert.ok(await answers());
});

test('a transaction is given up as well, and its connection does not come back', async () => {
  const given = database.db.transaction().execute(async (db) => {
    await sql`select 1`.execute(db);
    proxy.silence();
    await sql`select 2`.execute(db);
  });
  await assert.rejects(given, (error) => isDatabaseAway(error));
  assert.ok(await answers());
});

test('a connection that has nothing to answer may be silent', async () => {
  const client = await database.pool.connect();
  try {
    await client.query('select 1');
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    assert.equal(stream.timeout, 3_000);
    stream.emit('timeout');
    assert.equal((await client.query('select 1')).rowCount, 1);
  } finally {
    client.release();
  }
});
