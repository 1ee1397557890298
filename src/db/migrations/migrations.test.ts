/** Migrations beside a running service: locks that others hold, concurrent indexes, and schemas of newer versions. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase, withClient } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { knownMigrations, migrate } from '../migrate.ts';
import { readMigration } from './migration-files.ts';

const migrations = join(import.meta.dirname, '../../../migrations');
let last: string;
before(async () => {
  last = (await knownMigrations()).at(-1) ?? assert.fail();
});

interface Release {
  url: string;
  dir: string;
  /** Everything that the migrator logged. */
  told: object[];
  add(name: string, sql: string): Promise<void>;
  migrate(patience?: { lockTimeoutMs?: number; patienceMs?: number }): Promise<string[]>;
  query(text: string): Promise<pg.QueryResult>;
  /** A session of somebody else, which the test ends. */
  session(): Promise<pg.Client>;
}

test('a migration that needs a held lock lets others pass, says who holds it, and goes on afterwards', async (t) => {
  const next = await newRelease(t);
  await next.add('9001_wider', 'alter table vaults add column colour text;');
  const reader = await next.session();
  await reader.query('begin; select count(*) from vaults');
  const { rows } = await reader.query('select pg_backend_pid() as pid');

  const migrating = next.migrate({ lockTimeoutMs: 300 });
  const waits = await waitUntil(() => next.told.find((one) => /session/.test(JSON.stringify(one))));
  assert.match(
    JSON.stringify(waits),
    new RegExp(`session ${rows[0].pid} \\(reader, user \\w+, idle in transaction`),
  );
  // Behind a request for the lock this would wait for as long as the reader stays.
  for (let round = 0; round < 3; round += 1) await next.query('select count(*) from vaults');
  assert.equal(await isApplied(next, '9001_wider'), false);
  await reader.query('commit');
  assert.deepEqual(await migrating, ['9001_wider']);
});

