import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { pack } from 'tar-stream';
import { createTestDatabase, openTestDatabase, withClient } from '../../test/support/service/database.ts';
import { openSilentProxy } from '../../test/support/service/silent-proxy.ts';
import { ensureWorkspace } from '../access/api-keys/first-start.ts';
import { findWorkspace } from '../access/workspaces/workspaces.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { openBlobStore } from '../blobs/open-blob-store.ts';
import { type Config, readConfig } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import { knownMigrations, migrate } from '../db/migrate.ts';
import { insertAll, type Write } from '../db/writes.ts';
import { eventWrite } from '../events/events.ts';
import { type Keyring, openKeyring } from '../keys/keyring.ts';
import { readMasterKeys } from '../keys/master-keys.ts';
import { newId } from '../runtime/ids.ts';
import { keepPartitions } from '../webhooks/deliveries/partitions.ts';
import { type BackupOptions, makeBackup } from './backup.ts';
import { pieceBytes } from './format.ts';
import { restoreBackup } from './restore.ts';
import { verifyArchive } from './verify-archive.ts';

const quiet = { info() {}, warn() {}, error() {} };

let dir: string;
let database: Database & { url: string };
let config: Config;
let store: BlobStore;
let keyring: Keyring;
let workspaceId: string;
let blobs: { id: string; content: Buffer }[];
/** A backup of all data below; tests that change an archive change a copy. */
let archive: string;
const drops: (() => Promise<void>)[] = [];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-backup-'));
  database = await openTestDatabase();
  config = settings(database.url, 'source');
  store = await openBlobStore(config.blobs);
  keyring = await openKeyring({ db: database.db, source: config.masterKey });
  await ensureWorkspace(database.db);
  workspaceId = (await findWorkspace(database.db)).id;
  await keepPartitions(database.db, 90, new Date('2026-03-01T12:00:00Z'));
  await makeEvents();
  blobs = [];
  // Empty, small, and more than one piece.
  for (const size of [0, 10, pieceBytes + 5]) blobs.push(await makeBlob(randomBytes(size)));
  archive = join(dir, 'whole.tar');
  await backUp(archive);
});
after(async () => {
  await keyring.close();
  await store.close();
  await database.close();
  for (const drop of drops) await drop();
  await rm(dir, { recursive: true, force: true });
});

function settings(databaseUrl: string, name: string): Config {
  return readConfig({ DATABASE_URL: databaseUrl, HOLDFAST_DATA_DIR: join(dir, name) });
}

async function makeEvents(): Promise<void> {
  await database.pool.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types)
     values ($1, 'whe_1', 'https://example.com', '{vault.deactivated}')`,
    [workspaceId],
  );
  await insertAll(
    database.db,
    Array.from({ length: 20 }, (_, number) => newEvent(`a\tb\\c\n${number} Größe \u0001`)),
  );
  await database.pool.query(
    `update webhook_queue set claim_id = 'c', claimed_by = 7, lease_until = now() + interval '1 hour';
     insert into webhook_nodes (id) values (7);
     insert into leaders (work, epoch, backend_pid) values ('chain', 41, 12345);
     insert into chain_reorgs (fork_number, old_head) values (1, 2), (3, 4)`,
  );
  await database.pool.query(
    `with one as (delete from webhook_queue where delivery_id = (select min(delivery_id) from webhook_queue) returning *)
     update webhook_deliveries d set status = 'succeeded' from one where d.id = one.delivery_id`,
  );
}

function newEvent(text: string): Write {
  const data = { vault_id: 'vlt_1', address: text, deactivated_at: '2026-11-15T00:00:00.000Z' };
  return eventWrite({ workspaceId, type: 'vault.deactivated', at: new Date(), data });
}

async function makeBlob(content: Buffer): Promise<{ id: string; content: Buffer }> {
  const id = newId('blb');
  await store.put(`${workspaceId}/${id}`, one(content));
  await database.pool.query(
    `insert into blobs (workspace_id, id, vault_id, content_hash, size) values ($1, $2, 'vlt_1', $3, $4)`,
    [workspaceId, id, randomBytes(32), content.length],
  );
  await insertAll(database.db, [keyring.seal({ workspaceId, purpose: 'blob', id }, randomBytes(32))]);
  return { id, content };
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function backUp(file: string, options: Partial<BackupOptions> = {}, from: BlobStore = store) {
  return makeBackup(
    {
      database,
      connection: () => ({ connectionString: database.url }),
      store: from,
      masterKey: config.masterKey,
    },
    // Without a key file, which takes half a second to seal, unless the test is about it.
    { file, key: null, onProgress() {}, ...options },
  );
}

async function emptyDatabase(): Promise<string> {
  const { url, drop } = await createTestDatabase({ empty: true });
  drops.push(drop);
  return url;
}

/** Restores into an empty database and a data directory that does not exist yet, with the keys of the source. */
async function restoreInto(name: string, file = archive, into = emptyDatabase()) {
  const url = await into;
  const target = settings(url, name);
  const restore = async (more: object = {}) =>
    restoreBackup({
      file,
      keys: await readMasterKeys(config.masterKey),
      config: target,
      log: quiet,
      onProgress() {},
      ...more,
    });
  return { url, config: target, restore };
}

/** All tables, queried in a different way than the backup does. */
async function tablesOf(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema') order by 1",
  );
  return rows.map(({ name }) => name);
}

/** All rows of all tables, as text, in text order; and the state of each sequence. */
function contentOf(url: string): Promise<Record<string, string[]>> {
  return withClient({ connectionString: url }, async (client) => {
    const sequences = await client.query<{ row: string }>(
      `select s::text as row from (
         select sequencename, last_value from pg_sequences where sequencename <> 'schema_migrations_id_seq'
       ) s order by 1`,
    );
    const content: Record<string, string[]> = { sequences: sequences.rows.map(({ row }) => row) };
    for (const name of await tablesOf(client)) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from "${name}" t order by 1`,
      );
      content[name] = rows.map(({ row }) => row);
    }
    return content;
  });
}

