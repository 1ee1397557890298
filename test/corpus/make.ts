/** Makes an archive of this folder with the product as it is now: `node test/corpus/make.ts NAME`. See README.md. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Proof } from '../../src/proof/verify/proof.ts';
import { newVisitor, signIn } from '../support/clients/browser-session.ts';
import { nameEveryScope } from '../support/service/every-scope.ts';
import { firstSecretOf, holdfast, waitUntil } from '../support/service/process.ts';
import { fillApprovals } from './approvals.ts';
import { type Client, connect, type Json } from './client.ts';
import { fillTimed } from './clocks.ts';
import { fillDamc } from './damc.ts';
import { openInstallation } from './installation.ts';
import { fillArchive, fillHolds } from './keeping.ts';
import { leavePending, startWithoutBatches } from './pending.ts';
import { fillPeople } from './people.ts';
import { fillPlatform } from './platform.ts';
import { fillPages } from './published.ts';
import { fillSignIn } from './sign-in.ts';
import { exportDossier, fillSigning } from './signing.ts';
import {
  ask,
  downloadedDigest,
  isLog,
  lasting,
  type Person,
  type Question,
  type Summary,
} from './summary.ts';
import { fillEndpoints, repeatDeliveries } from './webhooks.ts';

const passphrase = 'only evidence of a test';
const mostBytes = 1024 * 1024;
const mayBeEmpty = [
  // Only a reorganisation fills them, and the embedded chain has none.
  ...['chain_reorgs', 'vault_transactions_undone'],
  // An upgrade does, and empties them again.
  ...['leaf_renewal', 'renewed_leaves'],
  // Commits that a database lost.
  'feed_jumps',
  // A batch that was full, with 100,000 leaves.
  'anchor_waiting',
];

/** What counts as older than it is, so that its hour is over. */
const agedTimes = {
  anchor_batches: 'confirmed_at',
  anchored_hours_counted: 'until',
  webhook_deliveries: 'created_at',
  delivery_hours_counted: 'until',
};

/** An OpenTimestamps proof is complete and another one is not, and what a token vouches for is covered. */
const timed = `
  select 1 from timestamps where kind = 'opentimestamps' having bool_or(complete) and not bool_and(complete)
    and exists (select from evidence where timestamp_id is not null)`;

const ofPlatform = (key: string) => (path: string) => ({ key, path: `/api-v1/platform/${path}` });

const name = process.argv[2] ?? '';
assert.match(name, /^\d{4}-\d{2}-[a-z0-9-]+$/, 'give a name such as 2026-11-first-product');
const archive = join(import.meta.dirname, `${name}.tar`);
assert.ok(!existsSync(archive), `${archive} is there already: an archive is never made anew`);

const installation = await openInstallation();
const { clocks, settings, query, start, settled, filled } = installation;
try {
  await makeArchive();
} catch (error) {
  await removeArchive();
  throw error;
} finally {
  await installation.close();
}

