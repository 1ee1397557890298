/** Who may see an asset: the owner, assigned workers, and viewers while their grant holds; every look is logged. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { locks } from '../../src/db/advisory-lock.ts';
import { becomeOwner, type Visitor } from '../support/clients/browser-session.ts';
import {
  type AssetFixture,
  fromNow,
  openAssetFixture,
  pathOf,
  randomAddress,
} from '../support/fixtures/asset-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: AssetFixture;
let ada: Visitor;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = openAssetFixture(service);
  ada = await becomeOwner(service, {
    name: 'Ada',
    email: 'ada@example.com',
    password: 'the tide waits for nobody',
  });
});
after(() => service.close());

const grant = (assetId: string, viewers: string[], until?: string | null) =>
  fixture.call('POST', assetId, 'viewers/', { body: { viewers, until } });
/** The due list stands for everything that a viewer can look at. */
const look = (assetId: string, viewer: string) =>
  fixture.call('GET', assetId, `due/?viewerAddress=${viewer}`);
const verify = async (assetId: string, viewer: string) =>
  (await fixture.call('GET', assetId, `viewers/verify/?viewerAddress=${viewer}`)).json;

test('only the owner, an assigned worker and a granted viewer may see the asset', async () => {
  const [vault, other] = [await fixture.newVault(), await fixture.newVault()];
  const assetId = await fixture.newAsset({ vaultAddress: vault.address });
  const [worker, idle, viewer] = [await fixture.newWorker(), await fixture.newWorker(), randomAddress()];
  const assigned = await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  assert.deepEqual([assigned.status, assigned.json], [201, [{ address: worker, name: 'Ada' }]]);
  const granted = await grant(assetId, [viewer.toLowerCase()]);
  assert.deepEqual([granted.status, granted.json], [201, [{ address: viewer, until: null }]]);
  for (const allowed of [vault.address, worker, viewer, vault.address.toLowerCase()]) {
    assert.equal((await look(assetId, allowed)).status, 200);
    assert.deepEqual(await verify(assetId, allowed), { isViewer: true });
  }
  for (const refused of [other.address, idle, randomAddress()]) {
    assertError(await look(assetId, refused), 'viewer_not_allowed', /may not see the asset/);
    assert.deepEqual(await verify(assetId, refused), { isViewer: false });
  }
  assertError(await look(await fixture.newAsset(), viewer), 'viewer_not_allowed');
});

test('checks the form of the address first, then the asset, then the viewer', async () => {
  const assetId = await fixture.newAsset();
  const viewer = randomAddress();
  // Not of a random one: with one letter changed some are all in capitals, which have no checksum.
  const broken = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD';
  assertError(await look('nothing', '0x12'), 'invalid_address');
  assertError(await look('nothing', broken), 'invalid_address');
  assertError(await fixture.call('GET', assetId, 'due/'), 'invalid_request', /viewerAddress is required/);
  assertError(await look('nothing', viewer), 'resource_not_found');
  assertError(await look(assetId, viewer), 'viewer_not_allowed');
});

test('a grant ends at its exact moment', async () => {
  const assetId = await fixture.newAsset();
  const viewer = randomAddress();
  const given = fromNow(3_600_000);
  assert.deepEqual((await grant(assetId, [viewer], given)).json, [{ address: viewer, until: given }]);
  assert.equal((await look(assetId, viewer)).status, 200);
  // As if that hour had passed: however long the looks take, one is before this moment and the others are after it.
  const { rows: ends } = await fixture.sql(
    'update asset_viewers set until = clock_timestamp() where asset_id = $1 returning until::text',
    [assetId],
  );
  const { until } = ends[0];
  assertError(await look(assetId, viewer), 'viewer_not_allowed');
  assert.deepEqual(await verify(assetId, viewer), { isViewer: false });
  assert.deepEqual((await fixture.call('GET', assetId, 'viewers/')).json, []);
  const { rows } = await fixture.sql(
    'select max(at) filter (where allowed) < $2 as before, min(at) filter (where not allowed) >= $2 as after from asset_access_log where asset_id = $1',
    [assetId, until],
  );
  assert.deepEqual(rows[0], { before: true, after: true });
});

test('refuses a grant that has already ended, but can change the end of an existing one', async () => {
  const assetId = await fixture.newAsset();
  const viewer = randomAddress();
  await fixture.refused(() => grant(assetId, [viewer], fromNow(-1)), 'invalid_request', /in the future/);
  await fixture.refused(() => grant(assetId, [viewer], '2030-01-01'), 'invalid_request', /until must be/);
  await fixture.refused(() => grant(assetId, []), 'invalid_request', /viewers/);
  await fixture.refused(() => grant(assetId, [viewer, '0x1']), 'invalid_address', /viewers\[1\]/);
  await grant(assetId, [viewer], fromNow(3_600_000));
  await grant(assetId, [viewer, viewer.toLowerCase()], null);
  assert.deepEqual((await fixture.call('GET', assetId, 'viewers/')).json, [{ address: viewer, until: null }]);
});

