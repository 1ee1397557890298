/** The embedded database of an older major version, moved to the installed one by real servers of both. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { needs, pathOf } from '../../test/support/programs/needs.ts';
import { command } from '../../test/support/service/commands.ts';
import { withClient } from '../../test/support/service/database.ts';
import { type Settings, startHoldfast, waitUntil } from '../../test/support/service/process.ts';
import { accountOf, chooseServerAccount, readPasswd } from '../db/embedded/account.ts';
import { startEmbeddedPostgres } from '../db/embedded/embedded-postgres.ts';
import { migrate } from '../db/migrate.ts';

/** Debian's; any other major version would do. */
const oldPrograms = () => dirname(pathOf('postgresql-15'));
const log = { info() {}, error() {} };
const rows = 10_000;

needs('postgresql-15').describe('a database of an older major version', () => {
  let dataDir: string;
  let settings: Settings;
  before(async () => {
    dataDir = await oldInstallation();
    settings = { HOLDFAST_DATA_DIR: dataDir };
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  test('this version refuses it, and says how to upgrade', async () => {
    const { code, stderr } = await command(settings, 'migrate');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /made by PostgreSQL 15, but .* PostgreSQL 18\. Run "holdfast upgrade-database --old-programs/,
    );
  });

  test('the command says which programs it needs', async () => {
    const { code, stderr } = await command(settings, 'upgrade-database');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /made by PostgreSQL 15, so its programs are needed.*\/usr\/lib\/postgresql\/15\/bin/,
    );
    assert.deepEqual(await readdir(dataDir), ['postgres']);
  });

  test('kill -9 in the middle leaves the old one as it was', async () => {
    const killed = await startHoldfast(
      settings,
      /of \d+|^/,
      'upgrade-database',
      '--old-programs',
      oldPrograms(),
    );
    await waitUntil(() => existsSync(join(dataDir, 'upgrade/postgres/cluster/PG_VERSION')));
    killed.child.kill('SIGKILL');
    await killed.exited;
    assert.equal(await versionIn(join(dataDir, 'postgres')), '15');
  });

  test('the next run moves it to the installed version, and keeps it', async () => {
    const args = ['upgrade-database', '--old-programs', oldPrograms(), '--json'];
    const { code, stdout, stderr } = await command(settings, ...args);
    assert.equal(code, 0, stdout + stderr);
    const { upgraded, from, to, rows: moved, kept } = JSON.parse(stdout);
    assert.deepEqual([upgraded, from, to, kept], [true, '15', '18', join(dataDir, 'postgres-15')]);
    assert.ok(moved > rows, `${moved} rows`);
    assert.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'postgres-15']);
    assert.deepEqual(await contentOf(join(dataDir)), await contentBefore);
  });

  test('killed between the two renames, no empty database takes its place', async () => {
    await mkdir(join(dataDir, 'upgrade'));
    await rename(join(dataDir, 'postgres'), join(dataDir, 'upgrade/postgres'));
    await writeFile(join(dataDir, 'upgrade/finished'), JSON.stringify({ from: '15', to: '18', rows }));
    const refused = await command(settings, 'migrate');
    assert.match(
      refused.stderr,
      /interrupted at its last step, and nothing is lost\. Run "holdfast upgrade-database" again/,
    );
    assert.equal((await command(settings, 'upgrade-database')).code, 0);
    assert.deepEqual(await contentOf(dataDir), await contentBefore);
  });

  test('and there is nothing more to do', async () => {
    const { code, stdout } = await command(settings, 'upgrade-database');
    assert.equal(code, 0);
    assert.match(stdout, /nothing to do/);
  });
});

let contentBefore: Promise<unknown>;

/** As an earlier release with PostgreSQL 15 would have left it. */
async function oldInstallation(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-major-'));
  const home = join(dataDir, 'postgres');
  const cluster = join(home, 'cluster');
  await mkdir(cluster, { recursive: true, mode: 0o711 });
  const passwordFile = join(home, 'password');
  await writeFile(passwordFile, 'only for a test\n', { mode: 0o600 });
  await writeFile(join(home, 'start.lock'), '');
  const isRoot = process.geteuid?.() === 0;
  const account = isRoot ? chooseServerAccount(await readPasswd()) : accountOf('', { uid: 0, gid: 0 });
  assert.ok(account);
  const ids = isRoot ? { uid: account.uid, gid: account.gid } : {};
  for (const path of isRoot ? [dataDir, home, cluster, passwordFile] : [])
    await chown(path, account.uid, account.gid);
  const options = ['-D', cluster, '-U', 'holdfast', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  await promisify(execFile)(pathOf('postgresql-15'), [...options, '--locale=C.UTF-8', '-E', 'UTF8', '-N'], {
    ...ids,
    cwd: '/',
  });
  const server = await startEmbeddedPostgres({ dataDir, log, programs: oldPrograms() });
  await migrate({ connection: server.connection() });
  await withClient(server.connection(), async (client) => {
    await client.query(`
      insert into workspaces (id, name, slug, metadata, created_at)
      select 'ws_' || n, 'Wörkspace ' || n || E'\\t\\\\', 'w' || n, json_build_object('n', n), now() from generate_series(1, ${rows}) n`);
    await client.query(
      "select setval(c.oid::regclass, 4711) from pg_class c where relkind = 'S' and relname <> 'schema_migrations_id_seq'",
    );
  });
  contentBefore = contentOf(dataDir, oldPrograms());
  await contentBefore;
  await server.release();
  return dataDir;
}

async function contentOf(dataDir: string, programs?: string): Promise<unknown> {
  const server = await startEmbeddedPostgres({ dataDir, log, ...(programs && { programs }) });
  try {
    return await withClient(server.connection(), async (client) => {
      const { rows: content } = await client.query(
        "select count(*), md5(string_agg(w::text, ' ' order by id)) as content from workspaces w",
      );
      const { rows: sequences } = await client.query(
        "select sequencename, last_value from pg_sequences where sequencename <> 'schema_migrations_id_seq' order by 1",
      );
      const { rows: migrations } = await client.query('select name from schema_migrations order by id');
      const { rows: triggers } = await client.query(
        "select count(*) from pg_trigger where tgenabled = 'O' union all select count(*) from pg_constraint where contype = 'f'",
      );
      return { content, sequences, migrations, triggers };
    });
  } finally {
    await server.release();
  }
}

async function versionIn(home: string): Promise<string> {
  return (await readFile(join(home, 'cluster/PG_VERSION'), 'utf8')).trim();
}
