/** Which licence a sign-off needs follows from rules, not from the author; licences count only while they are valid. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Visitor } from '../support/clients/browser-session.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openSignoffFixture, type SignoffFixture } from '../support/fixtures/signoff-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Service, startService } from '../support/service/service.ts';

const workRules = '/api-v1/damc/signoffs/rules/work/';
let service: Service;
let fixture: SignoffFixture;
let admin: Visitor;
let licences = 0;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openSignoffFixture(service);
  admin = await makePerson(service, 'admin');
});
after(() => service.close());

const held = (scope: string, more: object = {}) => ({ ...licence(scope, `DK.66.${++licences}`), ...more });
const newWorker = (...licences: object[]) => fixture.newWorker({ licences });
const ofAsset = () => `/api-v1/damc/assets/${encodeURIComponent(fixture.assetId)}/rules/`;

async function put(path: string, ...rules: object[]): Promise<void> {
  const answer = await admin.call('PUT', path, { body: { rules } });
  assert.equal(answer.status, 200, answer.text);
}

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

test('the author of an entry does not choose the licence that its sign-offs need', async () => {
  assertError(await fixture.post({ data: { scope: 'paint' } }), 'scope_not_accepted');
  await put(workRules, { type: 'Engine change', scope: 'powerplant', categories: ['B1'], critical: false });
  const id = await fixture.performed({ type: ' engine CHANGE ' });
  const entry = (await service.call('GET', fixture.view(`${id}/details/`))).json.entry;
  assert.deepEqual(entry.requires, { scope: 'powerplant', categories: ['B1'], critical: false });
  for (const wrong of [held('engine change'), held('powerplant'), held('*', { category: 'B2' })]) {
    const worker = await newWorker(wrong);
    await fixture.refused(() => fixture.sign(id, worker, 'certified'), 'licence_out_of_scope', /powerplant/);
  }
  const right = await newWorker(held('powerplant', { category: 'b1' }));
  const signed = await fixture.sign(id, right, 'certified');
  assert.equal(signed.json.licence?.category, 'b1', signed.text);
});

test('a rule of the asset comes first, also for types that the author made up, and later changes do not count', async () => {
  await put(workRules, { type: 'wash', scope: 'wash', categories: [], critical: false });
  await put(ofAsset(), { type: '*', scope: 'hydraulics', categories: [], critical: false });
  const washer = await newWorker(held('wash'), held('anything'));
  const [washed, madeUp] = [
    await fixture.performed({ type: 'wash' }),
    await fixture.performed({ type: 'anything' }),
  ];
  await put(ofAsset());
  await put(workRules);
  for (const id of [washed, madeUp]) {
    await fixture.refused(() => fixture.sign(id, washer, 'certified'), 'licence_out_of_scope', /hydraulics/);
  }
  assert.equal((await fixture.sign(washed, await newWorker(held('hydraulics')), 'certified')).status, 201);
  assert.equal(
    (await fixture.sign(await fixture.performed({ type: 'wash' }), washer, 'certified')).status,
    201,
  );
});

test('a licence that is suspended, expired or not valid yet signs nothing, whatever time is stated', async () => {
  const id = await fixture.performed();
  const refused = async (more: object, code: Parameters<SignoffFixture['refused']>[1]) => {
    const worker = await newWorker(held('repair', more));
    await fixture.refused(() => fixture.sign(id, worker, 'certified'), code, /The licence/);
  };
  await refused({ suspendedAt: day(-1) }, 'licence_suspended');
  await refused({ expiresAt: day(-1) }, 'licence_expired');
  await refused({ validFrom: day(1) }, 'licence_not_yet_valid');
  const [validFrom, suspendedAt] = [day(-1), day(1)];
  const worker = await newWorker(held('repair', { validFrom, suspendedAt, category: 'C' }));
  const signed = await fixture.sign(id, worker, 'certified');
  assert.equal(signed.status, 201, signed.text);
  // As it was then, whatever happens to it afterwards.
  await service.call('PATCH', `/api-v1/damc/workers/${worker}/`, { body: { licences: [] } });
  const { document } = (await service.call('GET', fixture.view(`${id}/signoffs/2/`))).json;
  assert.deepEqual(document.licence, signed.json.licence);
  assert.deepEqual([document.licence.validFrom, document.licence.suspendedAt], [validFrom, suspendedAt]);
});

test('critical work needs an inspector who neither performed nor certifies it', async () => {
  await put(ofAsset(), { type: 'repair', scope: 'repair', categories: [], critical: true });
  const number = held('repair');
  const [certifier, inspector, again] = [
    await newWorker(held('repair')),
    await newWorker(number),
    await newWorker(number),
  ];
  const id = await fixture.performed();
  await fixture.refused(() => fixture.sign(id, certifier, 'certified'), 'inspection_required', /critical/);
  assert.equal((await fixture.sign(id, inspector, 'inspected')).status, 201);
  for (const worker of [inspector, again]) {
    const certify = () => fixture.sign(id, worker, 'certified');
    await fixture.refused(certify, 'inspector_not_independent', /by someone else/);
  }
  assert.equal((await fixture.sign(id, certifier, 'certified')).status, 201);
  await put(ofAsset());
});

test('only an admin in person changes rules, and types are unambiguous', async () => {
  const rule = { type: 'wash', scope: 'wash', categories: [], critical: false };
  for (const path of [workRules, ofAsset()]) {
    const body = { rules: [rule] };
    assertError(await service.call('PUT', path, { body }), 'forbidden');
    const developer = await makePerson(service, 'developer');
    assert.equal((await developer.call('PUT', path, { body })).json.errorCode, 'forbidden');
    const twice = { body: { rules: [rule, { ...rule, type: ' WASH' }] } };
    assert.equal((await admin.call('PUT', path, twice)).json.errorCode, 'invalid_request');
    assert.deepEqual((await service.call('GET', path)).json, { rules: [] });
  }
  const race = await Promise.all(
    ['a', 'b', 'c'].map((scope) => admin.call('PUT', workRules, { body: { rules: [{ ...rule, scope }] } })),
  );
  assert.deepEqual(
    race.map(({ status }) => status),
    [200, 200, 200],
  );
  assertError(await service.call('GET', '/api-v1/damc/assets/none/rules/'), 'resource_not_found');
});