test('a lock that is never free ends the migration with the session that holds it, and nothing is changed', async (t) => {
  const next = await newRelease(t);
  await next.add(
    '9001_wider',
    'create table before_it (id integer);\nalter table vaults add column colour text;',
  );
  const reader = await next.session();
  await reader.query('begin; select count(*) from vaults');
  // Long enough for a look at who holds it, also on a busy machine.
  await assert.rejects(next.migrate({ lockTimeoutMs: 3_000, patienceMs: 1_000 }), (error: Error) => {
    assert.equal(error.name, 'OperatorError', error.stack);
    assert.match(error.message, /The migration 9001_wider needs a lock that was not free for \d+ s\./);
    assert.match(error.message, /held by session \d+ \(reader, .*pg_terminate_backend/);
    return true;
  });
  assert.equal((await next.query("select to_regclass('before_it') as found")).rows[0].found, null);
  assert.equal(await isApplied(next, '9001_wider'), false);
  await reader.query('rollback');
  assert.deepEqual(await next.migrate(), ['9001_wider']);
});

test('an index is built while others write, also when a second node waits for its turn', async (t) => {
  const next = await newRelease(t);
  await next.add('9001_index', concurrentIndex);
  const writer = await next.session();
  await writer.query(`begin; ${insertWorkspace('ws_one')}`);
  const one = next.migrate();
  await waitUntil(async () => (await validity(next)) === false);
  const other = next.migrate();
  await waitUntil(() => next.told.find((told) => JSON.stringify(told).includes('another node')));
  await next.query(insertWorkspace('ws_two'));
  await writer.query('commit');
  assert.deepEqual([await one, await other].flat(), ['9001_index']);
  assert.equal(await validity(next), true);
});

test('kill -9 while an index is built: the next start waits for the server, or builds it anew', async (t) => {
  for (const server of ['goes on', 'stops too'] as const) {
    await t.test(`the server ${server}`, async (t) => {
      const next = await newRelease(t);
      await next.add('9001_index', concurrentIndex);
      const writer = await next.session();
      await writer.query(`begin; ${insertWorkspace('ws_one')}`);
      const node = migrateElsewhere(next);
      await waitUntil(async () => (await validity(next)) === false);
      node.kill('SIGKILL');
      const pid = await builder(next);
      if (server === 'stops too') await next.query(`select pg_terminate_backend(${pid})`);
      await waitUntil(async () => server === 'goes on' || (await builder(next)) === undefined);
      assert.deepEqual([await validity(next), await isApplied(next, '9001_index')], [false, false]);

      const again = next.migrate();
      if (server === 'goes on') await waitUntil(() => next.told.length > 0);
      await writer.query('commit');
      assert.deepEqual(await again, ['9001_index']);
      assert.equal(await validity(next), true);
    });
  }
});

test('an unfit row fails a unique index, and the next start builds it once the row is gone', async (t) => {
  const next = await newRelease(t);
  await next.query(insertWorkspace('ws_one'));
  await next.query(insertWorkspace('ws_two'));
  const sql =
    '-- transaction: none\ncreate unique index concurrently if not exists by_name on workspaces ((1));';
  await next.add('9001_index', sql);
  await assert.rejects(next.migrate(), { code: '23505' });
  assert.equal(await validity(next), false);
  await next.query("delete from workspaces where id = 'ws_two'");
  assert.deepEqual(await next.migrate(), ['9001_index']);
  assert.equal(await validity(next), true);
});

test('an earlier version runs on a newer schema that says so, and refuses any other', async (t) => {
  const next = await newRelease(t);
  await next.add('9001_wider', `-- compatible since: ${last}\nalter table vaults add column colour text;`);
  await next.migrate();
  const told: object[] = [];
  const log = { info: (details: object) => told.push(details) };
  assert.deepEqual(await migrate({ connection: { connectionString: next.url }, log }), []);
  assert.deepEqual(told, [{ newer: ['9001_wider'] }]);

  // What the version after next removes, only those that know 9001 can do without.
  await next.add('9002_narrower', '-- compatible since: 9001_wider\nalter table vaults drop column colour;');
  await next.migrate();
  await assert.rejects(
    migrate({ connection: { connectionString: next.url } }),
    /it has 9001_wider, 9002_narrower, which this version does not know.*: 9002_narrower changed what this version relies on\. Start that version or a newer one/,
  );
});

test('a version that lacks a migration of the schema and has one of its own is refused', async (t) => {
  const next = await newRelease(t);
  await next.add('9001_wider', `-- compatible since: ${last}\nalter table vaults add column colour text;`);
  await next.migrate();
  await rm(join(next.dir, '9001_wider.sql'));
  await next.add('9002_other', 'create table other (id integer);');
  await assert.rejects(next.migrate(), /it lacks 9002_other/);
  assert.equal(await isApplied(next, '9002_other'), false);
});

test('what migrations say about themselves can be true', async () => {
  const known = await knownMigrations();
  for (const name of known) {
    const { sql, statements, compatibleSince } = await readMigration(name);
    if (compatibleSince !== null) assert.ok(known.indexOf(compatibleSince) < known.indexOf(name), name);
    if (compatibleSince !== null) assert.ok(known.includes(compatibleSince), `${name}: ${compatibleSince}`);
    for (const statement of statements ?? []) {
      assert.match(
        statement,
        /\bif (not )?exists\b|^(update|delete|set|alter table .* validate)\b/i,
        `${name}: cannot run twice`,
      );
    }
    assert.ok(
      statements || !/\bconcurrently\b/i.test(sql.replace(/--.*/g, '')),
      `${name}: needs "-- transaction: none"`,
    );
  }
});

const concurrentIndex = `-- Found by its name.
-- transaction: none
create index concurrently if not exists by_name on workspaces (name);
`;

const insertWorkspace = (id: string): string =>
  `insert into workspaces (id, name, slug, metadata, created_at) values ('${id}', '${id}', '${id}', '{}', now())`;

async function newRelease(t: TestContext): Promise<Release> {
  const database = await createTestDatabase();
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-migrations-'));
  const sessions: pg.Client[] = [];
  t.after(async () => {
    for (const session of sessions) await session.end();
    await database.drop();
    await rm(dir, { recursive: true });
  });
  await cp(migrations, dir, { recursive: true });
  const connection = { connectionString: database.url };
  const told: object[] = [];
  const log = { info: (details: object, message: string) => told.push({ ...details, message }) };
  return {
    url: database.url,
    dir,
    told,
    add: (name, sql) => writeFile(join(dir, `${name}.sql`), sql),
    migrate: (patience) => migrate({ connection, dir, log, ...patience }),
    query: (text) => withClient(connection, (client) => client.query(text)),
    async session() {
      const client = new pg.Client({ ...connection, application_name: 'reader' });
      client.on('error', () => {});
      await client.connect();
      sessions.push(client);
      return client;
    },
  };
}

async function isApplied({ query }: Release, name: string): Promise<boolean> {
  return (await query(`select 1 from schema_migrations where name = '${name}'`)).rowCount === 1;
}

/** Undefined while there is no such index. */
async function validity({ query }: Release): Promise<boolean | undefined> {
  const text = "select indisvalid as valid from pg_index where indexrelid = to_regclass('by_name')";
  return (await query(text)).rows[0]?.valid;
}

async function builder({ query }: Release): Promise<number | undefined> {
  const text = `select pid from pg_stat_activity where query like 'create index concurrently%' and state = 'active'
    and datname = current_database()`;
  return (await query(text)).rows[0]?.pid;
}

function migrateElsewhere({ url, dir }: Release) {
  const program = JSON.stringify(join(import.meta.dirname, '../migrate.ts'));
  const options = JSON.stringify({ connection: { connectionString: url }, dir });
  const script = `const { migrate } = await import(${program}); await migrate(${options});`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
}
