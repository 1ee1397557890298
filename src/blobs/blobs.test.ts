/** Blobs on a real database and a real directory: stored once, read in ranges, erased for good, nothing left behind. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../test/support/service/database.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { createWorkspace } from '../access/workspaces/workspaces.ts';
import type { Db } from '../db/database.ts';
import { type Keyring, openKeyring } from '../keys/keyring.ts';
import { AppError } from '../runtime/errors.ts';
import { newId } from '../runtime/ids.ts';
import { type BlobStore, StoreFailed } from './blob-store.ts';
import { type Blobs, createBlobs } from './blobs.ts';
import { BlobDamaged } from './cipher.ts';
import { digestOf } from './digest.ts';
import { openDiskStore } from './disk-store.ts';
import { createSweep } from './sweep.ts';

let dir: string;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let db: Db;
let keyring: Keyring;
let store: BlobStore;
let blobs: Blobs;
let workspaceId: string;
const vaultId = newId('vlt');
const roomy = { maxBytes: 1 << 30 };
const needed = async () => true;
const unneeded = async () => false;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-blobs-'));
  database = await openTestDatabase();
  ({ db } = database);
  keyring = await openKeyring({ db, source: { file: join(dir, 'master.key'), generated: true } });
  store = await openDiskStore(join(dir, 'blobs'));
  blobs = createBlobs({ db, keyring, store });
  ({ id: workspaceId } = await createWorkspace(db, { name: 'Blobs' }));
});
after(async () => {
  await keyring?.close();
  await database?.close();
  await rm(dir, { recursive: true, force: true });
});

test('stored content reads back whole and in any range, and is encrypted in the store', async () => {
  const content = Buffer.from('a sentence that nobody else may read '.repeat(20_000));
  const received = await blobs.receive(workspaceId, pieces(content), roomy);
  assert.equal(received.size, content.length);
  assert.deepEqual(received.contentHash, createHash('sha256').update(content).digest());
  const ref = { ...(await attach(received)), size: content.length };
  await received.settle('committed');
  assert.ok((await gather(await blobs.read(ref))).equals(content));
  const range = { start: 131_070, end: 400_001 };
  assert.ok((await gather(await blobs.read(ref, range))).equals(content.subarray(range.start, range.end)));
  const stored = await readFile(join(dir, 'blobs', workspaceId, ref.blobId));
  assert.equal(stored.indexOf('nobody else'), -1);
});

test('a large file takes little memory', async () => {
  const pieceBytes = 65_536;
  const fileBytes = 128 << 20;
  const before = process.memoryUsage().arrayBuffers;
  let mostBytes = 0;
  async function* fresh() {
    for (let sent = 0; sent < fileBytes; sent += pieceBytes) {
      mostBytes = Math.max(mostBytes, process.memoryUsage().arrayBuffers - before);
      yield Buffer.allocUnsafeSlow(pieceBytes);
    }
  }
  const received = await blobs.receive(workspaceId, fresh(), { ...roomy, givenAway: true });
  assert.equal(received.size, fileBytes);
  await received.settle('failed');
  // With garbage collection alone, it would be several times as much.
  assert.ok(mostBytes < 16 << 20, `${mostBytes} bytes at once`);
});

test('50 concurrent uploads of the same bytes store one blob for each vault', async () => {
  const content = randomBytes(300_000);
  const attached = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const received = await blobs.receive(workspaceId, pieces(content), roomy);
      const { blobId } = await attach(received);
      await received.settle('committed');
      return blobId;
    }),
  );
  const [blobId = ''] = attached;
  assert.equal(new Set(attached).size, 1);
  const hash = createHash('sha256').update(content).digest();
  const rows = await db.selectFrom('blobs').select('id').where('content_hash', '=', hash).execute();
  assert.deepEqual(rows, [{ id: blobId }]);
  const other = await blobs.receive(workspaceId, pieces(content), roomy);
  const elsewhere = await attach(other, newId('vlt'));
  await other.settle('committed');
  assert.notEqual(elsewhere.blobId, blobId);
  assert.deepEqual(await objectsWithoutRow(), []);
});

test('refuses an upload as soon as it exceeds the limit, and leaves nothing', async () => {
  let given = 0;
  async function* endless() {
    for (;;) {
      given += 1 << 16;
      // A limit in case nothing refuses the upload: it would fill the disk.
      if (given > 10_000_000) throw new Error('nobody stops it');
      yield Buffer.alloc(1 << 16);
    }
  }
  await assert.rejects(
    blobs.receive(workspaceId, endless(), { maxBytes: 1_000_000 }),
    isCode('payload_too_large'),
  );
  assert.ok(given < 1_200_000);
  await assert.rejects(digestOf(endless(), { maxBytes: 1_000_000 }), isCode('payload_too_large'));
  assert.deepEqual(await objectsWithoutRow(), []);
});

test('reports a failure of the store as 503, and rethrows errors of the source', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const failing: BlobStore = {
    ...store,
    async put() {
      throw new StoreFailed('write', full);
    },
    get: () => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          throw new StoreFailed('read', full);
        },
      }),
    }),
  };
  const unlucky = createBlobs({ db, keyring, store: failing });
  await assert.rejects(unlucky.receive(workspaceId, pieces(randomBytes(10)), roomy), (error) => {
    assert.ok(error instanceof AppError && error.code === 'service_unavailable');
    assert.equal(error.retryAfterSeconds, 5);
    assert.doesNotMatch(error.message, /device/);
    return true;
  });
  const ref = { ...(await keep(randomBytes(10))), size: 10 };
  await assert.rejects(unlucky.read(ref), isCode('service_unavailable'));
  const cut = new Error('the client went away');
  async function* failingSource() {
    yield randomBytes(10);
    throw cut;
  }
  await assert.rejects(blobs.receive(workspaceId, failingSource(), roomy), (error) => error === cut);
  assert.deepEqual(await objectsWithoutRow(), []);
});

test('a failed transaction leaves neither row nor object', async () => {
  const received = await blobs.receive(workspaceId, pieces(randomBytes(1000)), roomy);
  const refused = new Error('refused');
  await assert.rejects(
    db.transaction().execute(async (db) => {
      await received.attach(db, vaultId);
      throw refused;
    }),
    (error) => error === refused,
  );
  assert.equal((await objectsWithoutRow()).length, 1);
  await received.settle('failed');
  assert.deepEqual(await objectsWithoutRow(), []);
});

test('a commit whose reply was lost keeps its object, even while it is still in progress', async () => {
  const received = await blobs.receive(workspaceId, pieces(randomBytes(1000)), roomy);
  const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>();
  const { promise: attached, resolve: tellAttached } = Promise.withResolvers<string>();
  const committing = db.transaction().execute(async (db) => {
    tellAttached((await received.attach(db, vaultId)).blobId);
    await mayCommit;
  });
  const blobId = await attached;
  const settling = received.settle('failed');
  // It waits for the transaction that may still commit.
  await somethingWaits();
  letCommit();
  await committing;
  await settling;
  assert.equal((await gather(await blobs.read({ workspaceId, blobId, size: 1000 }))).length, 1000);
});

test('erasing removes the key once nothing needs the blob, and the same bytes can be stored again', async () => {
  const content = randomBytes(5000);
  const ref = await keep(content);
  assert.equal(await db.transaction().execute((db) => blobs.erase(db, ref, needed)), null);
  assert.ok((await gather(await blobs.read({ ...ref, size: 5000 }))).equals(content));

  const erased = await db.transaction().execute((db) => blobs.erase(db, ref, unneeded));
  await erased?.settle();
  await assert.rejects(blobs.read({ ...ref, size: 5000 }), isCode('resource_not_found'));
  assert.equal((await names()).includes(`${workspaceId}/${ref.blobId}`), false);
  const secrets = await db.selectFrom('secrets').select('id').where('id', '=', ref.blobId).execute();
  assert.deepEqual(secrets, []);
  assert.equal(await db.transaction().execute((db) => blobs.erase(db, ref, unneeded)), null);

  const again = await keep(content);
  assert.notEqual(again.blobId, ref.blobId);
  assert.ok((await gather(await blobs.read({ ...again, size: 5000 }))).equals(content));
});

test('an erasure that is rolled back removes nothing', async () => {
  const ref = await keep(randomBytes(100));
  let settle = async () => {};
  await assert.rejects(
    db.transaction().execute(async (db) => {
      const erased = await blobs.erase(db, ref, unneeded);
      settle = erased?.settle ?? settle;
      throw new Error('rolled back');
    }),
  );
  await settle();
  assert.equal((await gather(await blobs.read({ ...ref, size: 100 }))).length, 100);
});

test('an upload that shares a blob prevents a concurrent erasure of it', async () => {
  const content = randomBytes(100);
  const ref = await keep(content);
  const received = await blobs.receive(workspaceId, pieces(content), roomy);
  const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>();
  const { promise: attached, resolve: tellAttached } = Promise.withResolvers<void>();
  let files = 0;
  const uploading = db.transaction().execute(async (db) => {
    assert.deepEqual(await received.attach(db, vaultId), { blobId: ref.blobId });
    tellAttached();
    await mayCommit;
    files += 1;
  });
  await attached;
  const erasing = db.transaction().execute((db) => blobs.erase(db, ref, async () => files > 0));
  await somethingWaits();
  letCommit();
  await uploading;
  assert.equal(await erasing, null);
  await received.settle('committed');
});

test('never returns damaged bytes', async () => {
  const ref = { ...(await keep(randomBytes(200_000))), size: 200_000 };
  const path = join(dir, 'blobs', workspaceId, ref.blobId);
  const stored = await readFile(path);
  stored.writeUInt8(stored.readUInt8(150_000) ^ 1, 150_000);
  await writeFile(path, stored);
  await assert.rejects(gather(await blobs.read(ref)), BlobDamaged);
  assert.equal((await gather(await blobs.read(ref, { start: 0, end: 1000 }))).length, 1000);
});

test('the sweep removes only old objects without a row and those of erased blobs', async () => {
  const kept = await keep(randomBytes(100));
  const gone = await keep(randomBytes(100));
  await db.transaction().execute((db) => blobs.erase(db, gone, unneeded));
  const young = await blobs.receive(workspaceId, pieces(randomBytes(100)), roomy);
  const old = `${workspaceId}/${newId('blb')}`;
  const foreign = `ws_of_another_database/${newId('blb')}`;
  for (const name of [old, foreign]) await store.put(name, pieces(randomBytes(10)));
  const before = await names();
  const now = new Date();
  const yesterday = new Date(now.getTime() - 25 * 60 * 60 * 1000);
  for (const name of before) {
    const at = [old, foreign, `${workspaceId}/${kept.blobId}`].includes(name) ? yesterday : now;
    await utimes(join(dir, 'blobs', name), at, at);
  }
  assert.equal(await createSweep({ db, store }).step(), false);
  const after = new Set(await names());
  assert.deepEqual(
    before.filter((name) => !after.has(name)).sort(),
    [old, `${workspaceId}/${gone.blobId}`].sort(),
  );
  await young.settle('failed');
  await store.remove(foreign);
});

async function attach(received: Awaited<ReturnType<Blobs['receive']>>, vault = vaultId) {
  return { workspaceId, ...(await db.transaction().execute((db) => received.attach(db, vault))) };
}

async function keep(content: Buffer) {
  const received = await blobs.receive(workspaceId, pieces(content), roomy);
  const ref = await attach(received);
  await received.settle('committed');
  return ref;
}

async function names(): Promise<string[]> {
  const entries = await readdir(join(dir, 'blobs'), { recursive: true });
  return entries.filter((entry) => entry.includes('/'));
}

async function objectsWithoutRow(): Promise<string[]> {
  const rows = await db.selectFrom('blobs').select(['workspace_id', 'id']).execute();
  const known = new Set(rows.map(({ workspace_id, id }) => `${workspace_id}/${id}`));
  return (await names()).filter((name) => !known.has(name));
}

/** Waits until a session waits for a lock of another transaction. */
async function somethingWaits(): Promise<void> {
  await waitUntil(async () => {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    );
    return rows.length > 0;
  });
}

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}

async function* pieces(bytes: Buffer) {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

async function gather(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of bytes) all.push(piece);
  return Buffer.concat(all);
}
