/** `holdfast backup` and `restore` as an operator uses them: beside a running service, onto a machine that has nothing. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { openRpcSide } from '../faults/chain-rpc.ts';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { needs } from '../support/programs/needs.ts';
import { command } from '../support/service/commands.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { longOnly } from '../support/service/long.ts';
import {
  holdfast,
  processesMentioning,
  type RunningService,
  type Settings,
  serve,
  startHoldfast,
  waitUntil,
} from '../support/service/process.ts';

const platform = '/api-v1/platform';
const longestMs = 60_000;

let dir: string;
let receiver: Receiver;
const running: RunningService[] = [];
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-backup-cli-'));
  receiver = await startReceiver();
  await writeFile(join(dir, 'passphrase'), 'correct horse battery staple\n');
});
after(async () => {
  for (const service of running) await stop(service);
  await receiver.close();
  await rm(dir, { recursive: true, force: true });
});

function settings(name: string): Settings {
  return {
    HOLDFAST_DATA_DIR: join(dir, name),
    HOLDFAST_ANCHOR_INTERVAL_MS: '200',
    HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
    HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
  };
}

async function start(name: string): Promise<RunningService> {
  const service = await serve(settings(name));
  running.push(service);
  return service;
}

async function stop(service: RunningService): Promise<void> {
  service.child.kill('SIGTERM');
  await service.exited;
}

async function json(given: Settings, ...args: string[]) {
  const { code, stdout, stderr } = await command(given, ...args, '--json');
  assert.equal(code, 0, stdout + stderr);
  return JSON.parse(stdout);
}

const passphraseFile = () => ['--passphrase-file', join(dir, 'passphrase')];

function caller(service: RunningService, key: string) {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
    return { text, json: text === '' ? null : JSON.parse(text) };
  };
}
type Call = ReturnType<typeof caller>;

async function confirmedRecord(call: Call, vaultAddress: string, data: object): Promise<string> {
  const { id } = (await call('POST', `${platform}/records`, { vaultAddress, data })).json;
  await waitUntil(async () => {
    const { status } = (await call('GET', `${platform}/records/${id}`)).json;
    return status === 'confirmed' || status === 'finalized';
  }, longestMs);
  return id;
}

/** Ids of the events that arrived, other than tests. */
const arrived = () =>
  receiver.received
    .map(({ body }) => JSON.parse(body))
    .filter(({ type }) => type !== 'webhook.test')
    .map(({ data }) => data.record_id);

async function blockHashes(given: Settings, upTo: number): Promise<string[]> {
  const { rpcUrl } = await waitUntil(async () => {
    const status = await json(given, 'chain', 'status');
    return status.rpcUrl !== null && status.head.number >= upTo ? status : null;
  }, longestMs);
  const calls = Array.from({ length: upTo + 1 }, (_, number) => ({
    jsonrpc: '2.0',
    id: number,
    method: 'eth_getBlockByNumber',
    params: [`0x${number.toString(16)}`, false],
  }));
  const hashes: string[] = [];
  for (const body of calls) {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    hashes.push(((await response.json()) as { result: { hash: string } }).result.hash);
  }
  return hashes;
}

test('a backup of a running service restores elsewhere with chain and proofs, and resends nothing', {
  timeout: 240_000,
}, async () => {
  const here = settings('here');
  const service = await start('here');
  const { key } = await json(here, 'keys', 'create', '--name', 'test');
  const call = caller(service, key);
  const vault = (await call('POST', `${platform}/vaults`, { name: 'Contracts' })).json;
  await call('POST', `${platform}/webhooks/endpoints`, {
    url: receiver.url,
    eventTypes: ['record.anchor.confirmed'],
  });
  const records = [
    await confirmedRecord(call, vault.address, { number: 1 }),
    await confirmedRecord(call, vault.address, { number: 2 }),
  ];
  await waitUntil(() => arrived().length === 2, longestMs);
  await waitUntil(async () => {
    const { json: done } = await call('GET', `${platform}/webhooks/deliveries?status=succeeded`);
    return done.length >= 3;
  }, longestMs);

  const archive = join(dir, 'backup.tar');
  const made = await json(here, 'backup', archive, ...passphraseFile());
  assert.deepEqual([made.file, made.keyFile], [archive, `${archive}.key`]);
  assert.equal(made.bytes, (await stat(archive)).size);
  const proofs = await proofsOf(call, records);
  const { head } = await json(here, 'chain', 'status');
  const hashes = await blockHashes(here, head.number);
  await stop(service);

  const there = settings('there');
  const restored = await json(there, 'restore', archive, ...passphraseFile());
  assert.deepEqual([restored.rows, restored.tables], [made.rows, made.tables]);
  assert.equal(restored.fsck.found, 0, JSON.stringify(restored.fsck));
  assert.deepEqual(processesMentioning(there.HOLDFAST_DATA_DIR ?? ''), []);
  assert.ok(!existsSync(join(dir, 'there', 'chain')), 'the chain comes from the journal alone');

  // Without a service, that is the last block of the journal.
  const inBackup = (await json(there, 'chain', 'status')).head.number;
  const anchored = Math.max(...proofs.map((proof) => JSON.parse(proof).anchors[0].blockNumber));
  assert.ok(inBackup >= anchored && inBackup <= head.number);

  const other = await start('there');
  const callThere = caller(other, key);
  assert.deepEqual(await blockHashes(there, inBackup), hashes.slice(0, inBackup + 1));
  assert.deepEqual(await proofsOf(callThere, records), proofs);

  const fresh = await confirmedRecord(callThere, vault.address, { number: 3 });
  await waitUntil(() => arrived().includes(fresh), longestMs);
  assert.deepEqual(arrived(), [...records, fresh], 'each was told of once, in all');
  const fsck = await command(there, 'fsck', '--json');
  assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);
  await stop(other);
});

