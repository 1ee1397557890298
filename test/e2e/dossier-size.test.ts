/** The dossier of an asset with thousands of entries: in parts, with memory that does not grow with it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { download, openDossier } from '../support/clients/dossier-reader.ts';
import { type MaintenanceFixture, openMaintenanceFixture } from '../support/fixtures/maintenance-fixture.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { longOnly } from '../support/service/long.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const entries = 3_000;
const entryBytes = 20_000;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-dossier-size-'));
/** Left by the first test. */
const zip = join(folder, 'large.zip');
let service: Service;
let fixture: MaintenanceFixture;
let assetId: string;
before(async () => {
  if (longOnly) return;
  service = await startService({ runLoops: false });
  fixture = await openMaintenanceFixture(service);
  assetId = 'pump of thousands';
  const body = { assetId, vaultAddress: fixture.vault.address, name: 'Pump' };
  const made = await service.call('POST', '/api-v1/damc/assets/', { body });
  assert.equal(made.status, 201, made.text);
  await fixture.assign(assetId, fixture.worker);
  await fixture.made({}, assetId);
  await multiply(entries - 1);
});
after(async () => {
  if (!longOnly) await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** More entries like the one that is there, of which only ids and times differ; their hashes do not fit. */
async function multiply(count: number): Promise<void> {
  // As noise, one text in pieces, which come again only after more than a compressor looks back.
  const pieces = 5;
  await fixture.sql(
    `with noise as materialized (
       select string_agg(md5(turn::text), '') as text from generate_series(1, $2::integer * $4::integer) as turn
     )
     insert into maintenances (workspace_id, id, asset_id, vault_id, worker_id, worker_address, worker_name, type, summary,
       performed_at, supersedes, entry, salt, hash, created_at, number)
     select workspace_id, 'mnt_' || lpad(n::text, 26, '0'), asset_id, vault_id, worker_id, worker_address, worker_name,
       type, summary, performed_at + n * interval '1 second', null,
       replace(replace(replace(entry, id, 'mnt_' || lpad(n::text, 26, '0')),
         to_char(performed_at at time zone 'UTC', $3),
         to_char((performed_at + n * interval '1 second') at time zone 'UTC', $3)), '"data":{}',
         '"data":{"noise":"' || substr(noise.text, 1 + n % $4::integer * 32 * $2::integer, 32 * $2::integer) || '"}'),
       salt, hash, created_at, n + 1
     from maintenances, noise, generate_series(1, $1::integer) as n`,
    [count, Math.ceil(entryBytes / 32), 'YYYY-MM-DD"T"HH24:MI:SS', pieces],
  );
}

const path = (asset = assetId) =>
  `/api-v1/damc/assets/${encodeURIComponent(asset)}/dossier/?viewerAddress=${fixture.vault.address}&wait=0`;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are in use, without what only waits to be collected. */
function live(): number {
  // Buffers are given back by a thread beside it, for which the second one waits.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A sample takes half a second, so there are a few, spread evenly over what is downloaded. */
const sampledBytes = 4 * 1024 * 1024;

async function downloadSampling(sample: () => void): Promise<number> {
  const response = await fetch(service.url + path(), { headers: { 'x-api-key': service.key } });
  let bytes = 0;
  async function* sampled(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      if (Math.floor((bytes + piece.length) / sampledBytes) > Math.floor(bytes / sampledBytes)) sample();
      bytes += piece.length;
      yield piece;
    }
  }
  assert.ok(response.body);
  await pipeline(response.body, sampled, createWriteStream(zip));
  return response.status;
}

test('exports thousands of entries in parts that any ZIP reader opens, with constant memory', {
  skip: longOnly,
  timeout: 600_000,
}, async () => {
  // What is loaded once and for all: the page, the fonts.
  await download(service, path(await fixture.newAsset()), join(folder, 'small.zip'));
  const start = live();
  const held: number[] = [];
  const status = await downloadSampling(() => held.push(live() - start)).catch((error) =>
    assert.fail(`${error}\n${service.logged()}`),
  );
  assert.equal(status, 200);
  assert.ok(held.length > 5, `${held.length} samples`);
  const peak = Math.max(...held);
  const grown = Math.round(peak / 1_000_000);
  const all = (entries * entryBytes) / 1_000_000;
  // Some 5 MB are usual: a page of entries, and what the archive holds of it.
  assert.ok(grown < all / 2, `${grown} MB were held for ${all} MB of entries`);

  const { dossier, lines, verdict, files } = await openDossier(zip);
  assert.equal(dossier.counts.entries, entries);
  assert.deepEqual(
    lines.map(({ entry }) => entry.performedAt),
    lines.map(({ entry }) => entry.performedAt).sort(),
  );
  assert.equal(new Set(lines.map(({ maintenanceId }) => maintenanceId)).size, entries);
  const parts = [...files].filter(([name]) => name.startsWith('entries/'));
  assert.ok(parts.length > 3);
  assert.ok(parts.every(([, bytes]) => bytes.length < 17 * 1024 * 1024));
  // Those whose rows were made up here are found out, and only they.
  assert.equal(verdict.counts.entries, 1);
  assert.ok(verdict.faults.every(({ message }) => /was changed|has neither a proof/.test(message)));
});

needs('unzip').test('unzip finds no fault in the archive', { skip: longOnly }, () => {
  assert.equal(spawnSync(pathOf('unzip'), ['-tq', zip]).status, 0);
});

/** How many pages of the entries of an asset have been asked for. The service is in this process. */
function countPagesOf(t: TestContext, asset: string): () => number {
  const { mock } = t.mock.method(pg.Client.prototype, 'query');
  const isPage = ({ arguments: [text, values] }: { arguments: unknown[] }) =>
    /order by performed_at, id limit/.test(String(text)) && [values].flat().includes(asset);
  return () => mock.calls.filter(isPage).length;
}

async function exportsUnderWay(): Promise<number> {
  const { json } = await service.call('GET', '/api-v1/platform/usage');
  return json.budgets.find(({ name }: { name: string }) => name === 'exports').used;
}

test('stops the work if the client disconnects, and the service continues', { skip: longOnly }, async (t) => {
  const pages = countPagesOf(t, assetId);
  const asked = new AbortController();
  const { signal } = asked;
  const response = await fetch(service.url + path(), { headers: { 'x-api-key': service.key }, signal });
  const body = response.body?.getReader();
  // In the midst of the entries.
  for (let bytes = 0; bytes < sampledBytes; ) bytes += (await body?.read())?.value?.length ?? assert.fail();
  asked.abort();
  await body?.cancel().catch(() => {});
  await waitUntil(async () => (await exportsUnderWay()) === 0);
  const left = pages();
  assert.ok(left > 1 && left < entries / 50, `${left} pages were read`);
  // While a whole dossier of another asset is written, at most the page that was being read.
  const other = path(await fixture.newAsset());
  assert.equal((await download(service, other, join(folder, 'other.zip'))).status, 200);
  assert.ok(pages() <= left + 1, `${pages()} pages after ${left}`);
  assert.doesNotMatch(service.logged(), /could not write all of a dossier/);
});
