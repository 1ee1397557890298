/** The archive when its run is killed, when nothing is left of a file, and after a restore. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { createArchive } from '../../src/anchoring/archive/archive.ts';
import { createBlobs } from '../../src/blobs/blobs.ts';
import { openBlobStore } from '../../src/blobs/open-blob-store.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createErasureJournal } from '../../src/holdings/holds/erasures.ts';
import { createRetentionWork } from '../../src/holdings/retention/retention.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { type ArchiveFixture, openArchiveFixture } from '../support/fixtures/archive-fixture.ts';
import { command } from '../support/service/commands.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { environment, type Settings, waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const records = '/api-v1/platform/records';
const longestMs = 60_000;
const main = join(import.meta.dirname, '../../src/main.ts');

let fixture: ArchiveFixture;
let service: Service;
let settings: Settings;
let { newVault, newRecord, addVersion, erase, get, final, archive, count, isHere, isArchived } =
  {} as ArchiveFixture;

before(async () => {
  fixture = await openArchiveFixture();
  ({ service, settings } = fixture);
  ({ newVault, newRecord, addVersion, erase, get, final, archive, count, isHere, isArchived } = fixture);
});
after(() => fixture?.close());

for (const [step, table] of [
  ['before the file is noted', 'archive_parts'],
  ['before the rows go', 'archived_records'],
] as const) {
  test(`killed ${step}, nothing is lost, and the next run moves it`, async () => {
    const ids = [await newRecord({ killed: step }), await newRecord({ killed: 2 })];
    await final(...ids);
    const was = await Promise.all(ids.map(async (id) => (await get(id)).text));
    const gate = 4_242_424;
    await service.sql(`
      create function hold_it() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock(${gate}); return new; end $$;
      create trigger gate before insert on ${table} for each row execute function hold_it();`);
    // One that is never given back while the command runs.
    const holder = new pg.Client({ connectionString: service.databaseUrl });
    await holder.connect();
    await holder.query('select pg_advisory_lock($1)', [gate]);
    const child = spawn(process.execPath, [main, 'archive', '--before', '0m'], {
      env: environment(settings),
      stdio: 'ignore',
    });
    try {
      const ended = once(child, 'exit');
      await waitUntil(
        async () =>
          (await count(
            `pg_locks where locktype = 'advisory' and not granted and objid = ${gate}
             and database = (select oid from pg_database where datname = current_database())`,
          )) > 0,
        longestMs,
      );
      child.kill('SIGKILL');
      await ended;
    } finally {
      child.kill('SIGKILL');
      await holder.end();
      // The statement that was waiting ends with its session.
      await waitUntil(
        async () =>
          (await count(`pg_stat_activity where datname = current_database() and query like '%insert into "${table}"%'
            and state <> 'idle' and pid <> pg_backend_pid()`)) === 0,
        longestMs,
      );
      await service.sql(`drop trigger gate on ${table}; drop function hold_it()`);
    }
    for (const [place, id] of ids.entries()) {
      // The commit itself may have been through when the process was killed.
      assert.equal((await isHere(id)) !== (await isArchived(id)), true);
      assert.equal((await get(id)).text, was[place]);
    }
    await archive();
    for (const [place, id] of ids.entries()) {
      assert.deepEqual([await isHere(id), await isArchived(id)], [false, true]);
      assert.equal((await get(id)).text, was[place]);
    }
  });
}

test('a file without records is removed a week later, and not before', async () => {
  const vaultAddress = await newVault();
  const id = await newRecord({ n: 1 }, vaultAddress);
  await final(id);
  await archive();
  const { rows } = await service.sql(
    'select p.file from archived_records a join archive_parts p on p.number = a.part where a.id = $1',
    [id],
  );
  const [{ file }] = rows;
  assert.equal((await addVersion(id, { n: 2 })).status, 202);
  assert.equal((await archive()).removedFiles, 0);
  const state = async () =>
    (await service.sql('select empty_since from archive_files where number = $1', [file])).rows;
  assert.notEqual((await state())[0].empty_since, null);
  await service.sql(`update archive_files set empty_since = now() - interval '8 days' where number = $1`, [
    file,
  ]);
  assert.ok((await archive()).removedFiles >= 1);
  assert.deepEqual(await state(), []);
});

test('retention erases archived records of the vault, and no others', async () => {
  await using opened = new AsyncDisposableStack();
  const database = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
  });
  opened.defer(() => database.close());
  const { db } = database;
  const store = await openBlobStore(service.config.blobs);
  opened.defer(() => store.close());
  const keyring = await openKeyring({ db, source: service.config.masterKey });
  opened.defer(() => keyring.close());
  const blobs = createBlobs({ db, keyring, store });
  const work = createRetentionWork({
    ...{ db, blobs, archive: createArchive({ db, blobs }) },
    journal: createErasureJournal({ db, store, keyring, log: { warn() {} } }),
    atOnce: 2,
    now: () => new Date(Date.now() + 3 * 24 * 60 * 60 * 1000),
  });
  const vaultAddress = await newVault();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push(await newRecord({ n }, vaultAddress));
  const other = await newRecord({ other: true });
  await final(...ids, other);
  await archive();
  const path = `/api-v1/platform/vaults/${vaultAddress}/retention`;
  const set = await service.call('PUT', path, { body: { recordDays: 1, fileDays: null } });
  assert.equal(set.status, 200, set.text);
  while ((await work.step()) !== false);
  for (const id of ids) assert.deepEqual([(await get(id)).json.erased, await isArchived(id)], [true, false]);
  assert.deepEqual([(await get(other)).json.erased, await isArchived(other)], [false, true]);
  assert.equal((await service.call('GET', path)).json.erased, 5);
});

test('a backup has the archive, and a restore erases again what was erased since', async () => {
  const [kept, erased] = [await newRecord({ kept: true }), await newRecord({ erased: true })];
  await final(kept, erased);
  await archive();
  const [proof, erasedProof] = [(await get(kept, '/proof')).json, (await get(erased, '/proof')).json];
  const file = join(fixture.dir, 'backup.tar');
  const made = await command(settings, 'backup', file, '--no-key', '--json');
  assert.equal(made.code, 0, made.stdout + made.stderr);
  assert.equal((await erase(erased)).status, 200);

  const database = await createTestDatabase({ empty: true });
  try {
    const elsewhere = { HOLDFAST_DATA_DIR: join(fixture.dir, 'restored'), DATABASE_URL: database.url };
    const store = pathToFileURL((service.config.blobs as { dir: string }).dir).href;
    const keyFile = (service.config.masterKey as { file: string }).file;
    const args = ['restore', file, '--key-file', keyFile, '--erasures', store, '--no-fsck', '--json'];
    const restored = await command(elsewhere, ...args);
    assert.equal(restored.code, 0, restored.stdout + restored.stderr);
    const other = await startService({
      databaseUrl: database.url,
      runLoops: false,
      env: {
        HOLDFAST_BLOB_URL: pathToFileURL(join(fixture.dir, 'restored', 'blobs')).href,
        HOLDFAST_MASTER_KEY_FILE: keyFile,
      },
    });
    try {
      assert.deepEqual((await other.call('GET', `${records}/${kept}`)).json.data, { kept: true });
      assert.deepEqual((await other.call('GET', `${records}/${kept}/proof`)).json.leaf, proof.leaf);
      const gone = await other.call('GET', `${records}/${erased}`);
      assert.deepEqual([gone.json.erased, gone.json.data], [true, {}]);
      const left = (await other.call('GET', `${records}/${erased}/proof`)).json;
      assert.deepEqual([left.leaf, left.claims], [erasedProof.leaf, null]);
    } finally {
      await other.close();
    }
  } finally {
    await database.drop();
  }
});
