/** Maintenance entries over HTTP: put on record, corrected, and refused with nothing stored. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { recordDigest } from '../../src/proof/content.ts';
import type { ErrorCode } from '../../src/runtime/errors.ts';
import { newId } from '../../src/runtime/ids.ts';
import { randomAddress } from '../support/fixtures/asset-fixture.ts';
import { type MaintenanceFixture, openMaintenanceFixture } from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: MaintenanceFixture;
/** Of another workspace. */
let stranger: string;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openMaintenanceFixture(service);
  stranger = await service.makeKey({ newWorkspace: true });
});
after(() => service.close());

/** Rows of everything that an entry could leave behind. */
async function stored(): Promise<number[]> {
  const { rows } = await fixture.sql(`
    select (select count(*) from maintenances)::int as entries, (select count(*) from anchor_leaves)::int as leaves,
      (select count(*) from audit_entries where action like 'maintenance.%')::int as audited,
      (select count(*) from idempotent_answers)::int as answers`);
  return Object.values(rows[0]);
}

async function refused(body: object, code: ErrorCode, message: RegExp): Promise<void> {
  const before = await stored();
  const answer = await fixture.post(body);
  assertError(answer, code);
  assert.match(answer.json.message, message);
  assert.deepEqual(await stored(), before);
}

test('the hash covers the salt and the whole entry, which the details return verbatim', async () => {
  const data = { torque: 42.5, parts: ['a', 'b'], usage: { hours: 3 } };
  const { maintenanceId, maintenanceHash } = await fixture.made({ data });
  const { json, text } = await service.call('GET', fixture.view(`${maintenanceId}/details/`));
  const { rows } = await fixture.sql('select salt, entry, created_at from maintenances where id = $1', [
    maintenanceId,
  ]);
  const [{ salt, entry, created_at }] = rows;
  assert.ok(text.endsWith(`,"entry":${entry}}`));
  assert.equal(maintenanceHash, recordDigest(salt, json.entry));
  assert.equal(maintenanceHash, `0x${createHash('sha256').update(salt).update(entry).digest('hex')}`);
  const workspace = await fixture.sql('select workspace_id from maintenances where id = $1', [maintenanceId]);
  assert.deepEqual(json.entry, {
    format: 'holdfast/maintenance@1',
    workspaceId: workspace.rows[0].workspace_id,
    assetId: fixture.assetId,
    maintenanceId,
    type: 'repair',
    summary: 'Seal replaced',
    performedAt: '2026-01-15T09:30:00.000Z',
    recordedAt: created_at.toISOString(),
    workerAddress: fixture.worker,
    workerName: 'Mia Berg',
    data,
    files: [],
    requires: { categories: [], critical: false, scope: 'repair' },
    supersedes: null,
  });
  const { entry: _, ...details } = json;
  assert.deepEqual(details, {
    assetId: fixture.assetId,
    maintenanceId,
    maintenanceHash,
    number: 1,
    type: 'repair',
    summary: 'Seal replaced',
    performedAt: '2026-01-15T09:30:00.000Z',
    recordedAt: created_at.toISOString(),
    workerAddress: fixture.worker,
    workerName: 'Mia Berg',
    status: 'pending',
    anchor: null,
    signoffs: [],
    supersedes: null,
    supersededBy: null,
    release: 'none',
    data,
    files: [],
  });
});

