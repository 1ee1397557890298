/** Servers of other versions than the embedded one: too old ones are refused, and the oldest supported one does the work. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { oldestMajor } from '../../src/db/server-version.ts';
import { createQueue } from '../../src/webhooks/dispatch/queue.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';

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

const programs = `/usr/lib/postgresql/${oldestMajor}/bin`;
const missing = !existsSync(join(programs, 'initdb')) && `PostgreSQL ${oldestMajor} is not installed`;

test('the oldest supported server runs every migration, and a claim there reads no backlog', {
  skip: missing,
  timeout: 600_000,
}, async (t) => {
  const endings: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const end of endings.reverse()) await end();
  });
  const url = await startServer((end) => endings.push(end));
  await migrate({ connection: { connectionString: url } });
  const database = openDatabase({
    connection: () => ({ connectionString: url }),
    onError() {},
    max: 1,
    indexOnly: true,
  });
  endings.push(() => database.close());
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
});

/** As another account where the test is root's, which PostgreSQL refuses to run as. */
async function startServer(onEnd: (end: () => Promise<unknown>) => void): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  const account = process.geteuid?.() === 0 ? accountOf('postgres') : {};
  if (account.uid !== undefined) await chown(directory, account.uid, account.gid ?? account.uid);
  await chmod(directory, 0o700);
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, ...account };
  const data = join(directory, 'data');
  const init = ['-D', data, '-U', 'holdfast', '--auth=trust', '--no-sync', '-E', 'UTF8'];
  await promisify(execFile)(join(programs, 'initdb'), init, options);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    { ...options, stdio: 'ignore' },
  );
  const exited = new Promise((resolve) => server.once('exit', resolve));
  onEnd(() => {
    server.kill('SIGINT');
    return exited;
  });
  const connectionString = `postgres://holdfast@127.0.0.1:${port}/postgres`;
  await waitUntil(async () => {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  });
  return connectionString;
}

function accountOf(name: string): { uid?: number; gid?: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined ? {} : { uid: Number(uid), gid: Number(gid) };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
