/** Keys that the service holds: used only by the worker in person, or on behalf of the worker, which the sign-off says. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Visitor } from '../support/clients/browser-session.ts';
import { openSignoffFixture, type SignoffFixture } from '../support/fixtures/signoff-fixture.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: SignoffFixture;
let owner: Visitor;
const workers = '/api-v1/damc/workers/';
const rules = '/api-v1/damc/signoffs/rules/';

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openSignoffFixture(service);
  owner = await makePerson(service, 'owner');
});
after(() => service.close());

const idOf = async (person: Visitor) => (await person.call('GET', '/api-v1/platform/me')).json.id as string;
const signAs = (person: Visitor, id: string, workerAddress: string) =>
  person.call('POST', fixture.url(`${id}/signoffs/`), { body: { workerAddress, role: 'performed' } });
const bind = (person: Visitor, worker: string, userId: string) =>
  person.call('PUT', `${workers}${worker}/person/`, { body: { userId } });

test('a key with every scope but the named one signs for nobody, and with it says on whose behalf', async () => {
  const { maintenanceId: other } = await fixture.made();
  await fixture.refused(() => signWith(other, service.key), 'forbidden', /signoffs:on-behalf/);
  const key = await service.makeKey({ scopes: ['assets:write', 'signoffs:on-behalf'] });
  const signed = await signWith(other, key);
  assert.equal(signed.status, 201, signed.text);
  assert.equal(signed.json.signedWith, 'held-key');
  assert.match(
    signed.json.statement,
    /^Signed by the service on behalf of Mia Berg, at the request of .* key_/,
  );
  const { document } = (await service.call('GET', fixture.view(`${other}/signoffs/1/`))).json;
  assert.equal(document.format, 'holdfast/signoff@2');
  assert.match(document.signedWith.apiKeyId, /^key_/);
});

function signWith(id: string, key: string) {
  return fixture.signOff(id, { workerAddress: fixture.worker, role: 'performed' }, { key });
}

test('only an admin who is signed in, or the operator, makes a key that signs on behalf of workers', async () => {
  const body = { name: 'signs', scopes: ['signoffs:on-behalf'] };
  const keys = '/api-v1/platform/api-keys';
  const developer = await makePerson(service, 'developer');
  assert.equal((await service.call('POST', keys, { body })).json.errorCode, 'forbidden');
  assert.equal((await developer.call('POST', keys, { body })).json.errorCode, 'forbidden');
  assert.equal((await owner.call('POST', keys, { body })).status, 201);
});

test('a person signs as the worker that they are, shortly after signing in, and as nobody else', async () => {
  const { maintenanceId: id } = await fixture.made();
  const worker = await fixture.newWorker({ name: 'Ada Lund' });
  const [person, other] = [await makePerson(service, 'developer'), await makePerson(service, 'admin')];
  const refuse = (code: Parameters<typeof fixture.refused>[1], by: Visitor, message: RegExp) =>
    fixture.refused(() => signAs(by, id, worker), code, message);
  await refuse('not_the_signer', person, /No person is bound/);
  assert.equal((await bind(person, worker, await idOf(person))).json.errorCode, 'forbidden');
  assert.equal((await bind(owner, worker, await idOf(owner))).json.errorCode, 'second_person_required');
  assert.equal((await bind(owner, worker, 'usr_nobody')).json.errorCode, 'resource_not_found');
  const bound = await bind(owner, worker, await idOf(person));
  assert.equal(bound.json.userId, await idOf(person), bound.text);
  await refuse('not_the_signer', other, /You are not the worker/);
  await refuse('not_the_signer', owner, /You are not the worker/);
  // A cookie that was stolen from a session of yesterday.
  await service.sql("update sessions set confirmed_at = confirmed_at - interval '11 minutes'");
  await refuse('step_up_required', person, /Confirm that it is you/);
  assert.equal((await bind(owner, worker, await idOf(other))).json.errorCode, 'step_up_required');
  await service.sql("update sessions set confirmed_at = confirmed_at + interval '11 minutes'");
  const signed = await signAs(person, id, worker);
  assert.equal(signed.status, 201, signed.text);
  assert.equal(
    signed.json.statement,
    'Signed by Ada Lund, in their own session, with a key that the service holds for them.',
  );
});

test('a workspace can refuse held keys for a role', async () => {
  const developer = await makePerson(service, 'developer');
  assert.equal(
    (await service.call('PUT', rules, { body: { ownKey: [] } })).json.errorCode,
    'forbidden',
    'an API key cannot relax the rules',
  );
  assert.equal((await developer.call('PUT', rules, { body: { ownKey: [] } })).json.errorCode, 'forbidden');
  const put = await owner.call('PUT', rules, { body: { ownKey: ['certified', 'performed'] } });
  assert.deepEqual(put.json, { ownKey: ['performed', 'certified'] }, put.text);
  const { maintenanceId: id } = await fixture.made();
  await fixture.refused(
    () => fixture.sign(id, fixture.worker, 'performed'),
    'signers_key_required',
    /passkey/,
  );
  await owner.call('PUT', rules, { body: { ownKey: [] } });
  assert.deepEqual((await service.call('GET', rules)).json, { ownKey: [] });
  assert.equal((await fixture.sign(id, fixture.worker, 'performed')).status, 201);
});