test('commits a leaf of the owner, salted claims with its place in the asset’s chain, and an audit entry', async () => {
  const assetId = await fixture.newAsset({ workers: [fixture.worker] });
  const { maintenanceId: before } = await fixture.made({}, assetId);
  const { maintenanceId, maintenanceHash } = await fixture.made({}, assetId);
  const { rows } = await fixture.sql(
    "select kind, version, vault_id, '0x' || encode(digest, 'hex') as digest, previous_leaf, claims from anchor_leaves where subject_id = $1",
    [maintenanceId],
  );
  const [{ claims, ...leaf }] = rows;
  assert.deepEqual(leaf, {
    kind: 'maintenance',
    version: 1,
    vault_id: fixture.vault.id,
    digest: maintenanceHash,
    previous_leaf: Buffer.alloc(32),
  });
  const { salt, ...rest } = JSON.parse(claims);
  assert.match(salt, /^0x[0-9a-f]{64}$/);
  const { rows: first } = await fixture.sql(
    "select '0x' || encode(leaf, 'hex') as leaf, claims::jsonb - 'salt' as claims from anchor_leaves where subject_id = $1",
    [before],
  );
  assert.deepEqual(first[0].claims, { assetId, number: 1, previousEntry: `0x${'00'.repeat(32)}` });
  assert.deepEqual(rest, { assetId, number: 2, previousEntry: first[0].leaf });
  const { rows: audited } = await fixture.sql('select action from audit_entries where target_id = $1', [
    maintenanceId,
  ]);
  assert.deepEqual(audited, [{ action: 'maintenance.create' }]);
});

test('an unknown or foreign worker is 404, and one who is not assigned is 409', async () => {
  await refused({ workerAddress: randomAddress() }, 'resource_not_found', /no worker/);
  const foreign = await service.call('POST', '/api-v1/damc/workers/', { key: stranger, body: { name: 'X' } });
  await refused({ workerAddress: foreign.json.address }, 'resource_not_found', /no worker/);
  const idle = await fixture.newWorker({ assign: false });
  await refused({ workerAddress: idle }, 'conflict', /not assigned/);
  await fixture.assign(fixture.assetId, idle);
  await fixture.made({ workerAddress: idle.toLowerCase() });
});

test('refuses work in the future, but not work right now', async () => {
  await refused(
    { performedAt: new Date(Date.now() + 3_600_000).toISOString() },
    'invalid_request',
    /performedAt .* is in the future/,
  );
  await fixture.made({ performedAt: new Date().toISOString() });
});

test('refuses data that is ambiguous to hash, or meaningless', async () => {
  const raw = (data: string) =>
    `{"workerAddress":"${fixture.worker}","type":"repair","summary":"s","performedAt":"2026-01-15T09:30:00Z","data":${data}}`;
  for (const [data, message] of [
    ['{"n":9007199254740993}', /data\.n would be read as/],
    ['{"a":1,"a":2}', /twice/],
    ['{"s":"\\ud800"}', /surrogate/],
    ['{"s":"\\u0000"}', /NUL|null character|U\+0000|\\u0000/i],
    ['[1]', /data must be an object/],
  ] as const) {
    const before = await stored();
    const answer = await service.call('POST', fixture.url(), { body: raw(data) });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, message);
    assert.deepEqual(await stored(), before);
  }
  await refused({ performedAt: '0001-01-01T00:00:00Z' }, 'invalid_request', /before the year 1900/);
  for (const summary of ['\u200b', ' \u2060\u00ad ', '\u3164']) {
    await refused({ summary }, 'invalid_request', /summary must not be blank/);
  }
  await refused({ data: { usage: { hours: -1 } } }, 'invalid_request', /data\.usage\.hours/);
  await refused({ data: { usage: { cycles: 1.5 } } }, 'invalid_request', /data\.usage\.cycles/);
  await refused({ data: { usage: { landings: 1 } } }, 'invalid_request', /data\.usage\.landings/);
  await refused({ data: { usage: null } }, 'invalid_request', /data\.usage/);
  await refused({ data: { scope: 'paint' } }, 'scope_not_accepted', /data\.scope/);
  await refused({ type: ' ' }, 'invalid_request', /type/);
  await refused({ summary: '' }, 'invalid_request', /summary/);
  await refused({ performedAt: '2026-02-30T00:00:00Z' }, 'invalid_request', /performedAt/);
  await refused({ workerAddress: '0x12' }, 'invalid_address', /workerAddress/);
});

