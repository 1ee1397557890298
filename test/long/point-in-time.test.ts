/** Restoring a moment: base backups and the archived log of a real embedded database, and what a restore makes of them. */
import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { listBases } from '../../src/backup/point-in-time/base-format.ts';
import { findBase, restoreToTime } from '../../src/backup/point-in-time/recover.ts';
import { readConfig } from '../../src/config/config.ts';
import { findPostmaster, stopPostmaster } from '../../src/db/embedded/postmaster.ts';
import { readMasterKeys } from '../../src/keys/master-keys.ts';
import { clusterIn, query, serverPid, start } from '../support/fixtures/embedded-postgres-fixture.ts';
import {
  firstSecretOf,
  holdfast,
  type RunningService,
  type Settings,
  serve,
  startHoldfast,
  waitUntil,
} from '../support/service/process.ts';

const platform = '/api-v1/platform';
let dir: string;
let key: string;
let wal: string;
/** Moments, and what was accepted until then. */
const moments: { at: Date; records: string[] }[] = [];
let file: string;
let epoch: string;
const running: RunningService[] = [];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-moment-'));
  // The account of the server must reach it.
  await chmod(dir, 0o711);
  wal = join(dir, 'archive');
  await makeHistory();
});
after(async () => {
  for (const service of running) {
    service.child.kill('SIGKILL');
    await service.exited;
  }
  for (const name of await readdir(dir)) await stopServer(join(dir, name));
  await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

function settings(name: string, archive = wal): Settings {
  return {
    HOLDFAST_DATA_DIR: join(dir, name),
    HOLDFAST_WAL_ARCHIVE_DIR: archive,
    HOLDFAST_ANCHOR_INTERVAL_MS: '200',
  };
}

/** A base, then records one after the other, then an accident; the log is archived, and the machine is lost. */
async function makeHistory(): Promise<void> {
  const service = await startService('first');
  key = await firstSecretOf(service);
  const { address } = await post(service, '/vaults', { name: 'Vault' });
  const form = new FormData();
  form.set('vaultAddress', address);
  form.set('file', new Blob(['the words of the file']), 'file.txt');
  const answer = await fetch(`${service.url}${platform}/files`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  file = ((await answer.json()) as { id: string }).id;
  // The service makes the first base by itself, and mirrors the file afterwards.
  await waitUntil(async () => (await namesIn('bases')).some((name) => name.endsWith('.json')), 120_000);
  const records: string[] = [];
  for (const number of [1, 2]) {
    const { id } = await post(service, '/records', { vaultAddress: address, data: { number } });
    records.push(id);
    await waitUntil(async () => (await get(service, `/records/${id}`)).status === 'confirmed', 60_000);
    const [row] = await ask('first', 'select clock_timestamp() as at');
    moments.push({ at: row?.at as Date, records: [...records] });
    // The moments differ by more than what a Date leaves of a time.
    await ask('first', 'select pg_sleep(0.02)');
  }
  [{ epoch }] = (await ask('first', 'select epoch::text from seal_epoch')) as [{ epoch: string }];
  await waitUntil(
    async () => (await namesIn('blobs', { deep: true })).some((name) => name.includes('blb_')),
    120_000,
  );
  service.child.kill('SIGKILL');
  await service.exited;
  await loseAndArchive('first');
  await stopServer(join(dir, 'first'));
  await rename(join(dir, 'first'), join(dir, 'lost'));
}

async function startService(name: string): Promise<RunningService> {
  const service = await serve(settings(name));
  running.push(service);
  return service;
}

/** Also starts the server if it is down. */
async function ask(name: string, text: string): Promise<pg.QueryResultRow[]> {
  const postgres = await start(join(dir, name));
  try {
    return await query(postgres.connection(), text);
  } finally {
    await postgres.release();
  }
}

async function loseAndArchive(name: string): Promise<void> {
  const postgres = await start(join(dir, name));
  try {
    // The server of the service: it outlived it, and archives on.
    const [mode] = await query(postgres.connection(), 'show archive_mode');
    assert.equal(mode?.archive_mode, 'on');
    await query(postgres.connection(), 'drop table anchor_leaves cascade');
    const [last] = await query(postgres.connection(), 'select pg_walfile_name(pg_switch_wal()) as name');
    await waitUntil(async () => (await namesIn('wal')).includes(`${last?.name}.gz`), 60_000);
  } finally {
    await postgres.release();
  }
}

async function stopServer(dataDir: string): Promise<void> {
  for (const home of [dataDir, join(dataDir, 'restore.draft')]) {
    const pid = await serverPid(home);
    if (pid !== null) await stopPostmaster(pid, clusterIn(home));
  }
}

function namesIn(part: string, { deep = false } = {}): Promise<string[]> {
  return readdir(join(wal, part), { recursive: deep }).catch(() => []);
}

// biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
async function post(service: RunningService, path: string, body: unknown): Promise<any> {
  const answer = await fetch(`${service.url}${platform}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}

// biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
async function get(service: RunningService, path: string): Promise<any> {
  const answer = await fetch(`${service.url}${platform}${path}`, { headers: { 'x-api-key': key } });
  assert.equal(answer.status, 200, path);
  return answer.json();
}

const momentOf = (number: number) => moments[number] as (typeof moments)[number];

function restore(name: string, to: string, { archive = wal, more = [] as string[] } = {}) {
  const keyFile = join(dir, 'lost', 'master.key');
  return holdfast(
    settings(name, archive),
    'restore',
    '--to-time',
    to,
    '--key-file',
    keyFile,
    '--json',
    ...more,
  );
}

test('a moment between two records comes back with what was accepted until then, its file, and nothing later', async () => {
  const { at, records } = momentOf(0);
  const restored = await restore('between', at.toISOString());
  assert.equal(restored.code, 0, restored.stderr + restored.stdout);
  const { fsck, asOf, blobs } = JSON.parse(restored.stdout);
  assert.equal(fsck.found, 0);
  assert.ok(new Date(asOf) <= at, `${asOf} is after ${at.toISOString()}`);
  assert.deepEqual(blobs, { copied: 1, missing: 0 });
  const [sealed] = await ask('between', 'select epoch::text from seal_epoch');
  assert.ok(Number(sealed?.epoch) > Number(epoch), 'the numbers of seals begin anew');

  const service = await startService('between');
  const found = await get(service, '/records');
  assert.deepEqual(
    found.map(({ id }: { id: string }) => id),
    records,
  );
  const content = await fetch(`${service.url}${platform}/files/${file}/content`, {
    headers: { 'x-api-key': key },
  });
  assert.equal(await content.text(), 'the words of the file');
  // It goes on: what is accepted now is anchored.
  const [{ vaultAddress }] = found;
  const { id } = await post(service, '/records', { vaultAddress, data: { after: true } });
  await waitUntil(async () => (await get(service, `/records/${id}`)).status === 'confirmed', 60_000);
  const checked = await holdfast(settings('between'), 'fsck', '--json');
  assert.equal(JSON.parse(checked.stdout).found, 0, checked.stdout);
  service.child.kill('SIGTERM');
  await service.exited;
});

test('a later moment of the lost database can still be restored after an earlier one was', async () => {
  const { at, records } = momentOf(1);
  const restored = await restore('later', at.toISOString());
  assert.equal(restored.code, 0, restored.stderr + restored.stdout);
  const rows = await ask('later', 'select id from records order by id');
  assert.deepEqual(
    rows.map(({ id }) => id),
    records,
  );
});

test('a restore that was killed leaves nothing in effect, and is repeated', async () => {
  const to = momentOf(0).at.toISOString();
  const keyFile = join(dir, 'lost', 'master.key');
  const args = ['restore', '--to-time', to, '--key-file', keyFile, '--no-fsck'];
  const killed = await startHoldfast(settings('killed'), /database: files/, ...args);
  const draft = join(dir, 'killed', 'restore.draft');
  await waitUntil(async () => (await findPostmaster(clusterIn(draft)).catch(() => null)) !== null, 60_000);
  killed.child.kill('SIGKILL');
  await killed.exited;
  assert.ok(!(await readdir(join(dir, 'killed'))).includes('postgres'));
  const again = await restore('killed', to, { more: ['--no-fsck'] });
  assert.equal(again.code, 0, again.stderr + again.stdout);
  assert.deepEqual((await readdir(join(dir, 'killed'))).sort(), ['blobs', 'master.key', 'postgres']);
  assert.equal((await ask('killed', 'select from records')).length, 1);
});

/** Of the first timeline only: what restores began meanwhile is not the matter here. */
async function copyOfArchive(name: string): Promise<string> {
  const archive = join(dir, `archive-${name}`);
  await cp(wal, archive, { recursive: true, preserveTimestamps: true });
  for (const name of await readdir(join(archive, 'wal')))
    if (!name.startsWith('00000001')) await rm(join(archive, 'wal', name));
  return archive;
}

test('a moment that the archived log does not reach is refused, and nothing is left', async () => {
  const to = new Date(Date.now() - 1_000).toISOString();
  const refused = await restore('beyond', to, { archive: await copyOfArchive('beyond') });
  assert.equal(refused.code, 1, refused.stdout);
  assert.match(refused.stderr, /archived log ends before/);
  assert.deepEqual(await readdir(join(dir, 'beyond')).catch(() => []), []);
});

/** In this process: none of them comes as far as to start a server. */
async function refuses(message: RegExp, { archive = wal, name = 'refused', to = momentOf(0).at }) {
  const config = readConfig(settings(name, archive));
  const log = { info() {}, error() {} };
  await assert.rejects(async () => {
    const keys = await readMasterKeys({ file: join(dir, 'lost', 'master.key'), generated: false });
    const { base, timeline } = await findBase(archive, to);
    await restoreToTime({ base, timeline, to, keys, config, dir: archive, log, onProgress() {} });
  }, message);
  return readdir(join(dir, name)).catch(() => []);
}

test('a moment before the first base, and a place that is in use, are refused', async () => {
  assert.deepEqual(await refuses(/oldest base backup was complete at/, { to: new Date('2026-01-01') }), []);
  const before = await readdir(join(dir, 'lost'));
  assert.deepEqual(await refuses(/is not empty/, { name: 'lost' }), before);
});

test('a damaged archive is refused before anything is written', async () => {
  const archive = await copyOfArchive('damaged');
  const [base] = await listBases(archive);
  assert.ok(base);
  const bytes = await readFile(base.file);
  await writeFile(base.file, bytes.subarray(0, bytes.length >> 1));
  assert.deepEqual(await refuses(/archive is damaged/, { archive }), []);
  const flipped = Buffer.from(bytes);
  // Within a compressed file of the cluster.
  const at = flipped.indexOf(Buffer.from('1f8b08', 'hex'), bytes.length >> 1) + 40;
  flipped[at] = (flipped[at] ?? 0) ^ 0xff;
  await writeFile(base.file, flipped);
  assert.deepEqual(await refuses(/archive is damaged/, { archive }), []);
  await writeFile(base.file, bytes);
  await rm(join(archive, 'wal', `${base.firstSegment}.gz`));
  assert.deepEqual(await refuses(/archived log has a gap/, { archive }), []);
});

test('the archive of another database is refused at the start', async () => {
  const { code, stderr } = await holdfast(settings('other'), 'migrate');
  assert.equal(code, 1);
  assert.match(stderr, /has the log of another database/);
});

test('a base backup needs either a file or --base, and the setting', async () => {
  const env = { HOLDFAST_DATA_DIR: join(dir, 'later') };
  const without = await holdfast(env, 'backup', '--base', '--no-key');
  assert.match(without.stderr, /HOLDFAST_WAL_ARCHIVE_DIR is not set/);
  const both = await holdfast(env, 'backup', join(dir, 'a.tar'), '--base', '--no-key');
  assert.match(both.stderr, /either the file to write, or --base/);
});
