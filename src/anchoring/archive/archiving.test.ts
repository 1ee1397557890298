/** Moving records into files: several at a time, never more than was read back, and never what changed meanwhile. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { operatorIn } from '../../access/workspaces/workspaces.ts';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { createBlobs } from '../../blobs/blobs.ts';
import { openDiskStore } from '../../blobs/disk-store.ts';
import type { Database } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { firstVersion, nextVersion, recordContent } from '../../holdings/records/record-content.ts';
import { openKeyring } from '../../keys/keyring.ts';
import { createArchive } from './archive.ts';
import { archiveRecords } from './archiving.ts';

const workspaceId = 'ws_1';
const vault = { id: 'vlt_1', address: `0x${'1'.padStart(40, '0')}` };
const stack = new AsyncDisposableStack();
let database: Database;
let store: BlobStore;
let blobs: ReturnType<typeof createBlobs>;
let made = 0;

beforeEach(async () => {
  const opened = await openTestDatabase();
  stack.defer(() => opened.close());
  database = opened;
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-archiving-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const source = { file: join(dir, 'master.key'), generated: true };
  const keyring = await openKeyring({ db: database.db, source });
  stack.defer(() => keyring.close());
  store = await openDiskStore(join(dir, 'blobs'));
  blobs = createBlobs({ db: database.db, keyring, store });
  await database.pool.query(`insert into workspaces (id, name, slug) values ('${workspaceId}', 'a', 'a')`);
  await database.pool.query(
    `insert into vaults (workspace_id, id, name, description, address)
     values ('${workspaceId}', '${vault.id}', '', '', '${vault.address}')`,
  );
});
after(() => stack.disposeAsync());

/** Records with one version each. */
async function addRecords(count: number): Promise<string[]> {
  const versions = Array.from({ length: count }, (_, n) =>
    firstVersion({ workspaceId, vault, externalId: `${n}`, content: recordContent({ n }, 'data') }),
  );
  await insertAll(
    database.db,
    versions.map(({ write }) => write),
  );
  await makeFinal();
  return versions.map(({ record }) => record.id);
}

/** Puts all leaves that are in no batch into one that is final and announced. */
async function makeFinal(): Promise<void> {
  made += 1;
  await database.pool.query(
    `with account as (
       insert into sender_accounts (address, next_nonce) values (substr(sha256($1::text::bytea), 1, 20), 1) returning address
     ), sent as (
       insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
       select address, 0, 'anchor', address, '', 1 from account returning id
     ), made as (
       insert into anchor_batches (root, size, announced, outgoing_id, status, transaction_hash, block_number, block_hash,
         block_time, evidence_root, head_path)
       select sha256($1::text::bytea), 1000, 1000, id, 'finalized', sha256('tx'), 7, sha256('block'), 1800000000, sha256('e'), ''
       from sent returning id
     )
     insert into anchor_places (first_id, batch_id, places)
     select l.id, made.id, array[(row_number() over (order by l.id))::integer - 1] from made, placed_leaves l
     where l.batch_id is null`,
    [`batch ${made}`],
  );
}

async function run(options: { recordsPerFile?: number; atOnce?: number } = {}, read = blobs.read) {
  const deps = { db: database.db, blobs: { ...blobs, read }, callerIn: operatorIn, ...options };
  return archiveRecords(deps, { before: new Date() });
}

async function counts() {
  const { rows } = await sql<{ here: number; archived: number; files: number; entries: number }>`
    select (select count(*) from anchor_leaves)::int as here, (select count(*) from archived_records)::int as archived,
      (select count(*) from archive_files)::int as files,
      (select count(*) from audit_entries where action = 'record.archive')::int as entries`.execute(
    database.db,
  );
  return rows[0];
}

test('moves all records, into as many files as they need', async () => {
  await addRecords(450);
  const done = await run({ recordsPerFile: 100, atOnce: 60 });
  assert.deepEqual([done.records, done.versions, done.files, done.left], [450, 450, 3, 0]);
  assert.deepEqual(await counts(), { here: 0, archived: 450, files: 3, entries: 4 + 4 + 1 });
  assert.deepEqual((await run()).records, 0);
});

test('removes nothing when the file does not read as it was written', async () => {
  await addRecords(3);
  const cut: typeof blobs.read = async (ref) => blobs.read(ref, { start: 0, end: ref.size - 1 });
  await assert.rejects(run({}, cut), /does not read as it was written\. Nothing was removed/);
  const changed: typeof blobs.read = async (ref) => {
    const pieces = await blobs.read(ref);
    return (async function* () {
      for await (const piece of pieces) {
        piece[piece.length - 20] = (piece[piece.length - 20] ?? 0) ^ 1;
        yield piece;
      }
    })();
  };
  await assert.rejects(run({}, changed), /does not read as it was written/);
  assert.deepEqual(await counts(), { here: 3, archived: 0, files: 2, entries: 0 });
  assert.equal((await run()).records, 3);
});

test('leaves out what changed after it was read', async () => {
  const [first = '', erased = '', last = ''] = await addRecords(3);
  const meanwhile: typeof blobs.read = async (ref) => {
    const { rows } = await sql<{ leaf: Buffer }>`
      select leaf from anchor_leaves where subject_id = ${first}`.execute(database.db);
    const before = { id: first, version: 1, leaf: rows[0]?.leaf as Buffer };
    const version = { workspaceId, vault, externalId: '0', content: recordContent({ n: 'new' }, 'data') };
    await insertAll(database.db, [nextVersion(version, before).write]);
    await sql`update anchor_leaves set data = null, salt = null, claims = null, erased_at = now()
      where subject_id = ${erased}`.execute(database.db);
    return blobs.read(ref);
  };
  const done = await run({}, meanwhile);
  assert.deepEqual([done.records, done.left], [1, 2]);
  const { rows } = await sql<{ id: string }>`select id from archived_records`.execute(database.db);
  assert.deepEqual(rows, [{ id: last }]);
  // The new version is not final.
  assert.deepEqual([(await run()).records, (await counts())?.here], [1, 2]);
});

test('two runs at the same time move each record once', async () => {
  await addRecords(300);
  const done = await Promise.all([run({ atOnce: 20 }), run({ atOnce: 20 })]);
  assert.equal(done[0].records + done[1].records, 300);
  assert.deepEqual((await counts())?.archived, 300);
});

test('what is brought back is as it was, in its workspace only', async () => {
  const ids = await addRecords(5);
  const leaves = async () =>
    (
      await sql<object>`select to_jsonb(l) - 'written_in' as leaf from anchor_leaves l order by id`.execute(
        database.db,
      )
    ).rows;
  const was = await leaves();
  await run();
  const { db } = database;
  const archive = createArchive({ db, blobs });
  const bringBack = (workspace: string) =>
    db.transaction().execute((db) => archive.bringBack(db, workspace, ids));
  assert.equal(await archive.find('ws_2', ids[0] ?? ''), null);
  assert.equal(await bringBack('ws_2'), 0);
  assert.equal(await bringBack(workspaceId), 5);
  assert.deepEqual(await leaves(), was);
  assert.equal(await bringBack(workspaceId), 0);
  const { rows } = await sql<{ set: boolean }>`
    select bits::text like '%1%' as set from archived_leaves`.execute(db);
  assert.deepEqual(
    rows.filter(({ set }) => set),
    [],
  );
});
