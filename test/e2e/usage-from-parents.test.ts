/** What a part runs while it is installed: the usage of its parents, passed on, however deep, and corrected with them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AssetFixture, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let assets: AssetFixture;
let vaultAddress: string;
let worker: string;

before(async () => {
  service = await startService();
  assets = openAssetFixture(service);
  vaultAddress = (await assets.newVault()).address;
  worker = await assets.newWorker();
});
after(() => service.close());

/** The day of 2026. */
const day = (number: number, hour = 12) => new Date(Date.UTC(2026, 0, number, hour)).toISOString();

async function newAsset(usage: object = {}): Promise<string> {
  const assetId = await assets.newAsset({ vaultAddress, usage });
  await assets.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  return assetId;
}

async function ok(assetId: string, method: string, path: string, body?: object) {
  const answer = await assets.call(method, assetId, path, { body });
  assert.ok(answer.status < 300, answer.text);
  return answer.json;
}

/** An entry that states how much the asset had run. */
async function ran(assetId: string, performedAt: string, usage: object, more: object = {}): Promise<string> {
  const body = {
    workerAddress: worker,
    type: 'note',
    summary: 'Counters read',
    performedAt,
    data: { usage },
    ...more,
  };
  return (await ok(assetId, 'POST', 'maintenances/', body)).maintenanceId;
}

const install = (assetId: string, parentAssetId: string, at: string) =>
  ok(assetId, 'POST', 'install/', { parentAssetId, at });
const remove = (assetId: string, at: string) => ok(assetId, 'POST', 'remove/', { at });
const usageOf = async (assetId: string) => {
  const { usage, usageFromParents } = await ok(assetId, 'GET', '');
  return [usage.hours, usage.cycles, usageFromParents.hours, usageFromParents.cycles];
};

test('a part runs what its parent runs from its installation until its removal', async () => {
  const [aircraft, pump] = [await newAsset({ hours: 1_000, cycles: 500 }), await newAsset({ hours: 20 })];
  await ran(aircraft, day(5), { hours: 1_100.1, cycles: 550 });
  await install(pump, aircraft, day(6));
  assert.deepEqual(await usageOf(pump), [20, 0, 0, 0], 'an entry before the installation does not count');
  await ran(aircraft, day(10), { hours: 1_130.4, cycles: 560 });
  assert.deepEqual(await usageOf(pump), [50.3, 10, 30.3, 10]);
  // Recorded late: it is the work that counts, not when it was recorded.
  await ran(aircraft, day(4), { hours: 1_120 });
  assert.deepEqual(await usageOf(pump), [30.4, 10, 10.4, 10]);
  await remove(pump, day(12));
  await ran(aircraft, day(15), { hours: 2_000, cycles: 900 });
  assert.deepEqual(
    await usageOf(pump),
    [30.4, 10, 10.4, 10],
    'what it runs after the removal does not count',
  );
  const [listed] = (await service.call('GET', '/api-v1/damc/assets/?limit=100')).json.filter(
    (one: { assetId: string }) => one.assetId === pump,
  );
  assert.deepEqual(listed.usage, { hours: 30.4, cycles: 10 });
});

test('a part that is installed in another parent runs on with that one', async () => {
  const [first, second, pump] = [
    await newAsset({ hours: 500 }),
    await newAsset({ hours: 9_000 }),
    await newAsset(),
  ];
  await install(pump, first, day(1));
  await ran(first, day(2), { hours: 540 });
  await remove(pump, day(3));
  await ran(second, day(3), { hours: 9_100 });
  await install(pump, second, day(4));
  await ran(second, day(5), { hours: 9_103 });
  await ran(first, day(5), { hours: 700 });
  assert.deepEqual(await usageOf(pump), [43, 0, 43, 0]);
});

test('what is stated of the part itself includes what its parents ran before, and never hides it', async () => {
  const [aircraft, pump] = [await newAsset({ hours: 100 }), await newAsset({ hours: 10 })];
  await install(pump, aircraft, day(1));
  await ran(aircraft, day(2), { hours: 150 });
  await ran(pump, day(3), { hours: 65 });
  assert.deepEqual(await usageOf(pump), [65, 0, 0, 0]);
  await ran(aircraft, day(4), { hours: 160 });
  assert.deepEqual(await usageOf(pump), [75, 0, 10, 0]);
  await ran(pump, day(5), { hours: 66 });
  assert.deepEqual(await usageOf(pump), [75, 0, 9, 0], 'less than it has run changes nothing');
  assertError(
    await assets.call('PUT', pump, '', { body: { usage: { hours: 70 } } }),
    'conflict',
    /with what its parents ran while it was installed in them, it is 75/,
  );
  await ok(pump, 'PUT', '', { usage: { hours: 75 } });
  await ok(pump, 'PUT', '', { usage: { hours: 80 } });
  assert.deepEqual(await usageOf(pump), [80, 0, 0, 0]);
});

