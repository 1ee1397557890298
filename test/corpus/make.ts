/** Makes an archive of this folder with the product as it is now: `node test/corpus/make.ts NAME`. See README.md. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts';
import type { Proof } from '../../src/proof/verify/proof.ts';
import { connectionText, withClient } from '../support/service/database.ts';
import { nameEveryScope } from '../support/service/every-scope.ts';
import {
  firstSecretOf,
  holdfast,
  type RunningService,
  type Settings,
  serve,
  waitUntil,
} from '../support/service/process.ts';
import { type Client, connect, type Json } from './client.ts';
import { fillDamc, type MadeDamc } from './damc.ts';
import { fillPeople } from './people.ts';
import { fillPlatform, type MadePlatform } from './platform.ts';
import { ask, downloadedDigest, isLog, lasting, type Summary } from './summary.ts';
import { fillEndpoints, type MadeEndpoints, repeatDeliveries, startReceivers } from './webhooks.ts';

const passphrase = 'only evidence of a test';
const mostBytes = 1024 * 1024;
/**
 * Tables that may be empty: only a reorganisation fills them, and the embedded chain has none; or an upgrade does, and empties
 * them again; or commits that a database lost.
 */
const mayBeEmpty = [
  ...['chain_reorgs', 'vault_transactions_undone'],
  ...['leaf_renewal', 'renewed_leaves'],
  'feed_jumps',
];

const name = process.argv[2] ?? '';
assert.match(name, /^\d{4}-\d{2}-[a-z0-9-]+$/, 'give a name such as 2026-11-first-product');
const archive = join(import.meta.dirname, `${name}.tar`);
assert.ok(!existsSync(archive), `${archive} is there already: an archive is never made anew`);

const dir = await mkdtemp(join(tmpdir(), 'holdfast-corpus-'));
const postgres = await startEmbeddedPostgres({ dataDir: dir, log: { info() {}, error: console.error } });
const receivers = await startReceivers();
const query = (text: string): Promise<pg.QueryResult> =>
  withClient(postgres.connection(), (client) => client.query(text));
const unchained =
  'select (select count(*) from audit_entries) - (select coalesce(sum(count), 0) from audit_segments)';
let running: RunningService | null = null;

try {
  await makeArchive();
} catch (error) {
  await Promise.all(['', '.key'].map((end) => rm(archive + end, { force: true })));
  throw error;
} finally {
  await stop();
  await receivers.close();
  await postgres.release();
  await rm(dir, { recursive: true, force: true });
}

async function start(more: Settings): Promise<RunningService> {
  await stop();
  running = await serve(settings(more));
  return running;
}

async function stop(): Promise<void> {
  running?.child.kill('SIGTERM');
  await running?.exited;
  running = null;
}

function settings(more: Settings = {}): Settings {
  return {
    HOLDFAST_DATA_DIR: join(dir, 'data'),
    DATABASE_URL: connectionText(postgres.connection()),
    HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
    HOLDFAST_LOG_LEVEL: 'error',
    HOLDFAST_ANCHOR_INTERVAL_MS: '200',
    ...more,
  };
}

