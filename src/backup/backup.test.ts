/** What a backup holds, and what a restore of it gives back. */
// tier: process
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  backUp,
  blobs,
  closeBackupFixture,
  config,
  contentOf,
  database,
  dir,
  emptyDatabase,
  makeBlob,
  newEvent,
  openBackupFixture,
  restoreInto,
  schemaOf,
  store,
  tablesOf,
  workspaceId,
} from '../../test/support/fixtures/backup-fixture.ts';
import { withClient } from '../../test/support/service/database.ts';
import { openSilentProxy } from '../../test/support/service/silent-proxy.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { openBlobStore } from '../blobs/open-blob-store.ts';
import { knownMigrations, migrate } from '../db/migrate.ts';
import { insertAll } from '../db/writes.ts';
import { makeBackup } from './backup.ts';
import { verifyArchive } from './verify-archive.ts';

before(openBackupFixture);
after(closeBackupFixture);

test('the archive has every table of the database, even later ones, with all stored columns', async () => {
  await withClient({ connectionString: database.url }, async (client) => {
    await client.query(
      `create table later_things (id bigint generated always as identity, "order" text, twice bigint generated always as (id * 2) stored);
       insert into later_things ("order") values ('a'), (null)`,
    );
  });
  const file = join(dir, 'later.tar');
  const { manifest } = await backUp(file);
  await withClient({ connectionString: database.url }, async (client) => {
    const partitions = manifest.tables.flatMap((table) => table.partitions.map(({ name }) => name));
    const named = [...manifest.tables.map(({ name }) => name), ...partitions, 'schema_migrations'];
    assert.deepEqual(named.sort(), await tablesOf(client));
    await client.query('drop table later_things');
  });
  const later = manifest.tables.find(({ name }) => name === 'later_things');
  assert.deepEqual([later?.columns, later?.rows], [['id', 'order'], 2]);
  assert.ok(manifest.sequences.some(({ name, value }) => name === 'later_things_id_seq' && value === '2'));
  assert.deepEqual((await verifyArchive(file)).manifest, manifest);
});

test('a restore has the same rows, blobs, sequences and schema, and no leader and no sender', async () => {
  const target = await restoreInto('same');
  await target.restore();
  assert.deepEqual(await schemaOf(target.url), await schemaOf(database.url));

  const [there, here] = [await contentOf(target.url), await contentOf(database.url)];
  assert.deepEqual(Object.keys(there), Object.keys(here));
  const changed = [
    ...['leaders', 'webhook_nodes', 'webhook_queue', 'event_feed', 'schema_migrations', 'seal_epoch'],
  ];
  for (const [name, rows] of Object.entries(here)) {
    if (!changed.includes(name)) assert.deepEqual(there[name], rows, name);
  }
  await withClient({ connectionString: target.url }, async (client) => {
    assert.deepEqual((await client.query('select epoch, backend_pid from leaders')).rows, [
      { epoch: '41', backend_pid: null },
    ]);
    assert.equal((await client.query('select 1 from webhook_nodes')).rowCount, 0);
    const queue = await client.query('select claim_id, claimed_by, lease_until from webhook_queue');
    // What was sent is not sent again, and no event made a second delivery when it was loaded.
    assert.equal(queue.rowCount, 19);
    assert.ok(
      queue.rows.every((row) => row.claim_id === null && row.claimed_by === null && row.lease_until === null),
    );
    assert.equal((await client.query('select 1 from webhook_deliveries')).rowCount, 20);
  });

  const restored = await openBlobStore(target.config.blobs);
  for (const { id, content } of blobs) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of restored.get(`${workspaceId}/${id}`)) chunks.push(chunk);
    assert.ok(Buffer.concat(chunks).equals(content));
  }
  assert.ok('file' in target.config.masterKey && 'file' in config.masterKey);
  const keyFile = target.config.masterKey.file;
  assert.equal(await readFile(keyFile, 'utf8'), await readFile(config.masterKey.file, 'utf8'));
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
  await migrate({ connection: { connectionString: target.url } });
});

test('only the owner can read the archive and the key file, and nothing else is left beside them', async () => {
  const place = await mkdtemp(join(dir, 'beside-'));
  const key = { file: join(place, 'a.tar.key'), passphrase: 'Zwölf Boxkämpfer' };
  await backUp(join(place, 'a.tar'), { key });
  assert.deepEqual((await readdir(place)).sort(), ['a.tar', 'a.tar.key']);
  for (const name of await readdir(place)) assert.equal((await stat(join(place, name))).mode & 0o777, 0o600);
  assert.ok('file' in config.masterKey);
  const [, masterKey = ''] = /1:(\S+)/.exec(await readFile(config.masterKey.file, 'utf8')) ?? [];
  for (const name of await readdir(place)) {
    const bytes = await readFile(join(place, name));
    const isInside = bytes.includes(masterKey) || bytes.includes(Buffer.from(masterKey, 'base64'));
    assert.ok(!isInside, `${name} holds the key`);
  }
  await assert.rejects(backUp(join(place, 'a.tar'), { key }), /a\.tar already exists/);
});