function proofsOf(call: Call, records: string[]): Promise<string[]> {
  return Promise.all(records.map(async (id) => (await call('GET', `${platform}/records/${id}/proof`)).text));
}

needs('anvil').test(
  'finds a batch on a real chain that was mined after the backup, and does not resend it',
  {
    skip: longOnly,
    timeout: 240_000,
  },
  async (t) => {
    const [source, target] = [await createTestDatabase(), await createTestDatabase({ empty: true })];
    t.after(() => Promise.all([source.drop(), target.drop()]));
    const own = { ...settings('real'), DATABASE_URL: source.url };
    const side = await openRpcSide(own);
    t.after(() => side.close());
    const here = { ...own, ...side.settings };
    const service = await serve(here);
    running.push(service);
    const { key } = await json(here, 'keys', 'create', '--name', 'test');
    const call = caller(service, key);
    const vault = (await call('POST', `${platform}/vaults`, { name: 'Contracts' })).json;
    const archive = join(dir, 'real.tar');

    const { id, hash } = await side.withoutBlocks(async () => {
      const { id } = (await call('POST', `${platform}/records`, { vaultAddress: vault.address, data: {} }))
        .json;
      await waitUntil(
        async () => (await call('GET', `${platform}/records/${id}`)).json.status === 'submitted',
        longestMs,
      );
      await json(here, 'backup', archive, ...passphraseFile());
      await stop(service);
      const [hash, ...others] = await side.inPool();
      assert.ok(hash && others.length === 0);
      return { id, hash };
    });
    await side.anvil.mined(hash);
    const sent = () => side.anvil.client.getTransactionCount({ address: side.submitter });
    const before = await sent();

    const there = { ...settings('real-restored'), DATABASE_URL: target.url, ...side.settings };
    assert.equal((await json(there, 'restore', archive, ...passphraseFile())).fsck.found, 0);
    const other = await serve(there);
    running.push(other);
    const callThere = caller(other, key);
    const { anchor } = await waitUntil(async () => {
      const { json: record } = await callThere('GET', `${platform}/records/${id}`);
      return record.status === 'confirmed' ? record : null;
    }, longestMs);
    assert.equal(anchor.transactionHash, hash);
    assert.equal(await sent(), before, 'something was sent anew');
    await confirmedRecord(callThere, vault.address, { after: true });
    assert.equal(await sent(), before + 1, 'nonces go on where they were');
    const fsck = await command(there, 'fsck', '--json');
    assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);
    await stop(other);
  },
);

