/** The check of blobs where all is right, and with one thing broken at a time, on disk and in the database. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { createWorkspace } from '../../src/access/workspaces/workspaces.ts';
import { type BlobStore, StoreFailed } from '../../src/blobs/blob-store.ts';
import { type BlobsCheckDeps, blobsCheck } from '../../src/blobs/blobs.check.ts';
import { createBlobs } from '../../src/blobs/blobs.ts';
import { openDiskStore } from '../../src/blobs/disk-store.ts';
import type { Db } from '../../src/db/database.ts';
import { type Keyring, openKeyring } from '../../src/keys/keyring.ts';
import { type CheckReport, type Finding, runEach } from '../../src/runtime/check.ts';
import { newId } from '../../src/runtime/ids.ts';
import { storeBlobs } from '../support/fixtures/blob-rows.ts';
import { openTestDatabase } from '../support/service/database.ts';

let dir: string;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let keyring: Keyring;
let store: BlobStore;
let workspaceId: string;
let small: string;
let large: string;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-fsck-blobs-'));
  database = await openTestDatabase();
  const { db } = database;
  keyring = await openKeyring({ db, source: { file: join(dir, 'master.key'), generated: true } });
  store = await openDiskStore(join(dir, 'blobs'));
  ({ id: workspaceId } = await createWorkspace(db, { name: 'Checked' }));
  [small, large] = await storeBlobs({ db, keyring, store }, workspaceId);
});
after(async () => {
  await keyring?.close();
  await database?.close();
  await rm(dir, { recursive: true, force: true });
});

async function check(deps: Partial<BlobsCheckDeps> = {}): Promise<CheckReport> {
  const given = { db: database.db, keyring: async () => keyring, blobStore: async () => store, ...deps };
  const [report] = await runEach([blobsCheck(given)], { settleMs: 0 });
  return report as CheckReport;
}

async function findings(deps: Partial<BlobsCheckDeps> = {}): Promise<Finding[]> {
  const report = await check(deps);
  assert.deepEqual(report.skipped, []);
  return report.findings;
}

function rulesOf(found: Finding[]): string[] {
  return found.map(({ rule, ids }) => `${rule} ${ids.id ?? ids.name}`).sort();
}

const pathOf = (name: string) => join(dir, 'blobs', name);

/** Breaks the stored bytes of a blob, looks, and puts them back. */
async function withBytes(blobId: string, break_: (path: string) => Promise<unknown>): Promise<string[]> {
  const path = pathOf(`${workspaceId}/${blobId}`);
  const right = await readFile(path);
  await break_(path);
  const found = await findings();
  await writeFile(path, right);
  return rulesOf(found);
}

/** Breaks something in the database, looks, and takes it back. */
async function withRows(break_: (db: Db) => Promise<unknown>): Promise<string[]> {
  const takeBack = new Error('taken back');
  let found: Finding[] = [];
  await database.db
    .transaction()
    .execute(async (db) => {
      await break_(db);
      // The keyring reads where the change is.
      const inside = { open: (ref: Parameters<Keyring['open']>[0]) => keyring.open(ref, db) };
      found = await findings({ db, keyring: async () => inside });
      throw takeBack;
    })
    .catch((error) => {
      if (error !== takeBack) throw error;
    });
  return rulesOf(found);
}

async function putOld(name: string): Promise<void> {
  await mkdir(dirname(pathOf(name)), { recursive: true });
  await writeFile(pathOf(name), 'x');
  const old = new Date(Date.now() - 27 * 60 * 60 * 1000);
  await utimes(pathOf(name), old, old);
}

test('finds nothing in correct data, and checks rows and objects', async () => {
  const { findings, skipped, checked } = await check();
  assert.deepEqual({ findings, skipped, checked }, { findings: [], skipped: [], checked: 4 });
});

test('reports changed, truncated or extended bytes as damaged', async () => {
  const damaged = [`blob_damaged ${large}`];
  const flip = async (path: string) => {
    const bytes = await readFile(path);
    bytes.writeUInt8(bytes.readUInt8(150_000) ^ 1, 150_000);
    await writeFile(path, bytes);
  };
  assert.deepEqual(await withBytes(large, flip), damaged);
  assert.deepEqual(await withBytes(large, (path) => truncate(path, 128 * 1024 + 16)), damaged);
  assert.deepEqual(await withBytes(large, (path) => writeFile(path, 'x', { flag: 'a' })), damaged);
});

test('reports removed bytes as missing', async () => {
  assert.deepEqual(await withBytes(small, (path) => rm(path)), [`blob_missing ${small}`]);
});

test('reports bytes with another digest than in the row as damaged', async () => {
  const other = (db: Db) => sql`update blobs set content_hash = sha256('x') where id = ${small}`.execute(db);
  assert.deepEqual(await withRows(other), [`blob_damaged ${small}`]);
});

test('reports a key that is missing or does not open', async () => {
  const gone = (db: Db) => sql`delete from secrets where id = ${small}`.execute(db);
  assert.deepEqual(await withRows(gone), [`blob_key_missing ${small}`]);
  const moved = (db: Db) =>
    sql`update secrets set ciphertext = (select ciphertext from secrets where id = ${large}) where id = ${small}`.execute(
      db,
    );
  assert.deepEqual(await withRows(moved), [`blob_key_unusable ${small}`]);
});

test('reports a key that outlived its blob, but not a blob that was erased properly', async () => {
  const kept = (db: Db) => sql`update blobs set erased_at = now() where id = ${small}`.execute(db);
  assert.deepEqual(await withRows(kept), [`blob_key_kept ${small}`]);
  const blobs = createBlobs({ db: database.db, keyring, store });
  const erase = (db: Db) => blobs.erase(db, { workspaceId, blobId: small }, async () => false);
  assert.deepEqual(await withRows(erase), []);
});

test('reports objects that no blob needs once the sweep should have removed them', async () => {
  const young = `${workspaceId}/${newId('blb')}`;
  await writeFile(pathOf(young), 'x');
  const [orphan, foreign, stray] = [
    `${workspaceId}/${newId('blb')}`,
    `ws_elsewhere/${newId('blb')}`,
    'notes.txt',
  ];
  for (const name of [orphan, foreign, stray]) await putOld(name);
  assert.deepEqual(
    rulesOf(await findings()),
    [`object_without_blob ${orphan}`, `object_foreign ${foreign}`, `object_foreign ${stray}`].sort(),
  );
  for (const name of [young, orphan, foreign, stray]) await rm(pathOf(name));
});

test('does not report an object that disappears between the two looks', async () => {
  const name = `${workspaceId}/${newId('blb')}`;
  await putOld(name);
  const vanishing: BlobStore = {
    ...store,
    async *list() {
      yield* store.list();
      await rm(pathOf(name), { force: true });
    },
  };
  assert.deepEqual(await findings({ blobStore: async () => vanishing }), []);
});

test('reports a store that does not answer as not checked, never as passed', async () => {
  const away = pathOf('');
  await rename(away, join(dir, 'moved'));
  // Like a volume that is not mounted: all bytes are missing, and told so.
  assert.deepEqual(rulesOf(await findings()), [`blob_missing ${small}`, `blob_missing ${large}`].sort());
  await rename(join(dir, 'moved'), away);
  const { skipped } = await check({
    blobStore: async () => {
      throw new StoreFailed('answer', new Error('refused'));
    },
  });
  assert.deepEqual(
    skipped.map(({ what }) => what),
    ['blobs', 'objects of the blob store'],
  );
});
