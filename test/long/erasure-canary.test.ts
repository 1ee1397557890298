/** What was erased is nowhere: not in the files of the database, not beside it, not in a new backup, not after a restore. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { leavesPass } from '../../src/anchoring/batching/leaves.check.ts';
import { readArchive } from '../../src/backup/archive-reader.ts';
import { makeBackup } from '../../src/backup/backup.ts';
import { restoreBackup } from '../../src/backup/restore.ts';
import { openBlobStore } from '../../src/blobs/open-blob-store.ts';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { readConfig } from '../../src/config/config.ts';
import { openDatabase } from '../../src/db/database.ts';
import { filesCheck } from '../../src/holdings/files/files.check.ts';
import { recordsCheck } from '../../src/holdings/records/records.check.ts';
import { readMasterKeys } from '../../src/keys/master-keys.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { runEach } from '../../src/runtime/check.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { sendForm } from '../support/clients/upload.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const records = `${platform}/records`;
const longestMs = 60_000;
const canary = `canary${randomBytes(8).toString('hex')}`;
const env = { HOLDFAST_ANCHOR_INTERVAL_MS: '200', HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };

let dir: string;
let service: Service;
let vaultAddress: string;
const endings: (() => Promise<unknown>)[] = [];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-canary-'));
  service = await startService({ chain: true, env });
  endings.push(
    () => service.close(),
    () => rm(dir, { recursive: true, force: true }),
  );
  const { json } = await service.call('POST', `${platform}/vaults`, { body: { name: 'Cold room' } });
  vaultAddress = json.address;
});
after(async () => {
  for (const end of endings) await end();
});

async function newRecord(data: object): Promise<string> {
  const answer = await service.call('POST', records, {
    body: { vaultAddress, data },
    headers: { 'idempotency-key': randomBytes(8).toString('hex') },
  });
  assert.equal(answer.status, 202, answer.text);
  return answer.json.id;
}

async function confirmed(path: string): Promise<void> {
  await waitUntil(async () => {
    const { json } = await service.call('GET', path);
    return json.status === 'confirmed' || json.status === 'finalized';
  }, longestMs);
}

/** Files of the database that contain the canary, once all of them are rewritten and written out. */
async function inDatabase(connectionString: string): Promise<string[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query('vacuum full');
    await client.query('checkpoint');
    const { rows } = await client.query<{ file: string }>(
      `select coalesce(
         (select c.oid::regclass::text from pg_class c where pg_relation_filenode(c.oid)::text = split_part(file, '.', 1) limit 1),
         path || '/' || file) as file
       from (select 'base/' || oid as path from pg_database where datname = current_database()) as folder,
         pg_ls_dir(path) as file
       where position(convert_to($1, 'UTF8') in coalesce(pg_read_binary_file(path || '/' || file, 0, 1 << 29, true), '')) > 0`,
      [canary],
    );
    return rows.map(({ file }) => file);
  } finally {
    await client.end();
  }
}

async function inArchive(file: string): Promise<string[]> {
  const found: string[] = [];
  for await (const member of readArchive(file)) {
    const pieces: Uint8Array[] = [];
    for await (const piece of member.pieces) pieces.push(piece);
    if (Buffer.concat(pieces).includes(canary)) found.push(member.name);
  }
  return found;
}

async function inBlobs(of: Service): Promise<string[]> {
  const { blobs } = of.config;
  assert.ok(blobs.kind === 'disk');
  const entries = await readdir(blobs.dir, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((entry) => entry.isFile())) {
    if ((await readFile(join(entry.parentPath, entry.name))).includes(canary)) found.push(entry.name);
  }
  return found;
}

async function backUp(name: string): Promise<string> {
  const file = join(dir, name);
  const connection = () => ({ connectionString: service.databaseUrl });
  const database = openDatabase({ connection, onError() {} });
  const store = await openBlobStore(service.config.blobs);
  try {
    const { masterKey } = service.config;
    await makeBackup({ database, connection, store, masterKey }, { file, key: null, onProgress() {} });
    return file;
  } finally {
    await store.close();
    await database.close();
  }
}

