/** Servers of other versions than the embedded one: too old ones are refused, and the oldest supported one does the work. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import type pg from 'pg';
import { indexOnly, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { oldestMajor } from '../../src/db/server/server-version.ts';
import { createQueue } from '../../src/webhooks/dispatch/queue.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { startServer } from '../support/service/postgres-server.ts';

test('refuses a server that is too old, and changes nothing', async (t) => {
  const { url, drop } = await createTestDatabase({ empty: true });
  t.after(drop);
  const connectionString = url;
  await withClient({ connectionString }, (client) =>
    client.query(
      `create schema old;
       create function old.current_setting(text) returns text language sql as 'select ''140012''::text'`,
    ),
  );
  const options = '-c search_path=old,pg_catalog,public';
  await assert.rejects(migrate({ connection: { connectionString, options } }), {
    name: 'OperatorError',
    message: /is PostgreSQL 14\.12, but Holdfast needs 15 or newer\. Upgrade the server/,
  });
  const { rows } = await withClient({ connectionString }, (client) =>
    client.query("select 1 from pg_tables where schemaname = 'public'"),
  );
  assert.deepEqual(rows, []);
});

const oldest = `postgresql-${oldestMajor}` as const;

needs(oldest).test(
  'the oldest supported server runs every migration, and a claim there reads no backlog',
  {
    timeout: 600_000,
  },
  async (t) => {
    const { url } = await startServer(t, { programs: dirname(pathOf(oldest)) });
    await migrate({ connection: { connectionString: url } });
    const database = openDatabase({
      connection: () => ({ connectionString: url }),
      onError() {},
      max: 1,
      settings: indexOnly,
    });
    t.after(() => database.close());
    await database.pool.query(
      `insert into workspaces (id, name, slug, metadata) values ('ws_1', '', 'w', '{}');
     insert into webhook_endpoints (workspace_id, id, url, event_types)
     select 'ws_1', 'whe_' || n, 'https://example.org/', '{vault.deactivated}' from generate_series(1, 3) as n;
     insert into events (workspace_id, id, type, envelope)
     select 'ws_1', 'evt_' || lpad(n::text, 26, '0'), 'vault.deactivated', '{}' from generate_series(1, 2000) as n`,
    );
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      const queue = createQueue(client as unknown as pg.Pool);
      const claimed = await queue.claim({
        claimId: 'c',
        nodeId: 1,
        leaseMs: 60_000,
        room: [],
        usual: 5,
        fullWorkspaces: [],
        waiting: [],
        limit: 1000,
      });
      assert.equal(claimed.length, 15);
      const { rows } = await client.query(
        "select pg_stat_get_xact_tuples_returned('webhook_queue_due'::regclass) as read",
      );
      assert.ok(rows[0].read < 100, `${rows[0].read} entries of 6000 were read`);
      await client.query('rollback');
    } finally {
      client.release();
    }
  },
);