async function makeArchive(): Promise<void> {
  const first = await start({ HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '200ms,200ms', ...clocks.settings });
  const key = await firstSecretOf(first);
  const ownerLink = await firstSecretOf(first, 'owner-link');
  const client = connect(first.url, key);
  const { people, visitors, keys, refusedKeys } = await fillPeople(client, ownerLink);
  await fillSignIn(client, { people, visitors }, installation.provider);
  const endpoints = await fillEndpoints(client, installation.receivers);
  const timedRecord = await fillTimed(client, query);
  const archived = await fillArchive(client, settings());
  const platform = await fillPlatform(client);
  await query(nameEveryScope);
  const damc = await fillDamc(client, platform);
  const signing = await fillSigning(client, { visitors, platform });
  const published = await fillPages(client, signing);
  const holds = await fillHolds(client, platform);
  const approvals = await fillApprovals(client, visitors);
  const second = connect(first.url, keys.second ?? '');
  const { address } = await second.post('/platform/vaults', { name: 'In the second workspace' });
  await second.post('/platform/records', { vaultAddress: address, data: { second: true } });
  await settled();
  const dossier = await exportDossier(client, signing);
  const deliveries = await repeatDeliveries(client, endpoints);
  await settled();
  await installation.stop();
  clocks.mine();

  // Audit logs are anchored from a day after their workspace was made on; a start looks for those that are due. And it counts
  // what was anchored and delivered in hours that are over.
  await query("update workspaces set created_at = created_at - interval '25 hours'");
  for (const [table, column] of Object.entries(agedTimes))
    await query(`update ${table} set ${column} = ${column} - interval '2 hours'`);
  await start(clocks.settings);
  await waitUntil(
    async () => (await query("select 1 from anchor_leaves where kind = 'audit-log'")).rowCount === 2,
  );
  await settled();
  await filled('anchored_hours', 'delivery_hours', 'notice_recipients');
  await waitUntil(async () => (await query(timed)).rowCount === 1);

  const lastUrl = await startWithoutBatches(installation, keys.second ?? '', address);
  const last = connect(lastUrl, key);
  const left = await leavePending(installation, last, { endpoints, platform, damc });
  await filled('notice_mails', 'notice_signs');
  const fsck = await holdfast(settings(), 'fsck', '--json');
  assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);

  const parts = [platform, damc, timedRecord, archived, signing, published, holds, approvals];
  const questions = [
    ...parts.flatMap(({ reads }) => reads),
    ...deliveries,
    ...['events?limit=1000', 'notices?limit=1000', 'api-keys?limit=1000'].map(ofPlatform('all')),
    ...['audit-log?limit=5', 'audit-log/proof'].map(ofPlatform('all')),
    ...['vaults', 'records', 'files', 'audit-log?limit=1', 'audit-log/proof', 'events'].map(
      ofPlatform('second'),
    ),
  ];
  const reads = (asked: Question[]) =>
    Promise.all(
      asked.map(async (read) => ({ ...read, expected: lasting(await ask(last.call, keys, read)) })),
    );
  const logs = questions.filter(isLog);
  const { createdAt, rows, before, others } = await whileNothingIsAdded(async () => {
    await installation.chained();
    const before = await reads(logs);
    const made = await backUp();
    assert.deepEqual(await reads(logs), before, 'something changed while the backup was made');
    return { ...made, before, others: await reads(questions.filter((question) => !isLog(question))) };
  });

  const summary: Summary = {
    passphrase,
    createdAt,
    rows,
    keys,
    refusedKeys,
    people: await Promise.all(people.map((person) => withAnswers(last, person))),
    reads: [...before, ...others, await readHours(last)],
    files: await Promise.all(
      platform.files.map(async (file) => ({ ...file, sha256: await downloadedDigest(last.url, keys, file) })),
    ),
    proofs: await Promise.all(
      [...parts.flatMap(({ proofs }) => proofs), dossier].map(async (proof) => ({
        ...proof,
        key: 'all',
        document: (await ask(last.call, keys, { key: 'all', path: proof.path })) as Proof,
      })),
    ),
    timestampRoot: clocks.root,
    signers: signing.signers,
    pages: published.pages,
    ...left,
  };
  assertTimed(summary);
  await writeSummary(summary);
}

function assertTimed({ proofs }: Summary): void {
  const types = new Set(proofs.flatMap(({ document }) => document.anchors.map(({ type }) => type)));
  assert.deepEqual([...types].sort(), ['evm', 'opentimestamps', 'rfc3161']);
  assert.ok(proofs.some(({ document }) => document.renewals.length > 0));
}

/** A notice may be raised at any moment: then the archive is made anew. */
async function whileNothingIsAdded<T extends Pick<Summary, 'rows'>>(make: () => Promise<T>): Promise<T> {
  for (let more = 5; ; more -= 1) {
    const made = await make();
    const added = [];
    for (const table of ['events', 'notices', 'webhook_deliveries'])
      if ((await query(`select from ${table}`)).rowCount !== made.rows[table]) added.push(table);
    if (added.length === 0) return made;
    assert.ok(more > 0, `while each backup was made, rows of these tables were added: ${added}`);
    await removeArchive();
  }
}

async function removeArchive(): Promise<void> {
  await Promise.all(['', '.key'].map((end) => rm(archive + end, { force: true })));
}

/** What is counted by the hour; hours that are not over are counted anew each time. */
async function readHours(client: Client): Promise<Summary['reads'][number]> {
  const { rows } = await query('select until from anchored_hours_counted');
  const to = new Date(rows[0].until);
  const from = new Date(to.getTime() - 30 * 60 * 60 * 1000);
  const path = `/platform/stats?from=${from.toISOString()}&to=${to.toISOString()}`;
  const { bucketSeconds, buckets } = await client.get(path);
  assert.ok(buckets.some((bucket: Json) => bucket.anchored > 0 && bucket.delivered > 0));
  return { key: 'all', path: `/api-v1${path}`, expected: { bucketSeconds, buckets } };
}

async function withAnswers(client: Client, person: Person): Promise<Person> {
  if (!person.reads) return person;
  const visitor = newVisitor(client);
  await signIn(visitor, person);
  const answer = async ({ path }: { path: string }) => {
    const { status, json, text } = await visitor.call('GET', path);
    assert.equal(status, 200, `${path}: ${text}`);
    return { path, expected: lasting(json) };
  };
  return { ...person, reads: await Promise.all(person.reads.map(answer)) };
}

async function backUp(): Promise<Pick<Summary, 'createdAt' | 'rows'>> {
  const passphraseFile = join(installation.dir, 'passphrase');
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