test('binds files at their version with their content hash, and refuses a missing one', async () => {
  const contentHash = createHash('sha256').update('report').digest();
  const file = async (version: number) => {
    const id = newId('fil');
    await fixture.sql(
      `insert into files (workspace_id, id, vault_id, version, last_leaf)
       select workspace_id, $1, id, $2, $3 from vaults where id = $4`,
      [id, version, contentHash, fixture.vault.id],
    );
    for (let v = 1; v <= version; v += 1) {
      await fixture.sql(
        `insert into file_versions (workspace_id, file_id, version, vault_id, name, media_type, canonicalization, content_hash, current)
         select workspace_id, $1, $2, id, 'report.pdf', 'application/pdf', 'raw', $3, $4 from vaults where id = $5`,
        [id, v, v === version ? contentHash : Buffer.alloc(32), v === version, fixture.vault.id],
      );
    }
    return id;
  };
  const [first, second] = [await file(1), await file(3)];
  const { maintenanceId } = await fixture.made({ fileIds: [second, first] });
  const { json } = await service.call('GET', fixture.view(`${maintenanceId}/details/`));
  const attached = (fileId: string, version: number) => ({
    fileId,
    version,
    name: 'report.pdf',
    contentHash: `0x${contentHash.toString('hex')}`,
    canonicalization: 'raw',
  });
  assert.deepEqual(json.entry.files, [attached(second, 3), attached(first, 1)]);
  assert.deepEqual(json.files, json.entry.files);
  await refused({ fileIds: [first, 'fil_none'] }, 'resource_not_found', /no file fil_none/);
  await refused({ fileIds: [first, first] }, 'invalid_request', /fileIds/);
  await refused({ fileIds: [first], files: [{ fileId: first }] }, 'invalid_request', /same version/);
  await refused({ files: [{ fileId: first, version: 2 }] }, 'resource_not_found', /no version 2/);
});

test('a correction keeps its file versions, and files of others or without content are refused', async () => {
  const own = { vaultAddress: fixture.vault.address };
  const fileOf = async ({ vaultAddress }: { vaultAddress: string }) => {
    const body = { vaultAddress, name: 'a.pdf', contentHash: `0x${randomBytes(32).toString('hex')}` };
    return (await service.call('POST', '/api-v1/platform/files', { body })).json.id as string;
  };
  const fileId = await fileOf(own);
  const attached = async (id: string) =>
    (await service.call('GET', fixture.view(`${id}/details/`))).json.files.map(
      ({ fileId, version }: { fileId: string; version: number }) => [fileId, version],
    );
  const { maintenanceId: first } = await fixture.made({ fileIds: [fileId] });
  const newer = { contentHash: `0x${randomBytes(32).toString('hex')}`, name: 'b.pdf' };
  const added = await service.call('POST', `/api-v1/platform/files/${fileId}/versions`, { body: newer });
  assert.equal(added.status, 202, added.text);
  const { maintenanceId: second } = await fixture.made({ fileIds: [fileId], supersedes: first });
  assert.deepEqual(await attached(second), [[fileId, 1]]);
  const files = [{ fileId, version: 2 }, { fileId }];
  const { maintenanceId: third } = await fixture.made({ files, supersedes: second });
  assert.deepEqual(await attached(third), [
    [fileId, 2],
    [fileId, 1],
  ]);

  const foreign = await fileOf({ vaultAddress: (await fixture.newVault()).address });
  await refused({ fileIds: [foreign] }, 'conflict', /does not belong to the vault .* share/);
  const shared = { files: [{ fileId: foreign, share: true }] };
  const key = await service.makeKey({ scopes: ['assets:write'] });
  assertError(await fixture.post(shared, { key }), 'forbidden', /files:write/);
  const { maintenanceId: fourth } = await fixture.made(shared);
  assert.deepEqual(await attached(fourth), [[foreign, 1]]);
  const { rows } = await fixture.sql(
    "select details -> 'shared' as shared from audit_entries where target_id = $1 and action = 'maintenance.create'",
    [fourth],
  );
  assert.deepEqual(rows, [{ shared: [foreign] }]);

  await fixture.sql(
    "update file_versions set blob_id = 'blb_none', size = 1, erased_at = now() where file_id = $1 and version = 2",
    [fileId],
  );
  await refused({ fileIds: [fileId] }, 'conflict', /version 2 .* was erased/);
  await fixture.made({ files: [{ fileId, version: 2 }], supersedes: third });
});