test('refuses a revoked viewer and an unassigned worker with the very next request', async () => {
  const assetId = await fixture.newAsset();
  const [worker, viewer] = [await fixture.newWorker(), randomAddress()];
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  await grant(assetId, [viewer]);
  for (const [kind, address] of [
    ['viewers', viewer],
    ['workers', worker],
  ]) {
    assert.equal((await look(assetId, address ?? '')).status, 200);
    const path = `${kind}/${address?.toLowerCase()}/`;
    assert.equal((await fixture.call('DELETE', assetId, path)).status, 204);
    assertError(await look(assetId, address ?? ''), 'viewer_not_allowed');
    await fixture.refused(
      () => fixture.call('DELETE', assetId, path),
      'resource_not_found',
      /has no|not assigned/,
    );
    assert.deepEqual((await fixture.call('GET', assetId, `${kind}/`)).json, []);
  }
});

test('refuses to assign workers if one of them does not exist', async () => {
  const assetId = await fixture.newAsset();
  const [worker, nobody] = [await fixture.newWorker(), randomAddress()];
  const assign = () => fixture.call('POST', assetId, 'workers/', { body: { workers: [worker, nobody] } });
  await fixture.refused(assign, 'resource_not_found', /no worker/);
  const twice = await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker, worker] } });
  assert.equal(twice.json.length, 1);
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  assert.equal((await fixture.call('GET', assetId, 'workers/')).json.length, 1);
});

test('lists viewers and workers page by page', async () => {
  const assetId = await fixture.newAsset();
  const viewers = Array.from({ length: 5 }, randomAddress);
  await grant(assetId, viewers);
  const found: string[] = [];
  for (let query = '?limit=2'; ; ) {
    const { json, headers } = await fixture.call('GET', assetId, `viewers/${query}`);
    found.push(...json.map(({ address }: { address: string }) => address));
    const cursor = headers.get('x-next-cursor');
    if (cursor === null) break;
    query = `?limit=2&cursor=${cursor}`;
  }
  const inOrder = viewers.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  assert.deepEqual(found, inOrder);
});

test('logs every access before it answers, even a refused one, but not a verification', async () => {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vaultAddress: vault.address });
  const nobody = randomAddress();
  const startedAt = Date.now();
  await look(assetId, vault.address);
  await look(assetId, nobody);
  await verify(assetId, nobody);
  const { json } = await fixture.call('GET', assetId, 'access-log/');
  assert.deepEqual(
    json.map(({ viewerAddress, what, targetId, allowed }: Record<string, unknown>) => ({
      viewerAddress,
      what,
      targetId,
      allowed,
    })),
    [
      { viewerAddress: nobody, what: 'due', targetId: null, allowed: false },
      { viewerAddress: vault.address, what: 'due', targetId: null, allowed: true },
    ],
  );
  assert.equal(json[0].actor.kind, 'api_key');
  const at = Date.parse(json[0].at);
  assert.ok(at >= startedAt && at <= Date.now(), json[0].at);
  const reader = await service.makeKey({ scopes: ['assets:read'] });
  assertError(await fixture.call('GET', assetId, 'access-log/', { key: reader }), 'forbidden', /audit:read/);
});

test('requests of a person within a minute are one access, those of a key are not', async () => {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vaultAddress: vault.address });
  const ask = (what: string, viewer = vault.address) =>
    ada.call('GET', pathOf(assetId, `${what}/?viewerAddress=${viewer}`));
  const looks = async () => {
    const { json } = await fixture.call('GET', assetId, 'access-log/');
    return json.map((look: Record<string, unknown>) => [look.what, look.also, look.allowed]);
  };
  const answers = await Promise.all(
    ['maintenances', 'due', 'maintenances/count', 'due'].map((what) => ask(what)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const [[first, also]] = await looks();
  assert.deepEqual([first, ...also].sort(), ['due', 'maintenance count', 'maintenances']);
  // For the owner, where nobody is named.
  assert.equal((await ada.call('GET', pathOf(assetId))).status, 200);
  assert.equal((await looks()).length, 1);

  assertError(await ask('due', randomAddress()), 'viewer_not_allowed');
  await look(assetId, vault.address);
  await look(assetId, vault.address);
  // As if that minute had passed.
  await fixture.sql(`update asset_access_log set at = at - interval '1 minute' where asset_id = $1`, [
    assetId,
  ]);
  await ask('due');
  assert.deepEqual((await looks()).slice(0, 4), [
    ['due', [], true],
    ['due', [], true],
    ['due', [], true],
    ['due', [], false],
  ]);
  assert.equal((await looks()).length, 5);
});

