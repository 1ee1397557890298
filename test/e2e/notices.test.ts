/** Notices about things of a workspace: told once when raised and once when cleared, to that workspace alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { certificate, startReceiver } from '../support/clients/receiver.ts';
import { type AssetFixture, fromNow, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { notices, told, toldTimes, untilLookedAt } from '../support/fixtures/notices-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { webhookSettings } from '../support/openapi/openapi-operations.ts';
import { type Service, startService } from '../support/service/service.ts';

const dayMs = 86_400_000;

let service: Service;
let fixture: AssetFixture;

before(async () => {
  service = await startService({ noticeTimes: { lookMs: 100 } });
  fixture = openAssetFixture(service);
});
after(() => service.close());

const inDays = (days: number) => new Date(Date.now() + days * dayMs);

test('a key that expires soon is told once, and once more when it is revoked', async () => {
  await service.makeKey({ expiresAt: inDays(100) });
  // A short life is no reason: a quarter of it is left before anybody is told.
  await service.makeKey({ expiresAt: inDays(2) });
  await untilLookedAt(service);
  assert.deepEqual(await told(service, 'api_key.expiring'), []);
  const { rows } = await service.sql(
    `update api_keys set expires_at = now() + interval '13 days', created_at = now() - interval '1 year'
     where expires_at > now() + interval '50 days' returning id`,
  );
  const [raised] = await toldTimes(service, 'api_key.expiring', { times: 1 });
  assert.equal(raised?.data.state, 'raised');
  assert.equal(raised?.data.key_id, rows[0].id);
  const [listed] = await notices(service, '?state=raised');
  assert.equal(listed.id, raised?.data.notice_id);
  assert.match(listed.title, /^The API key "test" expires on \d{4}-\d\d-\d\d$/);
  const { status } = await service.call('DELETE', `/api-v1/platform/api-keys/${rows[0].id}`);
  assert.equal(status, 204);
  const [, cleared] = await toldTimes(service, 'api_key.expiring', { times: 2 });
  assert.deepEqual([cleared?.data.state, cleared?.data.notice_id], ['cleared', raised?.data.notice_id]);
  assert.deepEqual(await notices(service, '?state=raised'), []);
  assert.equal((await notices(service, '?state=cleared'))[0].clearedAt !== null, true);
});

test('the time of a key that expires later is kept as one row, whatever changes', async () => {
  const planned = async () =>
    (await service.sql(`select thing, at from notice_looks where kind = 'api_key' and planned`)).rows;
  const before = (await planned()).length;
  await service.makeKey({ expiresAt: inDays(200) });
  await service.makeKey({ expiresAt: inDays(200) });
  await untilLookedAt(service);
  assert.equal((await planned()).length, before + 2);
  for (const days of [210, 220, 230]) {
    await service.sql(
      `update api_keys set expires_at = now() + $1 * interval '1 day' where expires_at > now() + interval '150 days'`,
      [days],
    );
    await untilLookedAt(service);
  }
  assert.equal((await planned()).length, before + 2);
});

test('work is told when it is due by hours, not before, and when it is done; and told again when it is due again', async () => {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vaultAddress: vault.address, usage: { hours: 100 } });
  const worker = await fixture.newWorker();
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  const lastDone = { at: fromNow(-dayMs), hours: 100 };
  const body = { name: 'Oil change', every: { hours: 50, days: 300 }, lastDone };
  const { json: interval } = await fixture.call('POST', assetId, 'intervals/', { body });
  const work = async (hours: number) => {
    const entry = { workerAddress: worker, type: 'check', summary: 'Oil', performedAt: fromNow(0) };
    const { json } = await fixture.call('POST', assetId, 'maintenances/', {
      body: { ...entry, data: { usage: { hours } } },
    });
    return json.maintenanceId as string;
  };
  await work(149.9);
  await untilLookedAt(service);
  assert.deepEqual(await told(service, 'asset.maintenance.due'), []);
  const { rows } = await service.sql(
    `select at from notice_looks where kind = 'asset' and thing = $1 and planned`,
    [assetId],
  );
  const dueAt = Date.parse(lastDone.at) + 300 * dayMs;
  assert.deepEqual(rows, [{ at: new Date(dueAt) }], 'looked at again when the days are over');

  const entry = await work(150);
  const [raised] = await toldTimes(service, 'asset.maintenance.due', { times: 1 });
  assert.deepEqual(
    [raised?.data.asset_id, raised?.data.interval_id, raised?.data.due_by, raised?.data.name],
    [assetId, interval.id, 'hours', 'Oil change'],
  );
  await work(160);
  await untilLookedAt(service);
  assert.equal((await told(service, 'asset.maintenance.due')).length, 1, 'still due is not told again');
  const path = `intervals/${interval.id}/`;
  await fixture.call('PUT', assetId, path, { body: { completedBy: entry } });
  const [, cleared] = await toldTimes(service, 'asset.maintenance.due', { times: 2 });
  assert.equal(cleared?.data.state, 'cleared');
  await work(201);
  const [, , again] = await toldTimes(service, 'asset.maintenance.due', { times: 3 });
  assert.equal(again?.data.state, 'raised');
  assert.notEqual(again?.data.notice_id, raised?.data.notice_id);
  await fixture.call('DELETE', assetId, path);
  await toldTimes(service, 'asset.maintenance.due', { times: 4 });
});

test('work is told when its day comes, without any change', async () => {
  const assetId = await fixture.newAsset({ vaultAddress: (await fixture.newVault()).address });
  const lastDone = { at: fromNow(-dayMs) };
  await fixture.call('POST', assetId, 'intervals/', { body: { name: 'Look', every: { days: 2 }, lastDone } });
  await untilLookedAt(service);
  const before = (await told(service, 'asset.maintenance.due')).length;
  // As if the day had passed: neither trigger fires for this.
  await service.sql('alter table asset_intervals disable trigger intervals_change');
  await service.sql(`update asset_intervals set done_at = done_at - interval '1 day' where asset_id = $1`, [
    assetId,
  ]);
  await service.sql('alter table asset_intervals enable trigger intervals_change');
  await service.sql(`update notice_looks set at = now() where thing = $1 and planned`, [assetId]);
  const events = await toldTimes(service, 'asset.maintenance.due', { times: before + 1 });
  assert.deepEqual([events.at(-1)?.data.asset_id, events.at(-1)?.data.due_by], [assetId, 'time']);
});

test('a licence is told 30 days before it expires, and cleared by its renewal', async () => {
  const { json: worker } = await service.call('POST', '/api-v1/damc/workers/', { body: { name: 'Ada' } });
  const licences = (days: number) => [
    { scope: 'B1.1', number: 'AT.66.777', authority: 'ACG', expiresAt: inDays(days).toISOString() },
    { scope: 'C', number: '1', authority: 'ACG', expiresAt: null },
  ];
  const give = async (days: number) => {
    const path = `/api-v1/damc/workers/${worker.address}/`;
    const { status, text } = await service.call('PATCH', path, { body: { licences: licences(days) } });
    assert.equal(status, 200, text);
  };
  await give(31);
  await untilLookedAt(service);
  assert.deepEqual(await told(service, 'worker.licence.expiring'), []);
  await give(29);
  const [raised] = await toldTimes(service, 'worker.licence.expiring', { times: 1 });
  assert.deepEqual(
    [raised?.data.address, raised?.data.scope, raised?.data.number],
    [worker.address, 'B1.1', 'AT.66.777'],
  );
  await give(-1);
  await untilLookedAt(service);
  assert.equal((await told(service, 'worker.licence.expiring')).length, 1, 'an expired one stays');
  await give(400);
  const [, cleared] = await toldTimes(service, 'worker.licence.expiring', { times: 2 });
  assert.equal(cleared?.data.state, 'cleared');
});

test('other workspaces see neither the notices nor the events', async () => {
  const stranger = await service.makeKey({ newWorkspace: true });
  assert.deepEqual(await notices(service, '', stranger), []);
  assert.deepEqual(await told(service, 'asset.maintenance.due', stranger), []);
  assert.notDeepEqual(await notices(service), []);
});

test('the list comes in pages, and needs the scope events:read', async () => {
  const all = await notices(service);
  const first = await service.call('GET', '/api-v1/platform/notices?limit=1');
  const cursor = first.headers.get('x-next-cursor');
  const second = await service.call('GET', `/api-v1/platform/notices?limit=1&cursor=${cursor}`);
  assert.deepEqual([...first.json, ...second.json], all.slice(0, 2));
  const key = await service.makeKey({ scopes: ['files:read'] });
  assertError(await service.call('GET', '/api-v1/platform/notices', { key }), 'forbidden', /events:read/);
});

test('an endpoint that fails is told once, and once more when it works again', async () => {
  const receiver = await startReceiver();
  const own = await startService({
    noticeTimes: { holdMs: 300, lookMs: 100 },
    env: {
      ...webhookSettings,
      HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
      HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '200ms,12h',
    },
  });
  try {
    const url = `${receiver.url}/?secret=canary`;
    const body = { url, eventTypes: ['vault.deactivated', 'endpoint.failing'] };
    const { json: endpoint } = await own.call('POST', '/api-v1/platform/webhooks/endpoints', { body });
    const deactivate = async () => {
      const { json: vault } = await own.call('POST', '/api-v1/platform/vaults', { body: { name: 'V' } });
      await own.call('PATCH', `/api-v1/platform/vaults/${vault.address}/deactivate`);
    };
    receiver.answer = (response) => response.writeHead(503).end();
    await deactivate();
    const [raised] = await toldTimes(own, 'endpoint.failing', { times: 1 });
    assert.deepEqual([raised?.data.endpoint_id, raised?.data.state], [endpoint.id, 'raised']);
    assert.doesNotMatch(JSON.stringify(raised), /canary/);
    receiver.answer = (response) => response.writeHead(204).end();
    await deactivate();
    const [, cleared] = await toldTimes(own, 'endpoint.failing', { times: 2 });
    assert.deepEqual([cleared?.data.state, cleared?.data.notice_id], ['cleared', raised?.data.notice_id]);
  } finally {
    await own.close();
    await receiver.close();
  }
});