async function faultsIn(url: string): Promise<string[]> {
  const database = openDatabase({ connection: () => ({ connectionString: url }), onError() {} });
  try {
    const { db } = database;
    const checks = [recordsCheck(db), filesCheck(db), { name: 'leaves', passes: [leavesPass(db)] }];
    return (await runEach(checks)).flatMap(({ findings }) => findings.map(({ rule }) => rule));
  } finally {
    await database.close();
  }
}

test('nothing of what was erased is left, its proof stands, and a restore of an older backup erases it again', async () => {
  const versioned = await newRecord({ canary, long: canary.repeat(2_000) });
  await service.call('POST', `${records}/${versioned}/versions`, { body: { data: { next: canary } } });
  const kept = await newRecord({ harmless: true });
  const file = await sendForm(service, `${platform}/files`, {
    parts: [
      ['vaultAddress', vaultAddress],
      ['file', new File([canary], 'note.txt')],
    ],
  });
  const fileId = file.json.id;
  await confirmed(`${records}/${versioned}`);
  await confirmed(`${platform}/files/${fileId}`);
  // Erased while it waits for its batch, or as soon as it is in one.
  const pending = await newRecord({ pending: canary });

  const before = await backUp('before.tar');
  assert.notDeepEqual(await inDatabase(service.databaseUrl), [], 'the search must find what is there');
  assert.notDeepEqual(await inArchive(before), []);
  for (const id of [versioned, pending]) {
    assert.equal((await service.call('DELETE', `${records}/${id}/data`)).status, 200);
  }
  assert.equal((await service.call('DELETE', `${platform}/files/${fileId}/content`)).status, 204);
  await confirmed(`${records}/${pending}`);

  assert.deepEqual(await inDatabase(service.databaseUrl), []);
  assert.deepEqual(await inBlobs(service), []);
  assert.deepEqual(await inArchive(await backUp('after.tar')), []);
  assert.ok(!service.logged().includes(canary));
  assert.deepEqual(await faultsIn(service.databaseUrl), []);

  for (const path of [`${versioned}/proof?version=1`, `${versioned}/proof`, `${pending}/proof`]) {
    const { text, json } = await service.call('GET', `${records}/${path}`);
    assert.equal(json.content.salt, null);
    assert.equal(json.claims, null);
    const { steps } = await verifyProof(text, {
      chain: relayReader(service),
      registry: { address: registryAddress, codeHash: registryCodeHash },
    });
    assert.deepEqual(
      steps.filter(({ status }) => status === 'fail'),
      [],
    );
    const passed = steps.filter(({ status }) => status === 'pass').map(({ name }) => name);
    for (const name of ['leaf', 'path', 'seal', 'registry', 'chain']) {
      assert.ok((passed as string[]).includes(name), `${name} of ${passed}`);
    }
  }
  const evidence = await service.call('GET', `${records}/${versioned}/evidence`);
  assert.equal(evidence.status, 200);

  const { url, drop } = await createTestDatabase({ empty: true });
  endings.push(drop);
  const target = readConfig({ ...env, DATABASE_URL: url, HOLDFAST_DATA_DIR: join(dir, 'restored') });
  const restored = await restoreBackup({
    file: before,
    keys: await readMasterKeys(target.masterKey),
    config: target,
    log: { info() {}, error() {} },
    erasuresOf: service.config.blobs,
    onProgress() {},
  });
  assert.equal(restored.erasedAgain, 3);
  assert.deepEqual(await inDatabase(url), []);
  assert.deepEqual(await faultsIn(url), []);
  const copy = await startService({
    databaseUrl: url,
    runLoops: false,
    env: { ...env, HOLDFAST_BLOB_URL: `file://${join(dir, 'restored', 'blobs')}` },
  });
  try {
    const get = (path: string) => copy.call('GET', path, { key: service.key });
    assert.equal((await get(`${records}/${versioned}`)).json.erased, true);
    assert.deepEqual((await get(`${records}/${kept}`)).json.data, { harmless: true });
    assert.equal((await get(`${platform}/files/${fileId}/content`)).status, 404);
    assert.deepEqual(await inBlobs(copy), []);
  } finally {
    await copy.close();
  }
});
