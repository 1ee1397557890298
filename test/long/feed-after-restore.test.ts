/** Readers of the event feed across a restore: whoever was ahead of the backup is told so, and misses nothing new. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeBackup } from '../../src/backup/backup.ts';
import { restoreBackup } from '../../src/backup/restore.ts';
import { openBlobStore } from '../../src/blobs/open-blob-store.ts';
import { readConfig } from '../../src/config/config.ts';
import { openDatabase } from '../../src/db/database.ts';
import { readMasterKeys } from '../../src/keys/master-keys.ts';
import { readEvents, streamPath } from '../support/clients/event-reader.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { callerAt, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const events = '/api-v1/platform/events';
const env = { HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };

let dir: string;
let archive: string;
let original: Service;
let vaultAddress: string;
const endings: (() => Promise<unknown>)[] = [];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-feed-'));
  archive = join(dir, 'backup.tar');
  original = await startService({ env });
  const { json } = await original.call('POST', vaults, { body: { name: 'Watched' } });
  vaultAddress = json.address;
  await makeEvents(original.call, 2);
  await feedOf(original.call, 2);
  await backUp();
});
after(async () => {
  for (const end of endings.reverse()) await end();
  await original?.close();
  await rm(dir, { recursive: true, force: true });
});

type Call = Service['call'];

async function makeEvents(call: Call, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    const move = turn % 2 === 0 ? 'deactivate' : 'reactivate';
    assert.equal((await call('PATCH', `${vaults}/${vaultAddress}/${move}`)).status, 200);
  }
}

/** The ids and the cursor of the feed, once it has so many events. */
async function feedOf(call: Call, wanted: number): Promise<{ ids: string[]; cursor: string }> {
  const page = await waitUntil(async () => {
    const found = await call('GET', events);
    return found.json.length >= wanted && found;
  });
  return {
    ids: page.json.map(({ id }: { id: string }) => id),
    cursor: page.headers.get('x-next-cursor') ?? '',
  };
}

async function backUp(): Promise<void> {
  const connection = () => ({ connectionString: original.databaseUrl });
  const database = openDatabase({ connection, onError() {} });
  const store = await openBlobStore(original.config.blobs);
  try {
    await makeBackup(
      { database, connection, store, masterKey: original.config.masterKey },
      { file: archive, key: null, onProgress() {} },
    );
  } finally {
    await store.close();
    await database.close();
  }
}

/** Restores the backup into a database of its own; gives its address. */
async function restoreInto(name: string): Promise<string> {
  const { url, drop } = await createTestDatabase({ empty: true });
  endings.push(drop);
  const config = readConfig({ ...env, DATABASE_URL: url, HOLDFAST_DATA_DIR: join(dir, name) });
  const log = { info() {}, warn() {}, error() {} };
  const keys = await readMasterKeys(config.masterKey);
  await restoreBackup({ file: archive, keys, config, log, onProgress() {} });
  return url;
}

async function startRestored(
  url: string,
): Promise<{ call: Call; service: Service; restart(): Promise<Call> }> {
  let service = await startService({ env, databaseUrl: url });
  endings.push(() => service.close());
  const call = () => callerAt(service.url, original.key);
  return {
    call: call(),
    service,
    async restart() {
      await service.close();
      service = await startService({ env, databaseUrl: url });
      return call();
    },
  };
}

test('feed and stream refuse a cursor from before a restore, so that no event is skipped', async () => {
  const atBackup = await feedOf(original.call, 2);
  const backwards = await original.call('GET', `${events}?order=newest&limit=1`);
  await makeEvents(original.call, 2);
  const ahead = await feedOf(original.call, 4);

  const url = await restoreInto('first');
  const { call, service, restart } = await startRestored(url);
  await makeEvents(call, 3);
  const restored = await feedOf(call, 5);
  assert.deepEqual(restored.ids.slice(0, 2), atBackup.ids);
  assert.ok(restored.ids.slice(2).every((id) => !ahead.ids.includes(id)));

  const reason = /restored from a backup .* without a cursor .* order=newest/s;
  for (const old of [ahead.cursor, atBackup.cursor]) {
    assertError(await call('GET', `${events}?cursor=${old}`), 'invalid_cursor', reason);
    assertError(await call('GET', `${streamPath}?cursor=${old}`), 'invalid_cursor', reason);
    const withHeader = await call('GET', streamPath, { headers: { 'last-event-id': old } });
    assertError(withHeader, 'invalid_cursor', reason);
  }
  const older = backwards.headers.get('x-next-cursor');
  assertError(await call('GET', `${events}?order=newest&limit=1&cursor=${older}`), 'invalid_cursor', reason);

  // A stream that is cut off is one of the new feed, and so are its ids.
  const reader = await readEvents(service, '', { key: original.key });
  await waitUntil(() => reader.lastId() !== '');
  reader.close();
  const again = await restart();
  for (const cursor of [restored.cursor, reader.lastId()]) {
    const page = await again('GET', `${events}?cursor=${cursor}`);
    assert.deepEqual([page.status, page.json], [200, []], 'a restart ends no cursor');
  }

  // Nor is a second restore of the same backup the same feed again.
  const generations = [url, await restoreInto('second')].map((connectionString) =>
    withClient({ connectionString }, async (client) => {
      const { rows } = await client.query<{ generation: string }>('select generation from event_feed');
      return rows[0]?.generation;
    }),
  );
  assert.equal(new Set([...(await Promise.all(generations)), '']).size, 3);
});