async function makeArchive(): Promise<void> {
  const first = await start({ HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '200ms,200ms' });
  const key = await firstSecretOf(first);
  const ownerLink = await firstSecretOf(first, 'owner-link');
  const client = connect(first.url, key);
  const { people, keys, refusedKeys } = await fillPeople(client, ownerLink);
  const endpoints = await fillEndpoints(client, receivers);
  const platform = await fillPlatform(client);
  await query(nameEveryScope);
  const damc = await fillDamc(client, platform);
  const second = connect(first.url, keys.second ?? '');
  const { address } = await second.post('/platform/vaults', { name: 'In the second workspace' });
  await second.post('/platform/records', { vaultAddress: address, data: { second: true } });
  await settled();
  const deliveries = await repeatDeliveries(client, endpoints);
  await settled();

  // Audit logs are anchored from a day after their workspace was made on; a start looks for those that are due.
  await query("update workspaces set created_at = created_at - interval '25 hours'");
  await start({});
  await waitUntil(
    async () => (await query("select 1 from anchor_leaves where kind = 'audit-log'")).rowCount === 2,
  );
  await settled();

  const last = await startWithoutBatches(keys.second ?? '', address);
  const lastClient = connect(last.url, key);
  const { waiting, pending } = await leavePending(lastClient, { endpoints, platform, damc });

  const questions = [
    ...platform.reads,
    ...damc.reads,
    ...deliveries,
    ...['events?limit=1000', 'api-keys?limit=1000', 'audit-log?limit=5', 'audit-log/proof'].map((path) => ({
      key: 'all',
      path: `/api-v1/platform/${path}`,
    })),
    ...['vaults', 'records', 'files', 'audit-log?limit=1', 'audit-log/proof', 'events'].map((path) => ({
      key: 'second',
      path: `/api-v1/platform/${path}`,
    })),
  ];
  const reads = (asked: typeof questions) =>
    Promise.all(
      asked.map(async (read) => ({ ...read, expected: lasting(await ask(lastClient.call, keys, read)) })),
    );
  const logs = questions.filter(isLog);
  const before = await reads(logs);
  const { createdAt, rows } = await backUp();
  assert.deepEqual(await reads(logs), before, 'something changed while the backup was made');
  const others = await reads(questions.filter((question) => !isLog(question)));

  const summary: Summary = {
    passphrase,
    createdAt,
    rows,
    keys,
    refusedKeys,
    people,
    reads: [...before, ...others],
    files: await Promise.all(
      platform.files.map(async (file) => ({ ...file, sha256: await downloadedDigest(last.url, keys, file) })),
    ),
    proofs: await Promise.all(
      [...platform.proofs, ...damc.proofs].map(async (proof) => ({
        ...proof,
        key: 'all',
        document: (await ask(lastClient.call, keys, { key: 'all', path: proof.path })) as Proof,
      })),
    ),
    pending,
    waitingDelivery: { key: 'all', id: waiting.id, attempts: 1 },
  };
  await writeSummary(summary);
}

/** Nothing is under way any more: all is final on the chain, told, delivered and chained. */
async function settled(): Promise<void> {
  await waitUntil(async () => {
    const { rows } = await query(`
      select (select count(*) from placed_leaves where batch_id is null)
        + (select count(*) from anchor_batches where status <> 'finalized')
        + (${unchained})
        + (select count(*) from placed_events where position is null)
        + (select count(*) from webhook_queue)
        + (select count(*) from webhook_replays where state = 'running')
        + (select count(*) from file_validations where result is null)
        + (select count(*) from transfers where completed_at is null) as left`);
    return Number(rows[0].left) === 0;
  }, 120_000);
}

/** A service that has made its first batch, and makes the next in an hour: until then what is accepted stays pending. */
async function startWithoutBatches(key: string, vaultAddress: string): Promise<RunningService> {
  const silent = await start({ HOLDFAST_ROLES: 'api' });
  const data = { last: 'of the first batch' };
  await connect(silent.url, key).post('/platform/records', { vaultAddress, data });
  const service = await start({
    HOLDFAST_ANCHOR_INTERVAL_MS: '3600000',
    // Long enough for all that follows.
    HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '60s',
  });
  await settled();
  return service;
}

interface Made {
  endpoints: MadeEndpoints;
  platform: MadePlatform;
  damc: MadeDamc;
}

