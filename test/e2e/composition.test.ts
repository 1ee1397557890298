/** The service is put together in steps: whichever of them fails, nothing of those before it stays open. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { createApp } from '../../src/app/app.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';

const log = pino({ level: 'silent' });
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let dataDir: string;
let config: Config;
/** As a whole start makes them. */
const steps: string[] = [];

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-composition-'));
  database = await createTestDatabase();
  config = readConfig({ PORT: '0', HOLDFAST_DATA_DIR: dataDir, DATABASE_URL: database.url });
  const app = await createApp(config, log, { onStep: (name) => steps.push(name) });
  await app.close();
});
after(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Connections to the database, whoever has them. */
function countConnections(): Promise<number> {
  return withClient({ connectionString: database.url }, async (client) => {
    const { rows } = await client.query(
      'select count(*)::integer as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    return rows[0].count;
  });
}

/** What keeps the process alive, such as sockets, threads and timers, beyond what there was before. */
function openedSince(before: string[]): string[] {
  const known = [...before];
  return process.getActiveResourcesInfo().filter((kind) => {
    const at = known.indexOf(kind);
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}

test('starts in the known steps, and closes again', async () => {
  assert.deepEqual(steps.slice(0, 4), ['store', 'own database', 'keyring', 'blobs']);
  assert.deepEqual(steps.slice(-2), ['server', 'end']);
  assert.ok(steps.length >= 10, steps.join());
  await waitUntil(async () => (await countConnections()) === 0);
});

test('closes everything opened so far, whichever step fails', async (t) => {
  await waitUntil(async () => (await countConnections()) === 0);
  const before = process.getActiveResourcesInfo();
  for (const failing of steps) {
    await t.test(failing, async () => {
      const failure = new Error(`${failing} cannot be made`);
      const starting = createApp(config, log, {
        onStep(name) {
          if (name === failing) throw failure;
        },
      });
      await assert.rejects(starting, failure);
      await waitUntil(async () => (await countConnections()) === 0);
      await waitUntil(() => openedSince(before).length === 0);
    });
  }
});

const faulty: [name: string, settings: Record<string, string>, reason: RegExp][] = [
  ['another master key', { HOLDFAST_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }, /master key/i],
  ['a blob store that is no directory', { HOLDFAST_BLOB_URL: 'file:///dev/null/blobs' }, /blob/i],
];

for (const [name, settings, reason] of faulty) {
  test(`${name} aborts the start, and leaves nothing open`, async () => {
    const before = process.getActiveResourcesInfo();
    const wrong = readConfig({
      PORT: '0',
      HOLDFAST_DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      ...settings,
    });
    await assert.rejects(createApp(wrong, log), reason);
    await waitUntil(async () => (await countConnections()) === 0);
    await waitUntil(() => openedSince(before).length === 0);
  });
}

test('then starts as if nothing had happened', async () => {
  const app = await createApp(config, log);
  assert.equal((await app.server.http.inject('/healthz')).statusCode, 200);
  await Promise.all([app.close(), app.close()]);
  await waitUntil(async () => (await countConnections()) === 0);
});