test('both commands start the database if no service runs, and explain errors in a sentence', {
  skip: longOnly,
}, async () => {
  const source = settings('alone');
  const archive = join(dir, 'alone.tar');
  const key = join(dir, 'master.key');
  await writeFile(key, '1:'.concat(Buffer.alloc(32, 7).toString('base64')));

  // A vault's key is sealed, so there is a master key to be backed up.
  const { key: apiKey } = await json(source, 'keys', 'create', '--name', 'test');
  const service = await serve({ ...source, HOLDFAST_CHAIN_RPC_URLS: 'http://127.0.0.1:9' });
  running.push(service);
  const vault = (await caller(service, apiKey)('POST', `${platform}/vaults`, { name: 'Sealed' })).json;
  await stop(service);
  const silent = await command(source, 'backup', archive);
  assert.equal(silent.code, 1);
  assert.match(silent.stderr, /no terminal to ask for a passphrase .* --passphrase-file/);
  assert.ok(!existsSync(archive));
  const told = await holdfast(source, 'backup', archive, ...passphraseFile());
  assert.equal(told.code, 0, told.stderr);
  assert.match(told.stdout, /alone\.tar contains [\d,]+ rows of \d+ tables and 0 blobs/);
  assert.match(told.stdout, /The master key is in .*alone\.tar\.key, encrypted/);
  assert.match(told.stderr, /database: rows, \d+ of \d+/);

  const target = settings('alone-restored');
  await writeFile(join(dir, 'wrong'), 'incorrect horse');
  for (const [args, message] of [
    [['--passphrase-file', join(dir, 'wrong')], /The passphrase does not open .*alone\.tar\.key/],
    [['--key-file', key], /does not match this backup/],
    [['--key-file', join(dir, 'nowhere')], /cannot be read/],
  ] as const) {
    const refused = await command(target, 'restore', archive, ...args);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, message);
    assert.ok(!existsSync(join(dir, 'alone-restored')), 'something was written');
  }
  const used = await command(source, 'restore', archive, ...passphraseFile());
  assert.equal(used.code, 1);
  assert.match(used.stderr, /is not empty/);

  const restored = await holdfast(target, 'restore', archive, ...passphraseFile());
  assert.equal(restored.code, 0, restored.stdout + restored.stderr);
  assert.match(restored.stdout, /Restored as of/);
  const again = await serve({ ...target, HOLDFAST_CHAIN_RPC_URLS: 'http://127.0.0.1:9' });
  running.push(again);
  const found = (await caller(again, apiKey)('GET', `${platform}/vaults/${vault.address}`)).json;
  assert.deepEqual(found, vault);
  await stop(again);
  assert.deepEqual(processesMentioning(dir), []);
});

test('says that a key from the environment is left to the operator', async () => {
  const database = await createTestDatabase();
  const target = await createTestDatabase({ empty: true });
  const masterKey = Buffer.alloc(32, 9).toString('hex');
  const given = (name: string, url: string): Settings => ({
    HOLDFAST_DATA_DIR: join(dir, name),
    DATABASE_URL: url,
    HOLDFAST_MASTER_KEY: masterKey,
    HOLDFAST_CHAIN_RPC_URLS: 'http://127.0.0.1:9',
  });
  try {
    const source = given('own-key', database.url);
    // Whatever may have to seal something enters the master key.
    await json(source, 'webhooks', 'list');
    const archive = join(dir, 'own-key.tar');
    const { code, stdout, stderr } = await command(source, 'backup', archive);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /The master key comes from HOLDFAST_MASTER_KEY and is not in the backup/);
    assert.ok(!existsSync(`${archive}.key`));
    const there = given('own-key-restored', target.url);
    const both = await command(there, 'restore', archive, '--key-file', join(dir, 'master.key'));
    assert.match(both.stderr, /HOLDFAST_MASTER_KEY already gives the master key/);
    assert.equal((await json(there, 'restore', archive)).fsck.found, 0);
  } finally {
    await database.drop();
    await target.drop();
  }
});

test('a full disk or an interruption leaves no file under the final name', async () => {
  const database = await createTestDatabase();
  const source = { HOLDFAST_DATA_DIR: join(dir, 'full'), DATABASE_URL: database.url };
  const place = await mkdtemp(join(dir, 'place-'));
  try {
    // The shell's limit on the size of a file is met by the write itself, as a full disk is.
    const main = join(import.meta.dirname, '../../src/main.ts');
    const limited = await new Promise<string>((resolve) => {
      const args = [
        '-c',
        `ulimit -f 16; exec ${process.execPath} ${main} backup ${join(place, 'a.tar')} --no-key`,
      ];
      const env = { ...source, PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' };
      execFile('sh', args, { env }, (_, stdout, stderr) => resolve(stdout + stderr));
    });
    assert.match(limited, /a\.tar cannot be written: .*No file was left under that name/);
    assert.deepEqual(await readdir(place), []);

    await withClient({ connectionString: database.url }, async (client) => {
      await client.query('begin; lock table webhook_replays in access exclusive mode');
      const backup = await startHoldfast(
        { ...source, HOLDFAST_LOG_LEVEL: 'silent' },
        /never|$/,
        ...['backup', join(place, 'b.tar'), '--no-key'],
      );
      // Not on the connection of the lock, which sees the activity as it was when its transaction began.
      await waitUntil(() => withClient({ connectionString: database.url }, isWaiting));
      assert.equal((await readdir(place)).length, 1);
      backup.child.kill('SIGTERM');
      await client.query('rollback');
      assert.equal(await backup.exited, 1);
      assert.match(backup.stderr(), /It was stopped/);
    });
    assert.deepEqual(await readdir(place), []);
  } finally {
    await database.drop();
  }
});

async function isWaiting(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `select 1 from pg_stat_activity
     where application_name = 'holdfast backup' and wait_event_type = 'Lock' and datname = current_database()`,
  );
  return rowCount === 1;
}
