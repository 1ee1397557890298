/** What is due on an asset: intervals by days, hours and cycles, and defects whose repair was deferred. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ErrorCode } from '../../src/runtime/errors.ts';
import { type AssetFixture, fromNow, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const dayMs = 86_400_000;

let service: Service;
let fixture: AssetFixture;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = openAssetFixture(service);
});
after(() => service.close());

const add = (assetId: string, body: object) => fixture.call('POST', assetId, 'intervals/', { body });

async function newAsset(usage: object = {}) {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vaultAddress: vault.address, usage });
  const due = async () => {
    const { status, json, text } = await fixture.call('GET', assetId, `due/?viewerAddress=${vault.address}`);
    assert.equal(status, 200, text);
    return json;
  };
  return { assetId, due };
}

test('an interval states when it is next due, and is overdue once any of its limits is exceeded', async () => {
  const { assetId, due } = await newAsset({ hours: 100, cycles: 40 });
  const at = fromNow(-10 * dayMs);
  const every = { days: 11, hours: 50.5, cycles: 20 };
  const made = await add(assetId, { name: 'A check', every, lastDone: { at, hours: 60.2, cycles: 30 } });
  assert.equal(made.status, 201, made.text);
  assert.match(made.json.id, /^itv_/);
  const asked = Date.now();
  const [first] = (await due()).intervals;
  const answered = Date.now();
  assert.deepEqual(first.nextDue, {
    at: new Date(Date.parse(at) + 11 * dayMs).toISOString(),
    hours: 110.7,
    cycles: 50,
  });
  assert.deepEqual([first.overdue, first.remaining.hours, first.remaining.cycles], [false, 10.7, 10]);
  // In thousandths of a day, and counted between the two.
  const daysFrom = (now: number) => (Date.parse(first.nextDue.at) - now) / dayMs;
  const { days } = first.remaining;
  assert.ok(days <= daysFrom(asked) + 0.0005 && days >= daysFrom(answered) - 0.0005, `${days} days`);

  const put = (usage: object) => fixture.call('PUT', assetId, '', { body: { usage } });
  await put({ cycles: 50 });
  assert.equal((await due()).overdue, false, 'due is not yet overdue');
  await put({ cycles: 51 });
  const late = await due();
  assert.deepEqual(
    [late.overdue, late.intervals[0].overdue, late.intervals[0].remaining.cycles],
    [true, true, -1],
  );

  const path = `intervals/${made.json.id}/`;
  const worker = await fixture.newWorker();
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  const work = async (performedAt: string, usage: object, more: object = {}) => {
    const entry = { workerAddress: worker, type: 'check', summary: 'A check', performedAt, data: { usage } };
    const { json } = await fixture.call('POST', assetId, 'maintenances/', { body: { ...entry, ...more } });
    return json.maintenanceId as string;
  };
  const complete = (completedBy: string) => fixture.call('PUT', assetId, path, { body: { completedBy } });
  const [early, partial] = [await work('1990-01-01T00:00:00Z', {}), await work(fromNow(0), { hours: 100 })];
  await fixture.refused(() => complete('mnt_none'), 'resource_not_found', /no maintenance entry mnt_none/);
  await fixture.refused(() => complete(early), 'conflict', /records work from before/);
  await fixture.refused(() => complete(partial), 'conflict', /does not state data\.usage\.cycles/);
  const whole = await work(fromNow(-1000), { hours: 100, cycles: 51 });
  const { json: completed } = await complete(whole);
  assert.deepEqual([completed.completedBy, completed.lastDone.cycles], [whole, 51]);
  assert.equal((await due()).overdue, false);
  const correction = await work(fromNow(-500), { hours: 99 }, { supersedes: whole });
  const [followed] = (await due()).intervals;
  assert.deepEqual(
    [followed.completedBy, followed.lastDone.hours, followed.lastDone.cycles],
    [correction, 99, 51],
  );
  await fixture.refused(() => complete(whole), 'conflict', /is superseded by/);
  assert.equal((await fixture.call('DELETE', assetId, path)).status, 204);
  assert.deepEqual((await due()).intervals, []);
  await fixture.refused(() => fixture.call('DELETE', assetId, path), 'resource_not_found', /no interval/);
});

test('refuses to change or delete an interval that somebody else has changed meanwhile', async () => {
  const { assetId } = await newAsset();
  const made = await add(assetId, { every: { days: 30 }, lastDone: { at: fromNow(-dayMs) } });
  assert.equal(made.json.version, 1);
  const send = (method: string, seen: string | null, body?: object) =>
    fixture.call(method, assetId, `intervals/${made.json.id}/`, {
      ...(body && { body }),
      headers: seen === null ? {} : { 'if-match': seen },
    });
  const changed = await send('PUT', '"1"', { name: 'Oil change' });
  assert.deepEqual(
    [changed.status, changed.json.version, changed.headers.get('etag')],
    [200, 2, '"2"'],
    changed.text,
  );
  const stale = () => send('PUT', '"1"', { every: { days: 7 } });
  await fixture.refused(stale, 'precondition_failed', /The interval itv_\w+ has changed in the meantime/);
  await fixture.refused(() => send('DELETE', '"1"'), 'precondition_failed', /in the meantime/);
  assert.equal((await send('PUT', null, { every: { days: 7 } })).json.version, 3);
  assert.equal((await send('DELETE', '"3"')).status, 204);
  const { rows } = await fixture.sql(
    `select count(*)::integer as told from events where type = 'asset.intervals.changed' and envelope like $1`,
    [`%${made.json.id}%`],
  );
  assert.equal(rows[0].told, 4);
});

test('an interval in months ends on the same day of a later month, or on its last day', async () => {
  const { assetId, due } = await newAsset();
  for (const [at, months] of [
    ['2024-01-31T12:00:00Z', 1],
    ['2023-11-30T12:00:00Z', 15],
    ['2024-02-29T12:00:00Z', 12],
  ] as const) {
    const { status, text } = await add(assetId, { every: { months }, lastDone: { at } });
    assert.equal(status, 201, text);
  }
  const { intervals } = await due();
  assert.deepEqual(
    intervals.map(({ nextDue }: { nextDue: { at: string } }) => nextDue.at.slice(0, 10)),
    ['2024-02-29', '2025-02-28', '2025-02-28'],
  );
  assert.ok(intervals.every(({ overdue }: { overdue: boolean }) => overdue));
});

test('is not overdue exactly at its limit, and refuses work at hours not reached yet', async () => {
  const { assetId, due } = await newAsset({ hours: 1_050.33333 });
  await add(assetId, { every: { hours: 50 }, lastDone: { at: fromNow(0), hours: 1_000.33333 } });
  const { overdue, intervals } = await due();
  assert.deepEqual([overdue, Math.abs(intervals[0].remaining.hours)], [false, 0]);
  const beyond = { every: { hours: 50 }, lastDone: { at: fromNow(0), hours: 1_051 } };
  await fixture.refused(() => add(assetId, beyond), 'conflict', /has run only 1050\.33333 in total/);
  const before = { every: { days: 1 }, lastDone: { at: '1899-12-31T23:59:59Z' } };
  await fixture.refused(() => add(assetId, before), 'invalid_request', /before the year 1900/);
  const back = { lastDone: { at: '1900-01-01T00:00:00Z' } };
  const change = () => fixture.call('PUT', assetId, `intervals/${intervals[0].id}/`, { body: back });
  await fixture.refused(change, 'invalid_request', /lastDone/);
});

test('an interval in days alone is overdue after a day, and has no hours or cycles', async () => {
  const { assetId, due } = await newAsset();
  await add(assetId, { every: { days: 30 }, lastDone: { at: fromNow(-31 * dayMs) } });
  const { overdue, intervals } = await due();
  assert.equal(overdue, true);
  assert.deepEqual(
    [intervals[0].name, intervals[0].nextDue.hours, intervals[0].remaining.cycles],
    ['', null, null],
  );
});

test('refuses an interval without a measure, or without what was last done', async () => {
  const { assetId } = await newAsset();
  const lastDone = { at: fromNow(0) };
  for (const [body, message] of [
    [{ every: {}, lastDone }, /days, months, hours or cycles/],
    [{ every: { hours: 1 }, lastDone }, /lastDone.hours is required/],
    [{ every: { cycles: 1 }, lastDone: { ...lastDone, hours: 1 } }, /lastDone.cycles is required/],
    [{ every: { days: 0 }, lastDone }, /every.days/],
    [{ every: { hours: 0 }, lastDone: { ...lastDone, hours: 0 } }, /every.hours/],
    [{ every: { weeks: 1 }, lastDone }, /every.weeks/],
    [{ every: { days: 1 }, lastDone: { at: fromNow(dayMs) } }, /future/],
    [{ every: { days: 1 } }, /lastDone is required/],
  ] as const) {
    await fixture.refused(() => add(assetId, body), 'invalid_request', message);
  }
  const made = (await add(assetId, { every: { days: 1 }, lastDone })).json;
  const change = () =>
    fixture.call('PUT', assetId, `intervals/${made.id}/`, { body: { every: { hours: 5 } } });
  await fixture.refused(change, 'invalid_request', /lastDone.hours is required/);
  const { json } = await fixture.call('GET', assetId, 'intervals/');
  assert.deepEqual(json, [made]);
});

test('the longest possible interval still has a date', async () => {
  const { assetId, due } = await newAsset();
  await add(assetId, { every: { days: 1_000_000 }, lastDone: { at: '9000-01-01T00:00:00Z' } });
  await add(assetId, { every: { days: 1_000_000 }, lastDone: { at: '2020-01-01T00:00:00Z' } });
  const { intervals } = await due();
  assert.equal(intervals.length, 1, 'what was done in the future was refused');
  assert.ok(Date.parse(intervals[0].nextDue.at) > Date.now());
});

test('only those who may see the asset get the due list', async () => {
  const { assetId } = await newAsset();
  const stranger = (await fixture.newVault()).address;
  assertError(await fixture.call('GET', assetId, `due/?viewerAddress=${stranger}`), 'viewer_not_allowed');
});

test('a defect is open until a certified entry closes it, and superseded entries do not count', async () => {
  const { assetId, due } = await newAsset();
  const [worker, certifier] = [await fixture.newWorker(), await fixture.newWorker()];
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker, certifier] } });
  const licences = [{ scope: '*', number: 'DK.66.1', authority: 'EASA', expiresAt: null }];
  await service.call('PATCH', `/api-v1/damc/workers/${certifier}/`, { body: { licences } });
  const post = (type: string, data: object, more: object = {}) => {
    const work = { workerAddress: worker, type, summary: `${type}.`, performedAt: fromNow(-1000) };
    return fixture.call('POST', assetId, 'maintenances/', { body: { ...work, data, ...more } });
  };
  const record = async (...given: Parameters<typeof post>) => {
    const answer = await post(...given);
    assert.equal(answer.status, 202, answer.text);
    return answer.json.maintenanceId as string;
  };
  const certify = async (id: string) => {
    for (const [workerAddress, role] of [
      [worker, 'performed'],
      [certifier, 'certified'],
    ]) {
      const body = { workerAddress, role };
      const signed = await fixture.call('POST', assetId, `maintenances/${id}/signoffs/`, {
        body,
        key: await service.onBehalfKey(),
      });
      assert.equal(signed.status, 201, signed.text);
    }
  };
  const one = async (id: string) =>
    (await due()).openDefects.find(({ maintenanceId }: { maintenanceId: string }) => maintenanceId === id);
  const open = async () =>
    (await due()).openDefects.map(({ maintenanceId }: { maintenanceId: string }) => maintenanceId);

  const leak = await record('Defect', { deferred: { until: '2020-01-31' } });
  const dent = await record('DEFECT ', { deferred: true });
  const stain = await record('defect', {});
  await record('inspection', { deferred: true });
  assert.deepEqual(new Set(await open()), new Set([leak, dent, stain]));
  assert.equal((await due()).overdue, true);
  const { overdue, deferredUntil, repairedBy } = await one(leak);
  assert.deepEqual([overdue, deferredUntil, repairedBy], [true, '2020-01-31T23:59:59.999Z', null]);
  assert.deepEqual([(await one(dent)).deferred, (await one(stain)).deferred], [true, false]);

  const wrong = await record('note', { closes: leak });
  assert.equal((await one(leak)).repairedBy, wrong, 'nobody has certified it');
  await certify(wrong);
  assert.equal(await one(leak), undefined);
  await record('repair', { note: 'was another one' }, { supersedes: wrong });
  assert.equal((await one(leak)).repairedBy, null);
  await certify(await record('repair', { closes: [leak, stain] }));
  assert.deepEqual(await open(), [dent]);
  const worse = await record('defect', { deferred: true }, { supersedes: dent });
  assert.deepEqual(await open(), [worse]);
  await record('note', { was: 'no defect' }, { supersedes: worse });
  assert.deepEqual(await open(), []);

  const refused = async (data: object, code: ErrorCode, message: RegExp) =>
    fixture.refused(() => post('repair', data), code, message);
  for (const until of ['31.12.2025', '2025-02-30', 7, null]) {
    await refused({ deferred: { until } }, 'invalid_request', /data\.deferred\.until/);
  }
  for (const deferred of ['soon', null, []]) await refused({ deferred }, 'invalid_request', /data\.deferred/);
  for (const closes of [7, null, [leak, leak], [{}]])
    await refused({ closes }, 'invalid_request', /data\.closes/);
  await refused({ closes: [leak, 'mnt_none'] }, 'resource_not_found', /no maintenance entry mnt_none/);
  await refused({ closes: wrong }, 'conflict', /is not a defect; its type is "note"/);
  await refused({ closes: dent }, 'conflict', new RegExp(`superseded by ${worse}: close that one instead`));

  const counted = await fixture.call(
    'GET',
    assetId,
    `maintenances/count/?type=DeFeCt&viewerAddress=${worker}`,
  );
  assert.equal(counted.json.count, 4, 'types are told apart by their letters alone');
  const other = await newAsset();
  assert.deepEqual((await other.due()).openDefects, []);
});
