/** Several servers in DATABASE_URL: the one that takes writes is used, also after a failover. */
// tier: process
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withClient } from '../../../test/support/service/database.ts';
import { startReplicated } from '../../../test/support/service/postgres-server.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { serverUrls } from '../../config/database-url.ts';
import { openDatabase } from '../database.ts';
import { isDatabaseAway } from '../faults.ts';
import { openServers } from './servers.ts';

test('finds the primary among several servers, and the new one after a failover', async (t) => {
  const { primary, standby } = await startReplicated(t);
  const both = `postgres://holdfast@${standby.host},${primary.host}/postgres`;
  const servers = await openServers(both);
  assert.equal(servers.connection().connectionString, primary.url);

  const { pool, close } = openDatabase({
    connection: servers.connection,
    onError() {},
    onRefused: servers.look,
  });
  t.after(close);
  await pool.query('create table kept (n integer)');
  await pool.query('insert into kept values (1)');
  const { rows } = await pool.query(
    `select current_setting('enable_seqscan') as scans, current_setting('jit') as compiled`,
  );
  assert.deepEqual(rows, [{ scans: 'off', compiled: 'off' }]);

  const onStandby = <T>(text: string) =>
    withClient({ connectionString: standby.url }, async (client) => (await client.query(text)).rows as T[]);
  await waitUntil(
    async () => (await onStandby("select 1 from pg_tables where tablename = 'kept'")).length > 0,
  );
  await waitUntil(async () => (await onStandby('select 1 from kept')).length > 0);
  await primary.kill();
  await assert.rejects(pool.query('insert into kept values (2)'), isDatabaseAway);
  await onStandby('select pg_promote()');
  await waitUntil(() =>
    pool.query('insert into kept values (3)').then(
      () => true,
      (error) => {
        assert.ok(isDatabaseAway(error), error);
        return false;
      },
    ),
  );
  assert.equal(servers.connection().connectionString, standby.url);
  const { rows: kept } = await pool.query('select n from kept order by n');
  assert.deepEqual(kept, [{ n: 1 }, { n: 3 }]);
});

test('a standby is refused in a sentence, and a connection to one counts as a database that is away', async (t) => {
  const { standby } = await startReplicated(t);
  await assert.rejects(openServers(standby.url), {
    name: 'OperatorError',
    message: `No database server takes writes: ${standby.host} is a standby. Set DATABASE_URL to the primary, or name all servers, as postgres://USER:PASSWORD@HOST,HOST/DATABASE: the one that takes writes is found.`,
  });
  const nobody = '127.0.0.1:1';
  await assert.rejects(openServers(`postgres://holdfast@${nobody},${standby.host}/postgres`), {
    message:
      /127\.0\.0\.1:1 cannot be used \(connect ECONNREFUSED 127\.0\.0\.1:1\); 127\.0\.0\.1:\d+ is a standby\. /,
  });
  let refused = 0;
  const { pool, close } = openDatabase({
    connection: () => ({ connectionString: standby.url }),
    onError() {},
    onRefused: () => {
      refused += 1;
    },
  });
  t.after(close);
  await assert.rejects(pool.query('select 1'), isDatabaseAway);
  assert.equal(refused, 1);
});

test('a single server that is away is told by its own error', async () => {
  await assert.rejects(openServers('postgres://me@127.0.0.1:1/x'), { code: 'ECONNREFUSED' });
});

test('a URL names one server or several', () => {
  assert.deepEqual(serverUrls('postgres://u:p%2C@a:1,[::1]:2,c/db?sslmode=require'), [
    'postgres://u:p%2C@a:1/db?sslmode=require',
    'postgres://u:p%2C@[::1]:2/db?sslmode=require',
    'postgres://u:p%2C@c/db?sslmode=require',
  ]);
  assert.deepEqual(serverUrls('postgresql://host'), ['postgresql://host']);
  for (const text of ['mysql://a/b', 'postgres://a:x,b/c', 'postgres://u@a:99999/b', 'postgres:/a']) {
    assert.equal(serverUrls(text), null, text);
  }
});