/** The definition of the schema, as PostgreSQL prints it. */
function schemaOf(url: string): Promise<unknown> {
  return withClient({ connectionString: url }, async (client) => {
    const { rows } = await client.query(`
      select 'constraint' as kind, conrelid::regclass::text as place, conname as name, pg_get_constraintdef(oid) || convalidated as text
      from pg_constraint where connamespace = 'public'::regnamespace
      union all select 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) || tgenabled::text
      from pg_trigger where not tgisinternal
      union all select 'index', indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
      from pg_index join pg_class c on c.oid = indrelid where c.relnamespace = 'public'::regnamespace
      union all select 'partition', inhparent::regclass::text, relname, pg_get_expr(relpartbound, c.oid) || coalesce(reloptions::text, '')
      from pg_inherits join pg_class c on c.oid = inhrelid where relkind = 'r'
      order by 1, 2, 3`);
    return rows;
  });
}

test('every table of the database is in the archive, also one that came later, with the columns that are stored', async () => {
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

test('restored, all rows, blobs, sequences and the whole schema are the same, and nobody there leads or sends', async () => {
  const target = await restoreInto('same');
  await target.restore();
  assert.deepEqual(await schemaOf(target.url), await schemaOf(database.url));

  const [there, here] = [await contentOf(target.url), await contentOf(database.url)];
  assert.deepEqual(Object.keys(there), Object.keys(here));
  for (const [name, rows] of Object.entries(here)) {
    if (!['leaders', 'webhook_nodes', 'webhook_queue', 'event_feed', 'schema_migrations'].includes(name))
      assert.deepEqual(there[name], rows, name);
  }
  await withClient({ connectionString: target.url }, async (client) => {
    assert.deepEqual((await client.query('select epoch, backend_pid from leaders')).rows, [
      { epoch: '41', backend_pid: null },
    ]);
    assert.equal((await client.query('select 1 from webhook_nodes')).rowCount, 0);
    const queue = await client.query('select claim_id, claimed_by, lease_until from webhook_queue');
    // Sent deliveries are not sent again, and loading an event did not create a second delivery.
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

test('archive and key file are only for their owner, and nothing else is left beside them', async () => {
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

test('a backup whose connection is cut without a word fails, and leaves nothing behind', async (t) => {
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

test('an older backup is restored with the schema of its time, and then brought up to date', async () => {
  const connection = { connectionString: await emptyDatabase() };
  const known = await knownMigrations();
  await migrate({ connection, restoring: { upTo: known.length - 1 } });
  await withClient(connection, (client) =>
    client.query("insert into workspaces (id, name, slug) values ('ws_old', 'Old', 'old')"),
  );
  const deps = { database, connection: () => connection, store, masterKey: config.masterKey };
  const file = join(dir, 'old.tar');
  const make = (archive: string) => makeBackup(deps, { file: archive, key: null, onProgress() {} });
  // Without a key there is nothing to seal the manifest with.
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

/** The byte range of each member in a tar: after a header of 512 bytes, and padded to a multiple of 512. */
function membersOf(tar: Buffer): { name: string; start: number; end: number }[] {
  const members = [];
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
    members.push({ name, start: at + 512, end: at + 512 + size });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return members;
}

describe('refused, and nothing is written', () => {
  /** Shared by all these tests, since nothing is written to it. */
  let untouched: Promise<string> | null = null;
  async function refused(file: string, expected: RegExp, more: object = {}): Promise<void> {
    untouched ??= emptyDatabase();
    const target = await restoreInto(`refused-${randomBytes(4).toString('hex')}`, file, untouched);
    await assert.rejects(target.restore(more), expected);
    assert.deepEqual(await withClient({ connectionString: target.url }, tablesOf), []);
    assert.ok(!existsSync(target.config.dataDir), 'the data directory was made');
  }

  async function copyOf(name: string): Promise<string> {
    const file = join(dir, name);
    await writeFile(file, await readFile(archive));
    return file;
  }

  test('an archive with one byte changed, wherever it is', async () => {
    const file = await copyOf('changed.tar');
    const handle = await open(file, 'r+');
    const flip = async (at: number) => {
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
      await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, at);
    };
    const members = membersOf(await readFile(archive));
    const tables = members.filter(({ name }) => name.startsWith('tables/'));
    const pieces = members.filter(({ name }) => name.startsWith('blobs/'));
    const lists = members.filter(({ name }) => name.startsWith('lists/'));
    const [firstTable, lastTable, large, list] = [tables[0], tables.at(-1), pieces.at(-2), lists[0]];
    assert.ok(firstTable && lastTable && large && list && large.end - large.start === pieceBytes);
    // The padding between members has no meaning.
    for (const [what, at] of Object.entries({
      'the name of a member': firstTable.start - 512,
      'the first table': (firstTable.start + firstTable.end) >> 1,
      'the last table': lastTable.end - 1,
      'the start of a blob': large.start,
      'the end of a piece': large.end - 1,
      'the list of blobs': list.start + 20,
    })) {
      await flip(at);
      await assert.rejects(verifyArchive(file), /damaged/, what);
      await flip(at);
    }
    await verifyArchive(file);
    await flip((large.start + large.end) >> 1);
    await handle.close();
    await refused(file, /damaged or cut off: the blob .* does not have the bytes/);
  });

  test('an archive that is cut off, wherever it is', async () => {
    const { size } = await stat(archive);
    for (const part of [0.5, 0.99]) {
      const file = await copyOf('cut.tar');
      await truncate(file, Math.floor(size * part));
      await refused(file, /damaged or cut off/);
    }
    const file = await copyOf('cut.tar');
    await truncate(file, 0);
    await refused(file, /is not a Holdfast backup/);
  });

  test('something else', async () => {
    const file = join(dir, 'else.tar');
    await writeFile(file, randomBytes(5000));
    await refused(file, /is not a Holdfast backup/);
    await refused(join(dir, 'not-there.tar'), /cannot be read/);
    const tar = pack();
    tar.entry({ name: 'format.json' }, JSON.stringify({ format: 'holdfast/backup@9' }));
    tar.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of tar) chunks.push(chunk as Buffer);
    await writeFile(file, Buffer.concat(chunks));
    await refused(file, /format "holdfast\/backup@9", but this version reads only holdfast\/backup@1/);
  });

  test('an archive without its key, with another key, and one that somebody wrote anew', async () => {
    await refused(archive, /cannot be restored without its master key/, { keys: null });
    const byVersion = new Map([[1, randomBytes(32)]]);
    await refused(archive, /does not match this backup, or somebody changed the archive/, {
      keys: { current: 1, byVersion },
    });
    await refused(archive, /needs master key version 1/, {
      keys: { current: 2, byVersion: new Map([[2, randomBytes(32)]]) },
    });
    // An attacker who changes a table can adapt the manifest, but not its seal.
    const forged = await copyOf('forged.tar');
    const bytes = await readFile(forged);
    const at = bytes.lastIndexOf('"createdAt": "2');
    bytes.write('"createdAt": "1', at);
    await writeFile(forged, bytes);
    await verifyArchive(forged);
    await refused(forged, /somebody changed the archive/);
    // Nor can the seal be left out, whatever the manifest says about keys.
    const stripped = await copyOf('stripped.tar');
    const whole = await readFile(stripped);
    const seal = membersOf(whole).find(({ name }) => name === 'manifest.seal.json') ?? assert.fail();
    const unsealed = Buffer.concat([whole.subarray(0, seal.start - 512), Buffer.alloc(1024)]);
    await writeFile(stripped, unsealed);
    await refused(stripped, /manifest has no seal/);
    const keys = /"masterKeys": \[\s*1\s*\]/.exec(unsealed.toString('latin1')) ?? assert.fail();
    unsealed.write(keys[0].replace('1', ' '), keys.index, 'latin1');
    await writeFile(stripped, unsealed);
    await refused(stripped, /does not have the expected structure/);
  });

  test('an archive of a newer schema', async () => {
    await database.pool.query("insert into schema_migrations (name, run_on) values ('9999_future', now())");
    const file = join(dir, 'newer.tar');
    try {
      await backUp(file);
    } finally {
      await database.pool.query("delete from schema_migrations where name = '9999_future'");
    }
    await refused(file, /made by a newer Holdfast .* 9999_future/);
  });
});

test('a place that holds anything is refused and left as it is', async () => {
  const target = await restoreInto('used');
  await withClient({ connectionString: target.url }, (client) => client.query('create table mine (id text)'));
  await assert.rejects(target.restore(), /The database of DATABASE_URL is not empty \(it has 1 tables\)/);
  await withClient({ connectionString: target.url }, async (client) => {
    assert.deepEqual(await tablesOf(client), ['mine']);
    await client.query('drop table mine');
  });
  await mkdir(target.config.dataDir);
  await writeFile(join(target.config.dataDir, 'master.key'), 'mine');
  await assert.rejects(target.restore(), /The data directory .* is not empty \(it has master\.key\)/);
  assert.equal(await readFile(join(target.config.dataDir, 'master.key'), 'utf8'), 'mine');

  await rm(join(target.config.dataDir, 'master.key'));
  const there = await openBlobStore(target.config.blobs);
  await there.put('ws_1/blb_1', one(Buffer.from('mine')));
  await assert.rejects(target.restore(), /is not empty \(it has blobs\)/);
});

for (const fixture of ['database', 'blobs'] as const) {
  test(`a restore that ends in the middle of its ${fixture} lets no service start, and is run again`, async () => {
    const target = await restoreInto(`stopped-${fixture}`);
    const stopping = new AbortController();
    const onProgress = (at: string) => {
      if (at === fixture) stopping.abort(new Error('pulled the plug'));
    };
    await assert.rejects(target.restore({ signal: stopping.signal, onProgress }), /pulled the plug/);
    const connection = { connectionString: target.url };
    await assert.rejects(migrate({ connection }), /A restore into this database has not finished/);
    const left = await openBlobStore(target.config.blobs);
    await left.put('ws_1/blb_leftover', one(Buffer.from('of the try before')));

    await target.restore();
    await migrate({ connection });
    const names: string[] = [];
    for await (const { name } of left.list()) names.push(name);
    assert.deepEqual(names.sort(), blobs.map(({ id }) => `${workspaceId}/${id}`).sort());
    const eventsOf = (url: string) =>
      withClient({ connectionString: url }, async (client) => {
        return (await client.query('select * from events order by id')).rows;
      });
    assert.deepEqual(await eventsOf(target.url), await eventsOf(database.url));
  });
}

test('what is erased while the backup runs is noted, and erased where it is restored', async () => {
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

test('the snapshot is of one moment: what is committed together is in it together', async () => {
  let isDone = false;
  const writing = (async () => {
    for (let number = 0; !isDone; number += 1) {
      await database.db.transaction().execute(async (db) => {
        await insertAll(db, [newEvent(String(number))]);
        await db
          .insertInto('idempotent_answers')
          .values({
            workspace_id: workspaceId,
            method: 'POST',
            path: '/',
            key: `number-${number}`,
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
