/** The TypeScript schema compared with the migrated one, group commits, and interrupted migrations. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  createTestDatabase,
  openTestDatabase,
  type TestDatabase,
  withClient,
} from '../../test/support/service/database.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { violates } from './faults.ts';
import { migrate } from './migrate.ts';
import { createGroupCommit, insertAll, type Write } from './writes.ts';

const migrations = join(import.meta.dirname, '../../migrations');

describe('the schema', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  before(async () => {
    database = await openTestDatabase();
  });
  after(() => database.close());

  test('src/db/tables/ names every table and column, and nothing else', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and table_name <> 'schema_migrations'
         and table_name not in (select inhrelid::regclass::text from pg_inherits)`,
    );
    const parts = globSync('tables/*.ts', { cwd: import.meta.dirname });
    const texts = await Promise.all(parts.map((part) => readFile(join(import.meta.dirname, part), 'utf8')));
    const body = texts.join('\n');
    const declared = [...body.matchAll(/^ {2}(\w+): \{\n([\s\S]*?)^ {2}\};/gm)].flatMap(
      ([, table, columns = '']) =>
        [...columns.matchAll(/^ {4}(\w+):/gm)].map(([, column]) => `${table}.${column}`),
    );
    assert.deepEqual(declared.sort(), rows.map(({ name }) => name).sort());
  });

  test('concurrent commits store their rows completely, with bytes, arrays, JSON and times unchanged', async () => {
    const commit = createGroupCommit(database.pool);
    await insertAll(database.db, [workspace('ws_a')]);
    const at = new Date('2026-01-02T03:04:05.678Z');
    await Promise.all(
      Array.from({ length: 100 }, (_, number) =>
        commit([
          {
            table: 'api_keys',
            row: {
              workspace_id: 'ws_a',
              id: `key_${number}`,
              name: `"quotes" \\ and ünïcödé ${number}`,
              hint: '',
              secret_hash: Buffer.alloc(32, number),
              scopes: ['vaults:read', 'a,b"{}'],
              created_at: at,
            },
          },
          audit('ws_a', `aud_${number}`, { nested: [1, { two: null }], text: '\\x41' }),
        ]),
      ),
    );
    const keys = await database.db.selectFrom('api_keys').selectAll().where('id', '=', 'key_65').execute();
    assert.equal(keys[0]?.name, '"quotes" \\ and ünïcödé 65');
    assert.deepEqual(keys[0]?.secret_hash, Buffer.alloc(32, 65));
    assert.deepEqual(keys[0]?.scopes, ['vaults:read', 'a,b"{}']);
    assert.deepEqual(keys[0]?.created_at, at);
    assert.equal(keys[0]?.expires_at, null);
    const entry = await database.db
      .selectFrom('audit_entries')
      .select('details')
      .where('id', '=', 'aud_65')
      .executeTakeFirst();
    assert.deepEqual(entry?.details, { nested: [1, { two: null }], text: '\\x41' });
  });

  test('a commit that violates a constraint stores none of its rows, and does not affect others', async () => {
    const commit = createGroupCommit(database.pool);
    await insertAll(database.db, [workspace('ws_b')]);
    const outcomes = await Promise.allSettled([
      commit([audit('ws_b', 'aud_good_1')]),
      commit([audit('ws_b', 'aud_half'), workspace('ws_b')]),
      commit([audit('ws_b', 'aud_good_2')]),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.ok(outcomes[1]?.status === 'rejected' && violates(outcomes[1].reason, 'workspaces_pkey'));
    const stored = await database.db
      .selectFrom('audit_entries')
      .select('id')
      .where('workspace_id', '=', 'ws_b')
      .orderBy('id')
      .execute();
    assert.deepEqual(
      stored.map(({ id }) => id),
      ['aud_good_1', 'aud_good_2'],
    );
  });

  test('audit entries and their chain cannot be changed, deleted or truncated', async () => {
    await insertAll(database.db, [workspace('ws_c'), audit('ws_c', 'aud_fixed')]);
    for (const statement of [
      "update audit_entries set action = 'x' where id = 'aud_fixed'",
      "delete from audit_entries where id = 'aud_fixed'",
      'truncate audit_entries',
      "update audit_segments set hashes = ''",
      'delete from audit_segments',
      'truncate audit_segments',
    ]) {
      await assert.rejects(database.pool.query(statement), /append-only/, statement);
    }
  });
});

describe('migrations', () => {
  test('a migration killed midway leaves nothing behind, and the next start completes it', async () => {
    const testDatabase = await createTestDatabase();
    const dir = await mkdtemp(join(tmpdir(), 'holdfast-migrations-'));
    try {
      await cp(migrations, dir, { recursive: true });
      await writeFile(join(dir, '9000_slow.sql'), `create table half_done (id integer);\n${sleeping};\n`);
      const script = `import { migrate } from ${JSON.stringify(join(import.meta.dirname, 'migrate.ts'))};
        await migrate({ connection: { connectionString: ${JSON.stringify(testDatabase.url)} }, dir: ${JSON.stringify(dir)} });`;
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
        stdio: 'ignore',
      });
      const exited = new Promise((resolve) => child.on('exit', resolve));
      try {
        await waitUntil(async () => (await sleepersOf(testDatabase)) > 0);
      } finally {
        child.kill('SIGKILL');
        await exited;
      }

      await writeFile(join(dir, '9000_slow.sql'), 'create table half_done (id integer);\n');
      await endSleepers(testDatabase);
      const applied = await migrate({ connection: { connectionString: testDatabase.url }, dir });
      assert.deepEqual(applied, ['9000_slow']);
    } finally {
      await rm(dir, { recursive: true });
      await testDatabase.drop();
    }
  });

  test('several nodes that start together migrate only once', async (t) => {
    const testDatabase = await createTestDatabase({ empty: true });
    t.after(() => testDatabase.drop());
    const connection = { connectionString: testDatabase.url };
    const runs = await Promise.all([
      migrate({ connection }),
      migrate({ connection }),
      migrate({ connection }),
    ]);
    assert.deepEqual(runs.map((applied) => applied.length > 0).sort(), [false, false, true]);
    assert.deepEqual(await migrate({ connection }), []);
  });

  test('refuses a schema from a newer version, and does not change it', async (t) => {
    const testDatabase = await createTestDatabase();
    t.after(() => testDatabase.drop());
    const connection = { connectionString: testDatabase.url };
    await withClient(connection, (client) =>
      client.query("insert into schema_migrations (name, run_on) values ('9999_from_the_future', now())"),
    );
    await assert.rejects(migrate({ connection }), /newer Holdfast.*9999_from_the_future/);
  });
});

function workspace(id: string): Write {
  return { table: 'workspaces', row: { id, name: id, slug: id, metadata: {}, created_at: new Date() } };
}

function audit(workspaceId: string, id: string, details: Record<string, unknown> = {}): Write {
  return {
    table: 'audit_entries',
    row: {
      workspace_id: workspaceId,
      id,
      at: new Date(),
      actor_kind: 'system',
      actor_id: 'test',
      action: 'test.write',
      target_id: id,
      request_id: null,
      details,
      digest: Buffer.alloc(32),
    },
  };
}

/** Longer than any test: either it is terminated, or nobody waits for it. */
const sleeping = 'select pg_sleep(3600)';
const ofSleepers = `from pg_stat_activity
  where query like '%${sleeping}%' and datname = current_database() and pid <> pg_backend_pid()`;

function sleepersOf({ url }: TestDatabase): Promise<number> {
  return withClient({ connectionString: url }, async (client) => {
    return (await client.query(`select 1 ${ofSleepers}`)).rowCount ?? 0;
  });
}

/** The server notices a killed client only when its statement ends; this ends the statement. */
async function endSleepers({ url }: TestDatabase): Promise<void> {
  await withClient({ connectionString: url }, (client) =>
    client.query(`select pg_terminate_backend(pid) ${ofSleepers}`),
  );
}