test('a backup whose connection goes silent fails, and leaves nothing behind', async (t) => {
  const proxy = await openSilentProxy(database.url);
  t.after(() => proxy.close());
  const place = await mkdtemp(join(dir, 'cut-'));
  const connection = () => ({ connectionString: proxy.url });
  const deps = { database, connection, store, masterKey: config.masterKey, silenceMs: 300 };
  const onProgress = () => proxy.silence();
  const made = makeBackup(deps, { file: join(place, 'a.tar'), key: null, onProgress });
  await assert.rejects(made, /has not answered/);
  assert.deepEqual(await readdir(place), []);
});

test('restores an older backup with its own schema, and then migrates it', async () => {
  const connection = { connectionString: await emptyDatabase() };
  const known = await knownMigrations();
  await migrate({ connection, restoring: { upTo: known.length - 1 } });
  await withClient(connection, (client) =>
    client.query("insert into workspaces (id, name, slug) values ('ws_old', 'Old', 'old')"),
  );
  const deps = { database, connection: () => connection, store, masterKey: config.masterKey };
  const file = join(dir, 'old.tar');
  const make = (archive: string) => makeBackup(deps, { file: archive, key: null, onProgress() {} });
  // Without a key there is nothing to seal it with.
  await assert.rejects(make(file), /no master key yet/);
  const { rows } = await database.pool.query('select version, check_value from master_keys');
  await withClient(connection, (client) =>
    client.query('insert into master_keys (version, check_value) values ($1, $2)', Object.values(rows[0])),
  );
  const { manifest } = await make(file);
  assert.deepEqual(manifest.migrations, known.slice(0, -1));
  const target = await restoreInto('old', file);
  await target.restore();
  await withClient({ connectionString: target.url }, async (client) => {
    const applied = await client.query('select name from schema_migrations order by id');
    assert.deepEqual(
      applied.rows.map(({ name }) => name),
      known,
    );
    assert.deepEqual((await client.query('select id from workspaces')).rows, [{ id: 'ws_old' }]);
  });

  await withClient(connection, (client) => client.query('create table strange (id text)'));
  const odd = join(dir, 'odd.tar');
  await make(odd);
  await assert.rejects(
    (await restoreInto('odd', odd)).restore(),
    /do not result in its tables: strange\(id\)/,
  );
});

/** Where the bytes of each member lie in a tar: after a header of 512 bytes, and filled up to as many. */
test('notes what is erased during the backup, and erases it on restore', async () => {
  const { id } = await makeBlob(Buffer.from('to be forgotten'));
  const lost = await makeBlob(Buffer.from('lost by the store'));
  await database.pool.query(
    `insert into file_versions (workspace_id, file_id, version, vault_id, name, media_type, size, canonicalization, content_hash, blob_id)
     values ($1, 'fil_1', 1, 'vlt_1', 'a', 'text/plain', 15, 'raw', $2, $3)`,
    [workspaceId, randomBytes(32), id],
  );
  const erasing: BlobStore = {
    ...store,
    get(name, range) {
      return (async function* () {
        if (name.endsWith(id)) {
          await database.pool.query('update blobs set erased_at = now() where id = $1', [id]);
          await store.remove(name);
        }
        if (name.endsWith(lost.id)) await store.remove(name);
        yield* store.get(name, range);
      })();
    },
  };
  const file = join(dir, 'erased.tar');
  const { manifest } = await backUp(file, {}, erasing);
  const { count, erased, missing } = manifest.blobs;
  assert.deepEqual({ count, erased, missing }, { count: blobs.length, erased: 1, missing: 1 });

  const target = await restoreInto('erased', file);
  await target.restore();
  await withClient({ connectionString: target.url }, async (client) => {
    const erasedIds = await client.query('select id from blobs where erased_at is not null');
    assert.deepEqual(erasedIds.rows, [{ id }]);
    assert.equal((await client.query('select 1 from secrets where id = $1', [id])).rowCount, 0);
    const versions = await client.query('select erased_at is not null as gone from file_versions');
    assert.deepEqual(versions.rows, [{ gone: true }]);
  });
  await database.pool.query('delete from blobs where id = any ($1)', [[id, lost.id]]);
});

test('the snapshot is of one moment: it has all of a commit or nothing', async () => {
  let isDone = false;
  const writing = (async () => {
    for (let number = 0; !isDone; number += 1) {
      await database.db.transaction().execute(async (db) => {
        await insertAll(db, [newEvent(String(number))]);
        await db
          .insertInto('idempotent_answers')
          .values({
            slot: Buffer.from(`number-${number}`),
            fingerprint: Buffer.alloc(32),
            status: 200,
            body: '{}',
          })
          .execute();
      });
    }
  })();
  const { manifest } = await backUp(join(dir, 'moving.tar'));
  isDone = true;
  await writing;
  const rows = (name: string) => manifest.tables.find((table) => table.name === name)?.rows ?? -1;
  assert.equal(rows('events') - 20, rows('idempotent_answers'));
  assert.equal(rows('events'), rows('webhook_deliveries'));
  const { rows: now } = await database.pool.query('select count(*)::int as count from events');
  assert.ok(now[0].count > rows('events'), 'nothing was written meanwhile');
});