test('parts of parts run, too, also with what is stated with an asset itself', async () => {
  const [aircraft, engine, pump] = [
    await newAsset({ hours: 100 }),
    await newAsset({ hours: 7 }),
    await newAsset(),
  ];
  await install(engine, aircraft, day(1));
  await install(pump, engine, day(2));
  await ran(aircraft, day(3), { hours: 130 });
  assert.deepEqual(
    [await usageOf(engine), await usageOf(pump)],
    [
      [37, 0, 30, 0],
      [30, 0, 30, 0],
    ],
  );
  await ok(aircraft, 'PUT', '', { usage: { hours: 150 } });
  assert.deepEqual(await usageOf(pump), [50, 0, 50, 0]);
  // Corrected with a reason: it never was as much.
  await ok(aircraft, 'PUT', '', { usage: { hours: 140 }, usageCorrection: 'Misread' });
  assert.deepEqual(await usageOf(pump), [40, 0, 40, 0]);
});

test('a correction of an entry of the parent corrects its parts', async () => {
  const [aircraft, pump] = [await newAsset(), await newAsset()];
  await install(pump, aircraft, day(1));
  const wrong = await ran(aircraft, day(2), { hours: 1_500 });
  assert.deepEqual(await usageOf(pump), [1_500, 0, 1_500, 0]);
  await ran(aircraft, day(2), { hours: 15 }, { supersedes: wrong });
  assert.deepEqual(await usageOf(pump), [15, 0, 15, 0]);
});

test('intervals and life limits of a part come due by its parent, and people are told', async () => {
  const [aircraft, engine, pump] = [await newAsset(), await newAsset(), await newAsset()];
  await install(engine, aircraft, day(1));
  await install(pump, engine, day(1));
  const { id } = await ok(pump, 'POST', 'intervals/', {
    name: 'Life',
    kind: 'life-limit',
    every: { hours: 40 },
    lastDone: { at: day(1), hours: 0 },
  });
  const due = async (assetId: string) =>
    (await assets.call('GET', assetId, `due/?viewerAddress=${vaultAddress}`)).json;
  await ran(aircraft, day(2), { hours: 39.5 });
  const before = await due(pump);
  assert.deepEqual([before.retired, before.intervals[0].remaining.hours], [false, 0.5]);
  assert.deepEqual([before.usage.hours, before.usageFromParents.hours], [39.5, 39.5]);
  const wrong = await ran(aircraft, day(3), { hours: 41 });
  assert.equal((await due(pump)).retired, true);
  assert.deepEqual(
    (await due(aircraft)).retiredParts.map((part: { assetId: string }) => part.assetId),
    [pump],
  );
  const raised = async () =>
    (await service.call('GET', '/api-v1/platform/notices?state=raised')).json.filter(
      (notice: { subject: string }) => notice.subject === id || JSON.stringify(notice).includes(id),
    ).length;
  await waitUntil(async () => (await raised()) > 0);
  await remove(pump, day(4));
  assertError(
    await assets.call('POST', pump, 'install/', { body: { parentAssetId: engine, at: day(5) } }),
    'conflict',
    /reached its life limit/,
  );
  await ran(aircraft, day(3), { hours: 39 }, { supersedes: wrong });
  assert.equal((await due(pump)).retired, false);
});

test('no two assets were ever parts of each other', async () => {
  const [one, other, third] = [await newAsset(), await newAsset(), await newAsset()];
  await install(one, other, day(1));
  await remove(one, day(10));
  const back = (at: string, assetId = other) =>
    assets.call('POST', assetId, 'install/', { body: { parentAssetId: one, at } });
  assertError(await back(day(5)), 'conflict', /was itself a part of/);
  // By way of a third.
  await install(third, other, day(1));
  await remove(third, day(2));
  await install(one, third, day(20));
  assertError(await back(day(5), third), 'conflict');
  await remove(one, day(21));
  assert.equal((await back(day(10))).status, 201);
});
