/** Assets that change: new versions, hours and cycles, installed in each other and removed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { recordDigest } from '../../src/proof/content.ts';
import { type AssetFixture, fromNow, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: AssetFixture;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = openAssetFixture(service);
});
after(() => service.close());

const install = (assetId: string, parentAssetId: string, at = fromNow(-1000)) =>
  fixture.call('POST', assetId, 'install/', { body: { parentAssetId, at } });
const remove = (assetId: string, parentAssetId?: string, at = fromNow(0)) =>
  fixture.call('POST', assetId, 'remove/', { body: { parentAssetId, at } });

test('each change is a new version that follows the previous one, and a repeat adds none', async () => {
  const assetId = await fixture.newAsset({ metadata: { a: 1 } });
  const change = { name: 'New', usage: { hours: 3, cycles: 2 }, metadata: { b: 2 } };
  const first = await fixture.call('PUT', assetId, '', { body: change });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual([first.json.version, first.json.name, first.json.metadata], [2, 'New', { b: 2 }]);
  const again = await fixture.call('PUT', assetId, '', { body: change });
  assert.deepEqual(again.json, first.json);

  const versions = (await fixture.call('GET', assetId, 'versions/')).json;
  const { rows } = await fixture.sql(
    "select version, digest, previous_leaf, leaf from anchor_leaves where subject_id = $1 and kind = 'asset' order by version",
    [assetId],
  );
  assert.deepEqual(
    versions.map(({ version }: { version: number }) => version),
    [2, 1],
  );
  for (const { version, document, salt, digest } of versions) {
    assert.equal(recordDigest(Buffer.from(salt.slice(2), 'hex'), document), digest);
    assert.equal(`0x${rows[version - 1].digest.toString('hex')}`, digest);
  }
  assert.deepEqual(rows[1].previous_leaf, rows[0].leaf);
  assert.deepEqual(rows[0].previous_leaf, Buffer.alloc(32));
  assertError(await fixture.call('GET', assetId, 'proof/'), 'conflict', /not confirmed/);
  assertError(await fixture.call('GET', assetId, 'proof/?version=3'), 'resource_not_found');
  assertError(await fixture.call('GET', assetId, 'history/'), 'conflict', /not confirmed/);
});

test('concurrent changes all take effect, one after the other', async () => {
  const assetId = await fixture.newAsset();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => fixture.call('PUT', assetId, '', { body: { name: `Name ${n}` } })),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal((await fixture.call('GET', assetId)).json.version, 13);
  const { rows } = await fixture.sql(
    `select count(*)::int as followers from anchor_leaves a
     join anchor_leaves b on b.subject_id = a.subject_id and b.previous_leaf = a.leaf where a.subject_id = $1`,
    [assetId],
  );
  assert.equal(rows[0].followers, 12);
});

test('refuses a change to an outdated version, and announces every change', async () => {
  const assetId = await fixture.newAsset();
  const etag = async () => (await fixture.call('GET', assetId)).headers.get('etag') ?? '';
  const put = (name: string, headers: Record<string, string> = {}) =>
    fixture.call('PUT', assetId, '', { body: { name }, headers });
  const seen = await etag();
  assert.equal(seen, '"1"');
  const first = await put('First', { 'if-match': seen });
  assert.deepEqual([first.status, first.headers.get('etag')], [200, '"2"']);
  const stale = () => put('Second', { 'if-match': seen });
  await fixture.refused(stale, 'precondition_failed', /has changed in the meantime: it is now at version 2/);
  await fixture.refused(() => put('Weak', { 'if-match': 'W/"2"' }), 'precondition_failed', /in the meantime/);
  await fixture.refused(() => put('Bare', { 'if-match': '2' }), 'invalid_request', /if-match/);
  assert.equal((await put('Third', { 'if-match': `"7", ${await etag()}` })).status, 200);
  assert.equal((await put('Fourth', { 'if-match': '*' })).status, 200);
  assert.equal((await put('Fifth')).status, 200);
  const racing = await Promise.all(
    ['A', 'B', 'C'].map(async (name) => (await put(name, { 'if-match': '"5"' })).status),
  );
  assert.deepEqual(racing.sort(), [200, 412, 412]);

  const { rows } = await fixture.sql(
    `select envelope::json -> 'data' as data from events where type = 'asset.changed' and envelope like $1 order by id`,
    [`%${assetId}%`],
  );
  assert.deepEqual(
    rows.map(({ data }) => data.version),
    [1, 2, 3, 4, 5, 6],
  );
});

test('hours and cycles decrease only as a correction, which the audit log records', async () => {
  const assetId = await fixture.newAsset({ usage: { hours: 10, cycles: 5 } });
  for (const usage of [{ hours: 9.9 }, { cycles: 4 }, { hours: 11, cycles: 4 }]) {
    const put = () => fixture.call('PUT', assetId, '', { body: { usage } });
    await fixture.refused(put, 'conflict', /cannot go down/);
  }
  const raised = await fixture.call('PUT', assetId, '', { body: { usage: { hours: 10.5 } } });
  assert.deepEqual(raised.json.usage, { hours: 10.5, cycles: 5 });
  const mistaken = { usage: { hours: 120_450_000 } };
  assert.equal((await fixture.call('PUT', assetId, '', { body: mistaken })).status, 200);
  const body = { usage: { hours: 12_045 }, usageCorrection: 'Three digits too many' };
  const corrected = await fixture.call('PUT', assetId, '', { body });
  assert.deepEqual([corrected.json.usage, corrected.json.version], [{ hours: 12_045, cycles: 5 }, 4]);
  const { rows } = await fixture.sql(
    "select details from audit_entries where target_id = $1 and action = 'asset.correct_usage'",
    [assetId],
  );
  assert.deepEqual(
    rows.map(({ details }) => details),
    [
      {
        usage: { from: { hours: 120_450_000, cycles: 5 }, to: { hours: 12_045, cycles: 5 } },
        usageCorrection: 'Three digits too many',
        version: 4,
      },
    ],
  );
});

test('keeps the history of installations and removals, and anchors each', async () => {
  const [part, engine] = [await fixture.newAsset(), await fixture.newAsset()];
  const [installedAt, removedAt] = [fromNow(-86_400_000), fromNow(-3_600_000)];
  const installed = await install(part, engine, installedAt);
  assert.equal(installed.status, 201, installed.text);
  assert.deepEqual(installed.json, { assetId: part, parentAssetId: engine, installedAt, removedAt: null });
  assert.equal((await fixture.call('GET', part)).json.parentAssetId, engine);
  const removed = await remove(part, engine, removedAt);
  assert.equal(removed.status, 200, removed.text);
  assert.equal((await fixture.call('GET', part)).json.parentAssetId, null);
  assert.equal((await install(part, engine, removedAt)).status, 201);
  const { json: history } = await fixture.call('GET', part, 'installations/');
  assert.deepEqual(history, [
    { assetId: part, parentAssetId: engine, installedAt: removedAt, removedAt: null },
    { assetId: part, parentAssetId: engine, installedAt, removedAt },
  ]);
  const { json: versions } = await fixture.call('GET', part, 'versions/');
  assert.deepEqual(
    versions.map(({ document }: { document: { installation: object | null } }) => document.installation),
    [
      { parentAssetId: engine, installedAt: removedAt, removedAt: null },
      { parentAssetId: engine, installedAt, removedAt },
      { parentAssetId: engine, installedAt, removedAt: null },
      null,
    ],
  );
});

test('an asset is in one place at a time, and can be removed only from there', async () => {
  const [part, engine, other] = [
    await fixture.newAsset(),
    await fixture.newAsset(),
    await fixture.newAsset(),
  ];
  await fixture.refused(() => remove(part, engine), 'conflict', /not installed anywhere/);
  await fixture.refused(() => install(part, 'nothing'), 'resource_not_found', /no asset nothing/);
  await fixture.refused(() => install('nothing', engine), 'resource_not_found', /no asset nothing/);
  assert.equal((await install(part, engine)).status, 201);
  await fixture.refused(() => install(part, engine), 'conflict', /Remove it from there first/);
  await fixture.refused(() => install(part, other), 'conflict', /Remove it from there first/);
  await fixture.refused(() => remove(part, other), 'conflict', /not in/);
  assert.equal((await remove(part)).status, 200);
});

test('refuses to install an asset in itself or its own part, even by two concurrent requests', async () => {
  const [a, b, c] = [await fixture.newAsset(), await fixture.newAsset(), await fixture.newAsset()];
  await fixture.refused(() => install(a, a), 'conflict', /in itself/);
  assert.equal((await install(a, b)).status, 201);
  await fixture.refused(() => install(b, a), 'conflict', /itself a part/);
  assert.equal((await install(b, c)).status, 201);
  await fixture.refused(() => install(c, a), 'conflict', /itself a part/);

  for (let round = 0; round < 5; round += 1) {
    const [x, y] = [await fixture.newAsset(), await fixture.newAsset()];
    const answers = await Promise.all([install(x, y), install(y, x)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  }
});

test('refuses work in the future, or before the last installation or removal', async () => {
  const [part, engine] = [await fixture.newAsset(), await fixture.newAsset()];
  const at = fromNow(-60_000);
  await fixture.refused(() => install(part, engine, fromNow(86_400_000)), 'invalid_request', /future/);
  await fixture.refused(() => install(part, engine, '2026-02-30T00:00:00Z'), 'invalid_request', /at must be/);
  assert.equal((await install(part, engine, at)).status, 201);
  const before = new Date(Date.parse(at) - 1).toISOString();
  await fixture.refused(() => remove(part, engine, before), 'conflict', /before its installation/);
  await fixture.refused(() => remove(part, engine, fromNow(86_400_000)), 'invalid_request', /future/);
  assert.equal((await remove(part, engine, at)).status, 200);
  await fixture.refused(() => install(part, engine, before), 'conflict', /before its last removal/);
});

test('the audit log has every change', async () => {
  const [part, engine] = [await fixture.newAsset(), await fixture.newAsset()];
  await fixture.call('PUT', part, '', { body: { name: 'Other' } });
  await install(part, engine);
  await remove(part, engine);
  const { json } = await service.call(
    'GET',
    `/api-v1/platform/audit-log?targetId=${encodeURIComponent(part)}`,
  );
  assert.deepEqual(
    json.map(({ action }: { action: string }) => action),
    ['asset.remove', 'asset.install', 'asset.update', 'asset.create'],
  );
  assert.deepEqual(json[2].details, { name: { from: 'Pump', to: 'Other' }, version: 2 });
});
