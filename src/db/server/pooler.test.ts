/** Behind a pooler: session mode works, other modes are refused in a sentence. Needs PgBouncer for the first. */
// tier: process
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { needs, pathOf } from '../../../test/support/programs/needs.ts';
import { createTestDatabase, withClient } from '../../../test/support/service/database.ts';
import { freePort } from '../../../test/support/service/postgres-server.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { openDatabase } from '../database.ts';
import { migrate } from '../migrate.ts';
import { refuseSharedSessions } from './pooler.ts';

const withPgBouncer = needs('pgbouncer');

withPgBouncer.test('works through PgBouncer in session mode with its usual settings', async (t) => {
  const connectionString = await startPgBouncer(t, 'session');
  await refuseSharedSessions({ connectionString });
  await migrate({ connection: { connectionString } });
  const { pool, close } = openDatabase({ connection: () => ({ connectionString }), onError() {} });
  t.after(close);
  const { rows } = await pool.query({
    name: 'settings',
    text: `select current_setting('enable_seqscan') as scans, current_setting('statement_timeout') as longest`,
  });
  assert.deepEqual(rows, [{ scans: 'off', longest: '30s' }]);
});

for (const mode of ['transaction', 'statement']) {
  withPgBouncer.test(`refuses PgBouncer in ${mode} mode`, async (t) => {
    const connectionString = await startPgBouncer(t, mode);
    await assert.rejects(refuseSharedSessions({ connectionString }), {
      name: 'OperatorError',
      message: /^DATABASE_URL leads to a pooler that shares sessions between connections, .* session mode/,
    });
  });
}

test('accepts a server without a pooler', async (t) => {
  const { url, drop } = await createTestDatabase({ empty: true });
  t.after(drop);
  await refuseSharedSessions({ connectionString: url });
});

async function startPgBouncer(t: TestContext, mode: string): Promise<string> {
  const { url, drop } = await createTestDatabase({ empty: true });
  const { hostname, port, username, password, pathname } = new URL(url);
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-pgbouncer-'));
  const ownPort = await freePort();
  const users = join(directory, 'users.txt');
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  const file = join(directory, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
`,
  );
  for (const path of [users, file]) await chmod(path, 0o644);
  await chmod(directory, 0o755);
  // PgBouncer does not run as root.
  const args = process.geteuid?.() === 0 ? ['-u', 'nobody', file] : [file];
  const child = spawn(pathOf('pgbouncer'), args, { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  t.after(async () => {
    child.kill('SIGQUIT');
    await exited;
    await drop();
    await rm(directory, { recursive: true });
  });
  const connectionString = `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`;
  await waitUntil(() => withClient({ connectionString }, async () => true).catch(() => false));
  return connectionString;
}
