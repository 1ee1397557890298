/** Tolerances that are kept with a completion, and life limits, which only a replacement clears. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AssetFixture, fromNow, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { told } from '../support/fixtures/notices-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const dayMs = 86_400_000;

let service: Service;
let fixture: AssetFixture;

before(async () => {
  service = await startService();
  fixture = openAssetFixture(service);
});
after(() => service.close());

const add = (assetId: string, body: object) => fixture.call('POST', assetId, 'intervals/', { body });
const change = (assetId: string, id: string, body: object) =>
  fixture.call('PUT', assetId, `intervals/${id}/`, { body });

async function newAsset(usage: object = {}, vault?: { address: string }) {
  const owner = vault ?? (await fixture.newVault());
  const assetId = await fixture.newAsset({ vaultAddress: owner.address, usage });
  const due = async () => (await fixture.call('GET', assetId, `due/?viewerAddress=${owner.address}`)).json;
  return { assetId, due, vault: owner };
}

test('a completion within the tolerance is kept, also when it is repeated or corrected', async () => {
  const { assetId, due } = await newAsset({ hours: 200 });
  const worker = await fixture.newWorker();
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  const lastDone = { at: fromNow(-10 * dayMs), hours: 100 };
  const body = { name: 'Oil', every: { hours: 50 }, tolerance: { hours: 5 }, lastDone };
  const { json: made } = await add(assetId, body);
  assert.deepEqual(made.tolerance, { days: null, hours: 5, cycles: null });
  const work = async (hours: number, more: object = {}) => {
    const entry = { workerAddress: worker, type: 'check', summary: 'Oil', performedAt: fromNow(-dayMs) };
    const data = { usage: { hours } };
    const answer = await fixture.call('POST', assetId, 'maintenances/', {
      body: { ...entry, data, ...more },
    });
    return answer.json.maintenanceId as string;
  };
  const first = await work(153);
  await change(assetId, made.id, { completedBy: first });
  const nextAt = async () => (await due()).intervals[0].nextDue.hours;
  assert.equal(await nextAt(), 200);
  await change(assetId, made.id, { completedBy: first });
  await change(assetId, made.id, { name: 'Oil and filter', tolerance: {} });
  assert.equal(await nextAt(), 200, 'a repeat and a later change of the tolerance move nothing');
  const correction = await work(156, { supersedes: first });
  assert.equal(await nextAt(), 206, 'it was not within the tolerance after all');
  await work(149, { supersedes: correction });
  assert.equal(await nextAt(), 199, 'it was early');
});

test('a tolerance needs its unit, and is smaller than the interval', async () => {
  const { assetId } = await newAsset();
  const lastDone = { at: fromNow(0), hours: 0, cycles: 0 };
  for (const [body, message] of [
    [{ every: { days: 30 }, tolerance: { hours: 1 } }, /tolerance\.hours needs every\.hours/],
    [{ every: { hours: 30 }, tolerance: { days: 1 } }, /tolerance\.days needs every\.days or every\.months/],
    [{ every: { hours: 30 }, tolerance: { hours: 30 } }, /tolerance\.hours must be smaller/],
    [{ every: { months: 1 }, tolerance: { days: 28 } }, /tolerance\.days must be smaller/],
    [{ every: { days: 30 }, tolerance: { weeks: 1 } }, /tolerance/],
    [{ kind: 'life-limit', every: { hours: 9 }, tolerance: { hours: 1 } }, /life limit has no tolerance/],
    [{ kind: 'for ever', every: { hours: 9 } }, /kind/],
  ] as const) {
    await fixture.refused(() => add(assetId, { ...body, lastDone }), 'invalid_request', message);
  }
});

test('a reached life limit retires the part: only its removal clears the assembly', async () => {
  const engine = await newAsset();
  const disk = await newAsset({ cycles: 90 }, engine.vault);
  const module = await newAsset({}, engine.vault);
  const install = (assetId: string, parentAssetId: string) =>
    fixture.call('POST', assetId, 'install/', { body: { parentAssetId, at: fromNow(0) } });
  assert.equal((await install(module.assetId, engine.assetId)).status, 201);
  assert.equal((await install(disk.assetId, module.assetId)).status, 201);
  const lastDone = { at: '2020-01-01T00:00:00Z', cycles: 0 };
  const { json: limit } = await add(disk.assetId, {
    name: 'Disk life',
    kind: 'life-limit',
    every: { cycles: 100 },
    lastDone,
  });
  const run = (cycles: number, more: object = {}) =>
    fixture.call('PUT', disk.assetId, '', { body: { usage: { cycles }, ...more } });
  await run(99);
  assert.deepEqual([(await disk.due()).retired, (await engine.due()).retiredParts], [false, []]);
  await run(100);
  assert.deepEqual([(await disk.due()).retired, (await disk.due()).overdue], [true, true]);
  const retired = { assetId: disk.assetId, name: 'Pump', intervalId: limit.id, limit: 'Disk life' };
  const above = await engine.due();
  assert.deepEqual([above.retiredParts, above.overdue, above.retired], [[retired], true, false]);
  assert.deepEqual((await module.due()).retiredParts, [retired]);
  const ofLimit = async () =>
    (await told(service, 'asset.maintenance.due')).find(({ data }) => data.interval_id === limit.id);
  await waitUntil(async () => (await ofLimit()) !== undefined);
  const notice = await ofLimit();
  assert.deepEqual([notice?.data.life_limit, notice?.data.due_by], [true, 'cycles']);

  const worker = await fixture.newWorker();
  await fixture.call('POST', disk.assetId, 'workers/', { body: { workers: [worker] } });
  const entry = { workerAddress: worker, type: 'overhaul', summary: 'As new', performedAt: fromNow(0) };
  const { json: done } = await fixture.call('POST', disk.assetId, 'maintenances/', {
    body: { ...entry, data: { usage: { cycles: 100 } } },
  });
  const complete = () => change(disk.assetId, limit.id, { completedBy: done.maintenanceId });
  await fixture.refused(complete, 'conflict', /no work and no sign-off extends/);
  const extend = () => change(disk.assetId, limit.id, { every: { cycles: 500 } });
  await fixture.refused(extend, 'conflict', /explain the correction in limitCorrection/);
  const remove = () => fixture.call('DELETE', disk.assetId, `intervals/${limit.id}/`);
  await fixture.refused(remove, 'conflict', /is reached, so it cannot be deleted/);

  const at = { body: { at: fromNow(0) } };
  assert.equal((await fixture.call('POST', disk.assetId, 'remove/', at)).status, 200);
  assert.deepEqual((await engine.due()).retiredParts, [], 'replaced');
  assert.equal((await disk.due()).retired, true);
  assertError(await install(disk.assetId, engine.assetId), 'conflict', /reached its life limit "Disk life"/);

  const corrected = await change(disk.assetId, limit.id, {
    every: { cycles: 500 },
    limitCorrection: 'The manual says 500',
  });
  assert.equal(corrected.status, 200, corrected.text);
  assert.equal((await install(disk.assetId, engine.assetId)).status, 201);
  const { rows } = await fixture.sql(
    `select count(*)::integer as count from audit_entries
     where target_id = $1 and action = 'asset.change_interval' and details::text like '%The manual says 500%'`,
    [disk.assetId],
  );
  assert.equal(rows[0].count, 1);
});