/** What a backup meets in the middle: accepted and not anchored, handed over and not confirmed, sent and not taken. */
async function leavePending(client: Client, { endpoints, platform, damc }: Made) {
  const { harbour, airline, reopened } = platform.vaults;
  await client.send('PATCH', `/platform/vaults/${reopened.address}/deactivate`);
  const waiting: Json = await waitUntil(async () => {
    const [delivery] = await client.get(
      `/platform/webhooks/deliveries?endpointId=${endpoints.failing.id}&status=pending`,
    );
    if (!delivery) return null;
    return (
      (await client.get(`/platform/webhooks/deliveries/${delivery.id}`)).attempts.length === 1 && delivery
    );
  });

  const vaultAddress = harbour.address;
  const destinationVaultAddress = airline.address;
  const record = await client.post('/platform/records', { vaultAddress, data: { pending: true } });
  const file = await client.upload('/platform/files', { vaultAddress }, { name: 'new.txt', text: 'new' });
  const { contentHash } = file;
  const validation = await client.post(`/platform/files/${file.id}/validate`, { contentHash });
  await client.post(`/platform/files/${platform.report.id}/transfer`, { destinationVaultAddress });
  const asset = await client.post('/damc/assets/', { vaultAddress, name: 'On its way' });
  await client.post(`/damc/assets/${asset.assetId}/transfer/`, { destinationVaultAddress });
  const entries = `/damc/assets/${damc.pump}/maintenances/`;
  const { maintenanceId } = await client.post(entries, {
    workerAddress: damc.mechanic,
    type: 'repair',
    summary: 'The last one before the backup.',
    performedAt: '2026-03-01T10:00:00Z',
  });
  await client.post(`${entries}${maintenanceId}/signoffs/`, {
    workerAddress: damc.mechanic,
    role: 'performed',
  });
  await waitUntil(async () => Number((await query(`select (${unchained}) as count`)).rows[0].count) === 0);

  const anchored = ['confirmed', 'finalized'];
  const becomes = (path: string, member: string, oneOf: string[]) => ({
    key: 'all',
    path: `/api-v1${path}`,
    member,
    oneOf,
  });
  const pending: Summary['pending'] = [
    becomes(`/platform/records/${record.id}`, 'status', anchored),
    becomes(`/platform/files/${file.id}`, 'status', anchored),
    becomes(`/platform/files/${file.id}/validations/${validation.id}`, 'result', ['valid']),
    becomes(`/platform/files/${platform.report.id}`, 'vaultAddress', [airline.address]),
    becomes(`/damc/assets/${asset.assetId}/`, 'vaultAddress', [airline.address]),
    becomes(`${entries}${maintenanceId}/details/?viewerAddress=${harbour.address}`, 'status', anchored),
  ];
  return { waiting, pending };
}

async function backUp(): Promise<Pick<Summary, 'createdAt' | 'rows'>> {
  const passphraseFile = join(dir, 'passphrase');
  await writeFile(passphraseFile, passphrase);
  const made = await holdfast(settings(), 'backup', archive, '--passphrase-file', passphraseFile, '--json');
  assert.equal(made.code, 0, made.stdout + made.stderr);
  const { size } = await stat(archive);
  assert.ok(size < mostBytes, `the archive has ${size} bytes`);
  const { stdout } = await promisify(execFile)('tar', ['-xOf', archive, 'manifest.json']);
  const { createdAt, tables } = JSON.parse(stdout) as {
    createdAt: string;
    tables: { name: string; rows: number }[];
  };
  const rows = Object.fromEntries(tables.map(({ name, rows }) => [name, rows]));
  const empty = Object.keys(rows).filter((table) => rows[table] === 0 && !mayBeEmpty.includes(table));
  assert.deepEqual(empty, [], 'an archive has some of everything: put something into these tables');
  return { createdAt, rows };
}

/** In the form that the check of the sources wants. */
async function writeSummary(summary: Summary): Promise<void> {
  const file = join(import.meta.dirname, `${name}.json`);
  await writeFile(file, JSON.stringify(summary, null, 2));
  const biome = join(import.meta.dirname, '../../node_modules/.bin/biome');
  await promisify(execFile)(biome, ['format', '--write', file]);
  console.log(`${archive}: ${(await stat(archive)).size} bytes; ${file}: ${(await stat(file)).size} bytes`);
}
