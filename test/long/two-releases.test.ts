/** An upgrade step by step: the next release beside this one, this one started again, and what it must refuse. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { knownMigrations } from '../../src/db/migrate.ts';
import { blobsOf, createTestDatabase } from '../support/service/database.ts';
import { holdfast, type RunningService, serve, startUntil } from '../support/service/process.ts';
import { callerAt } from '../support/service/service.ts';

const root = join(import.meta.dirname, '../..');

test('this release runs beside the next one, and can be started again until something it needs is removed', async (t) => {
  const { settings, data } = await newInstallation(t);
  const last = (await knownMigrations()).at(-1);
  const next = await makeRelease(t, {
    '9001_wider': `-- compatible since: ${last}\nalter table vaults add column colour text;`,
  });

  const old = await start(t, () => serve(settings(data.one)));
  const key = (await readFile(join(data.one, 'first-key.txt'), 'utf8')).trim();
  await works(old, key);

  const newer = await start(t, () => next.serve(settings(data.two)));
  await works(newer, key);
  await works(old, key);

  old.child.kill('SIGKILL');
  await old.exited;
  const again = await start(t, () => serve(settings(data.one)));
  assert.match(again.stderr(), /migrated by a newer Holdfast, with which this version is compatible/);
  await works(again, key);
  await works(newer, key);
  // The chain runs where the lead is.
  const fsck = await holdfast(settings(data.two), 'fsck');
  assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);

  const later = await makeRelease(t, {
    ...next.migrations,
    '9002_narrower': 'alter table vaults drop column colour;',
  });
  for (const node of [again, newer]) {
    node.child.kill('SIGTERM');
    await node.exited;
  }
  await works(await start(t, () => later.serve(settings(data.two))), key);
  for (const refused of [await holdfast(settings(data.one), 'serve'), await next.run(settings(data.one))]) {
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr + refused.stdout,
      /newer Holdfast .*9002_narrower changed what this version relies on\. Start that version or a newer one/,
    );
    assert.doesNotMatch(refused.stderr, /\n\s+at /);
  }
});

interface Release {
  migrations: Record<string, string>;
  serve(settings: Record<string, string>): Promise<RunningService>;
  run(settings: Record<string, string>): Promise<{ code: number; stdout: string; stderr: string }>;
}

/** A release like this one, with more migrations. */
async function makeRelease(t: TestContext, migrations: Record<string, string>): Promise<Release> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-release-'));
  t.after(() => rm(dir, { recursive: true }));
  for (const part of ['package.json', 'src', 'migrations', 'pages', 'docs/openapi.json'])
    await cp(join(root, part), join(dir, part), { recursive: true });
  for (const part of ['node_modules', 'dashboard']) await symlink(join(root, part), join(dir, part));
  for (const [name, sql] of Object.entries(migrations))
    await writeFile(join(dir, 'migrations', `${name}.sql`), sql);
  const program = process.execPath;
  const args = [join(dir, 'src/main.ts'), 'serve'];
  return {
    migrations,
    async serve(settings) {
      const { running, match } = await startUntil(/is ready at (\S+)/, { program, args, settings });
      return { ...running, url: match[1] ?? '' };
    },
    async run(settings) {
      const { running } = await startUntil(/newer Holdfast/, { program, args, settings });
      const code = Number(await running.exited);
      return { code, stdout: running.stdout(), stderr: running.stderr() };
    },
  };
}

async function newInstallation(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-upgrade-'));
  const database = await createTestDatabase({ empty: true });
  t.after(async () => {
    await database.drop();
    await rm(dir, { recursive: true });
  });
  const settings = (dataDir: string) => ({
    HOLDFAST_DATA_DIR: dataDir,
    HOLDFAST_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    HOLDFAST_BLOB_URL: `file://${blobsOf(database.url)}`,
    DATABASE_URL: database.url,
  });
  return { settings, data: { one: join(dir, 'one'), two: join(dir, 'two') } };
}

async function start(t: TestContext, begin: () => Promise<RunningService>): Promise<RunningService> {
  const service = await begin();
  t.after(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
  });
  return service;
}

async function works({ url }: RunningService, key: string): Promise<void> {
  const call = callerAt(url, key);
  const { status, text } = await call('POST', '/api-v1/platform/vaults', {
    body: { name: 'Of two releases' },
  });
  assert.equal(status, 201, text);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
}
