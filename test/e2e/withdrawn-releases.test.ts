/** A release that was corrected: withdrawn at once, wherever it is asked for, until its correction is certified. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openSignoffFixture, type SignoffFixture } from '../support/fixtures/signoff-fixture.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: SignoffFixture;
let certifier: string;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openSignoffFixture(service);
  certifier = await fixture.newWorker({ licences: [licence('repair', 'DK.66.1')] });
});
after(() => service.close());

async function certified(body: object = {}): Promise<string> {
  const id = await fixture.performed(body);
  const answer = await fixture.sign(id, certifier, 'certified');
  assert.equal(answer.status, 201, answer.text);
  return id;
}

const releaseOf = async (id: string) =>
  (await service.call('GET', fixture.view(`${id}/details/`))).json.release;

async function withdrawn(): Promise<[string, string][]> {
  const path = fixture.view('').replace('maintenances/', 'due/');
  const { withdrawnReleases } = (await service.call('GET', path)).json;
  return withdrawnReleases.map(({ maintenanceId, correctedBy }: Record<string, string>) => [
    maintenanceId,
    correctedBy,
  ]);
}

async function told(): Promise<object[]> {
  const { rows } = await service.sql(
    "select envelope from events where type = 'maintenance.release.withdrawn' order by id",
  );
  return rows.map(({ envelope }) => JSON.parse(envelope).data);
}

test('a corrected release is withdrawn until a correction is certified, however many there are', async () => {
  const open = await fixture.performed();
  assert.equal(await releaseOf(open), 'none');
  const id = await certified({ summary: 'Seal replaced' });
  assert.equal(await releaseOf(id), 'released');
  assert.deepEqual(await withdrawn(), []);
  const first = await fixture.performed({ supersedes: id });
  assert.deepEqual([await releaseOf(id), await releaseOf(first)], ['withdrawn', 'none']);
  assert.deepEqual(await withdrawn(), [[id, first]]);
  const second = await fixture.performed({ supersedes: first });
  assert.deepEqual(await withdrawn(), [[id, second]]);
  assert.equal((await fixture.sign(second, certifier, 'certified')).status, 201);
  assert.deepEqual([await releaseOf(id), await releaseOf(second)], ['withdrawn', 'released']);
  assert.deepEqual(await withdrawn(), []);
  const third = await fixture.performed({ supersedes: second });
  assert.deepEqual(await withdrawn(), [[second, third]]);
  const listed = (await service.call('GET', fixture.view(''))).json;
  const states = Object.fromEntries(
    listed.map(({ maintenanceId, release }: Record<string, string>) => [maintenanceId, release]),
  );
  assert.deepEqual([states[id], states[second], states[third]], ['withdrawn', 'withdrawn', 'none']);
});

test('an event reports each release that is withdrawn, and no other correction', async () => {
  const before = (await told()).length;
  const open = await fixture.performed();
  await fixture.performed({ supersedes: open });
  assert.equal((await told()).length, before);
  const id = await certified();
  const correction = await fixture.performed({ supersedes: id });
  const [event] = (await told()).slice(before) as Record<string, string>[];
  assert.ok(event);
  const { withdrawn_at: at, ...data } = event;
  assert.deepEqual(data, { asset_id: fixture.assetId, maintenance_id: id, corrected_by: correction });
  assert.ok(Math.abs(Date.parse(at ?? '') - Date.now()) < 60_000);
});