test('concurrent accesses of one person wait for each other on a single connection', async () => {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vaultAddress: vault.address });
  const see = () => ada.call('GET', pathOf(assetId));
  await see();
  const { rows } = await fixture.sql(
    'select workspace_id, actor_id from asset_access_log where asset_id = $1',
    [assetId],
  );
  const whose = JSON.stringify([rows[0].workspace_id, rows[0].actor_id, assetId]);
  const waiting = async (client: pg.Client): Promise<number> =>
    (
      await client.query(
        `select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
      )
    ).rows[0].count;
  await withClient({ connectionString: service.databaseUrl }, async (client) => {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [locks.looksOfPerson, whose]);
    const looks = Array.from({ length: 40 }, see);
    await waitUntil(async () => Number(await waiting(client)) > 0);
    // All others have the connections that are left.
    assert.equal((await service.call('GET', '/api-v1/platform/vaults')).status, 200);
    assert.equal(Number(await waiting(client)), 1);
    await client.query('commit');
    for (const { status } of await Promise.all(looks)) assert.equal(status, 200);
  });
});

test('logs access to the asset, its versions and its proofs, and refuses it to others', async () => {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vaultAddress: vault.address });
  const [viewer, nobody] = [randomAddress(), randomAddress()];
  await grant(assetId, [viewer]);
  const parts = {
    '': 'asset',
    'versions/': 'asset versions',
    'proof/': 'asset proof',
    'history/': 'asset history',
  };
  for (const [path, what] of Object.entries(parts)) {
    const open = await fixture.call('GET', assetId, path);
    const allowed = await fixture.call('GET', assetId, `${path}?viewerAddress=${viewer}`);
    // Nothing is confirmed here, so that there is no proof.
    const wanted = /proof|history/.test(path) ? 409 : 200;
    assert.deepEqual([open.status, allowed.status], [wanted, wanted], path);
    assertError(await fixture.call('GET', assetId, `${path}?viewerAddress=${nobody}`), 'viewer_not_allowed');
    assertError(
      await fixture.call('GET', 'nothing', `${path}?viewerAddress=${nobody}`),
      'resource_not_found',
    );
    assertError(await fixture.call('GET', 'nothing', path), 'resource_not_found');
    const { json } = await fixture.call('GET', assetId, 'access-log/?limit=3');
    assert.deepEqual(
      json.map((look: Record<string, unknown>) => [look.what, look.viewerAddress, look.allowed]),
      [
        [what, nobody, false],
        [what, viewer, true],
        [what, vault.address, true],
      ],
    );
  }
});

test('answers each of many concurrent accesses separately, and logs it once', async () => {
  const vault = await fixture.newVault();
  const mine = await fixture.newAsset({ vaultAddress: vault.address });
  const other = await fixture.newAsset();
  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, n) => look([mine, other, 'nothing'][n % 3] ?? '', vault.address)),
  );
  assert.ok(answers.every(({ status }, n) => status === [200, 403, 404][n % 3]));
  const { rows } = await fixture.sql(
    'select asset_id, allowed, count(*)::int as looks from asset_access_log where asset_id = any($1) group by 1, 2',
    [[mine, other, 'nothing']],
  );
  assert.deepEqual(
    new Map(rows.map(({ asset_id, allowed, looks }) => [asset_id, [allowed, looks]])),
    new Map([
      [mine, [true, 40]],
      [other, [false, 40]],
    ]),
  );
});

test('a key with read access to assets cannot change who sees them', async () => {
  const assetId = await fixture.newAsset();
  const key = await service.makeKey({ scopes: ['assets:read'] });
  const body = { viewers: [randomAddress()] };
  assertError(await fixture.call('POST', assetId, 'viewers/', { key, body }), 'forbidden', /assets:write/);
  assert.equal((await fixture.call('GET', assetId, 'viewers/', { key })).status, 200);
});

test('the audit log has grants and assignments', async () => {
  const assetId = await fixture.newAsset();
  const [worker, viewer] = [await fixture.newWorker(), randomAddress()];
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  await grant(assetId, [viewer]);
  await fixture.call('DELETE', assetId, `viewers/${viewer}/`);
  await fixture.call('DELETE', assetId, `workers/${worker}`);
  const query = `targetId=${encodeURIComponent(assetId)}`;
  const { json } = await service.call('GET', `/api-v1/platform/audit-log?${query}`);
  assert.deepEqual(
    json.map(({ action }: { action: string }) => action),
    [
      'asset.unassign_worker',
      'asset.revoke_viewer',
      'asset.grant_viewers',
      'asset.assign_workers',
      'asset.create',
    ],
  );
});