test('an entry is superseded only once, even concurrently, and only by one of its own asset', async () => {
  const { maintenanceId: first } = await fixture.made();
  const race = await Promise.all([
    fixture.post({ supersedes: first, summary: 'One' }),
    fixture.post({ supersedes: first, summary: 'Other' }),
  ]);
  assert.deepEqual(race.map(({ status }) => status).sort(), [202, 409]);
  const second = race.find(({ status }) => status === 202)?.json.maintenanceId;
  await refused({ supersedes: first }, 'conflict', /already superseded/);
  await refused({ supersedes: 'mnt_none' }, 'resource_not_found', /mnt_none/);
  const other = await fixture.newAsset({ workers: [fixture.worker] });
  const { maintenanceId: elsewhere } = await fixture.made({}, other);
  await refused({ supersedes: elsewhere }, 'conflict', /another asset/);
  const get = async (id: string) => (await service.call('GET', fixture.view(`${id}/details/`))).json;
  assert.equal((await get(first)).supersededBy, second);
  assert.equal((await get(second)).supersedes, first);
  await assert.rejects(
    fixture.sql('update maintenances set supersedes = $1 where id = $2', [first, elsewhere]),
    /maintenances_superseded_once/,
  );
});

test('the usage of an asset is the highest in its entries, and follows corrections', async () => {
  const assetId = await fixture.newAsset({ workers: [fixture.worker] });
  const url = `/api-v1/damc/assets/${encodeURIComponent(assetId)}/`;
  const used = async () => (await service.call('GET', url)).json.usage;
  await fixture.made({ data: { usage: { hours: 120.5, cycles: 30 } } }, assetId);
  await fixture.made({ data: { usage: { hours: 100, cycles: 31 } } }, assetId);
  await fixture.made({ data: { usage: {} } }, assetId);
  assert.deepEqual(await used(), { hours: 120.5, cycles: 31 });
  const hours = Array.from({ length: 20 }, (_, n) => 200 + n);
  await Promise.all(hours.map((hours) => fixture.made({ data: { usage: { hours } } }, assetId)));
  assert.deepEqual(await used(), { hours: 219, cycles: 31 });

  const slip = await fixture.made({ data: { usage: { hours: 120_450_000 } } }, assetId);
  assert.deepEqual(await used(), { hours: 120_450_000, cycles: 31 });
  const correction = { supersedes: slip.maintenanceId, data: { usage: { hours: 220 } } };
  const { maintenanceId } = await fixture.made(correction, assetId);
  assert.deepEqual(await used(), { hours: 220, cycles: 31 });
  const lower = await service.call('PUT', url, { body: { usage: { hours: 1 }, usageCorrection: 'Typed' } });
  assertError(lower, 'conflict', new RegExp(`the maintenance entry ${maintenanceId} states 220`));
});

test('a repeat with the same Idempotency-Key gets the first answer and stores nothing, both ways', async () => {
  const correction = async () => ({ supersedes: (await fixture.made()).maintenanceId });
  for (const newBody of [async () => ({}), correction]) {
    let body = await newBody();
    const headers = { 'idempotency-key': randomBytes(8).toString('hex') };
    const [first, again] = [await fixture.post(body, { headers }), await fixture.post(body, { headers })];
    assert.equal(first.status, 202, first.text);
    assert.deepEqual(again.json, first.json);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    body = await newBody();
    const race = randomBytes(8).toString('hex');
    const all = await Promise.all(
      Array.from({ length: 4 }, () => fixture.post(body, { headers: { 'idempotency-key': race } })),
    );
    const ids = new Set(all.filter(({ status }) => status === 202).map(({ json }) => json.maintenanceId));
    assert.equal(ids.size, 1);
    const { rows } = await fixture.sql('select count(*)::int as n from maintenances where id = any($1)', [
      [...ids, first.json.maintenanceId],
    ]);
    assert.equal(rows[0].n, 2);
  }
});
