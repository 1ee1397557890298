/** Every way to judge one's own work under another name: the same person is recognised, and refused. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Visitor } from '../support/clients/browser-session.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openSignoffFixture, type SignoffFixture } from '../support/fixtures/signoff-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Service, startService } from '../support/service/service.ts';

const workers = '/api-v1/damc/workers/';
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

const number = () => `DK.66.${++licences}`;
const licensed = () => fixture.newWorker({ licences: [licence('repair', number())] });

/** Performed by this worker. */
async function performedBy(worker: string, more: object = {}): Promise<string> {
  const { maintenanceId } = await fixture.made({ workerAddress: worker, ...more });
  assert.equal((await fixture.sign(maintenanceId, worker, 'performed')).status, 201);
  return maintenanceId;
}

async function hold(worker: string, ...held: object[]): Promise<void> {
  const answer = await service.call('PATCH', `${workers}${worker}/`, { body: { licences: held } });
  assert.equal(answer.status, 200, answer.text);
}

async function identityOf(worker: string): Promise<string> {
  return (await service.call('GET', `${workers}${worker}/`)).json.identity;
}

const separate = (worker: string) => admin.call('DELETE', `${workers}${worker}/identity/`);

test('a licence with its number written otherwise makes two records one person', async () => {
  const one = await fixture.newWorker({ licences: [licence('paint', 'AT.66.777')] });
  const other = await fixture.newWorker({ licences: [licence('repair', 'at-66 777')] });
  assert.equal(await identityOf(one), await identityOf(other));
  const id = await performedBy(one);
  await fixture.refused(() => fixture.sign(id, other, 'certified'), 'same_licence', /at-66 777/);
  await fixture.refused(() => fixture.sign(id, other, 'inspected'), 'same_licence', /someone else/);
  const abroad = await fixture.newWorker({
    licences: [{ ...licence('repair', 'AT.66.777'), authority: 'FAA' }],
  });
  assert.equal((await fixture.sign(id, abroad, 'certified')).status, 201);
});

test('a licence that is taken away between performing and certifying still names its holder', async () => {
  const held = number();
  const performer = await fixture.newWorker({ licences: [licence('repair', held)] });
  const id = await performedBy(performer);
  await hold(performer);
  const other = await fixture.newWorker({ licences: [licence('repair', held)] });
  await fixture.refused(() => fixture.sign(id, other, 'certified'), 'same_licence', /belongs to someone/);
  await hold(other, licence('repair', number()));
  await fixture.refused(() => fixture.sign(id, other, 'certified'), 'same_person', /the same person as/);
});

test('persons who are one through a third record are one', async () => {
  const [first, second] = [number(), number()];
  const performer = await fixture.newWorker({ licences: [licence('paint', first)] });
  const certifier = await fixture.newWorker({ licences: [licence('repair', second)] });
  await fixture.newWorker({ licences: [licence('paint', first), licence('paint', second)] });
  const id = await performedBy(performer);
  await fixture.refused(() => fixture.sign(id, certifier, 'certified'), 'same_person', /the same person as/);
});

test('workers who were said to be one person, or are the same member, are one', async () => {
  const [performer, certifier, another] = [await fixture.newWorker(), await licensed(), await licensed()];
  const id = await performedBy(performer);
  const body = { workerAddress: performer };
  const joined = await service.call('PUT', `${workers}${certifier}/identity/`, { body });
  assert.equal(joined.json.identity, await identityOf(performer), joined.text);
  await fixture.refused(() => fixture.sign(id, certifier, 'certified'), 'same_person', /the same person as/);

  const member = await makePerson(service, 'developer');
  const userId = (await member.call('GET', '/api-v1/platform/me')).json.id;
  const bind = (worker: string, method: 'PUT' | 'DELETE') =>
    admin.call(method, `${workers}${worker}/person/`, method === 'PUT' ? { body: { userId } } : {});
  assert.equal((await bind(performer, 'PUT')).status, 200);
  assert.equal((await bind(performer, 'DELETE')).status, 204);
  assert.equal((await bind(another, 'PUT')).status, 200);
  await fixture.refused(() => fixture.sign(id, another, 'certified'), 'same_person', /the same person as/);
});

test('two records of one person do not make two certifiers', async () => {
  const held = number();
  const one = await fixture.newWorker({ licences: [licence('repair', held)] });
  const other = await fixture.newWorker({ licences: [licence('repair', held)] });
  const id = await performedBy(fixture.worker);
  assert.equal((await fixture.sign(id, one, 'certified')).status, 201);
  await fixture.refused(() => fixture.sign(id, other, 'certified'), 'same_person', /already signed as/);
});

test('a correction by a colleague is not certified by who did the corrected work, however far back', async () => {
  const [performer, signer, colleague] = [await licensed(), await licensed(), await licensed()];
  const first = await performedBy(performer);
  assert.equal((await fixture.sign(first, signer, 'performed')).status, 201);
  const second = await performedBy(colleague, { supersedes: first });
  const third = await performedBy(colleague, { supersedes: second });
  for (const role of ['inspected', 'certified']) {
    for (const worker of [performer, signer]) {
      const refused = () => fixture.sign(third, worker, role);
      await fixture.refused(refused, 'performer_of_corrected', /that this one corrects/);
    }
  }
  // Nor under another record.
  const again = await fixture.newWorker({ licences: [licence('repair', number())] });
  await service.call('PUT', `${workers}${again}/identity/`, { body: { workerAddress: performer } });
  await fixture.refused(
    () => fixture.sign(third, again, 'certified'),
    'performer_of_corrected',
    /that this one corrects/,
  );
  await fixture.refused(() => fixture.sign(third, colleague, 'certified'), 'conflict', /did the work/);
  assert.equal((await fixture.sign(third, await licensed(), 'certified')).status, 201);
});

test('workers who are separated remain one person for what was recorded before', async () => {
  const held = number();
  const performer = await fixture.newWorker({ licences: [licence('repair', held)] });
  const other = await fixture.newWorker({ licences: [licence('repair', held)] });
  const before = await performedBy(performer);
  assertError(await separate(performer), 'conflict');
  await hold(performer);
  assert.equal((await separate(performer)).status, 204);
  assert.notEqual(await identityOf(performer), await identityOf(other));
  await fixture.refused(() => fixture.sign(before, other, 'certified'), 'same_person', /the same person as/);
  // Nor after the other one became one with a third.
  await service.call('PUT', `${workers}${other}/identity/`, { body: { workerAddress: await licensed() } });
  await fixture.refused(() => fixture.sign(before, other, 'certified'), 'same_person', /the same person as/);
  const later = await performedBy(performer);
  assert.equal((await fixture.sign(later, other, 'certified')).status, 201);

  assertError(await service.call('DELETE', `${workers}${other}/identity/`), 'forbidden');
  const { rows } = await service.sql(
    "select details from audit_entries where action = 'worker.identify' order by at, id",
  );
  assert.ok(rows.every(({ details: { identity } }) => !identity.from.includes(identity.to)));
  assert.ok(rows.some(({ details: { identity } }) => identity.to.startsWith('prs_')));
});

test('two records get the same licence at the same time, and are one person', async () => {
  for (let round = 0; round < 5; round += 1) {
    const pair = [await fixture.newWorker(), await fixture.newWorker()];
    const held = licence('repair', number());
    await Promise.all(pair.map((worker) => hold(worker, held)));
    const [one, other] = await Promise.all(pair.map(identityOf));
    assert.equal(one, other);
  }
});

test('no other workspace has a say in who is who', async () => {
  const worker = await fixture.newWorker();
  const stranger = await service.makeKey({ newWorkspace: true });
  const answer = await service.call('PUT', `${workers}${worker}/identity/`, {
    body: { workerAddress: fixture.worker },
    key: stranger,
  });
  assertError(answer, 'resource_not_found');
});
