/** Sign-offs over HTTP: signed by the worker's key, in their order, by different people, under licences that hold. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { verifyTypedData } from 'viem/utils';
import { signoffsFault, verifySignoff } from '../../src/maintenance/signing/signoff.ts';
import { recordDigest } from '../../src/proof/content.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openSignoffFixture, type SignoffFixture } from '../support/fixtures/signoff-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: SignoffFixture;
/** Did the work, and signs as performed. */
let mechanic: string;
/** Holds a licence for `repair`. */
let certifier: string;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openSignoffFixture(service);
  mechanic = fixture.worker;
  certifier = await fixture.newWorker({ name: 'Ada Lund', licences: [licence('repair', 'DK.66.1')] });
});
after(() => service.close());

test("an entry is performed, inspected and certified, each sign-off by the worker's key over all of it", async () => {
  const { maintenanceId, maintenanceHash } = await fixture.made();
  const inspector = await fixture.newWorker({ licences: [licence('*', 'DK.66.9')] });
  for (const [worker, role] of [
    [mechanic, 'performed'],
    [inspector, 'inspected'],
    [certifier, 'certified'],
  ] as const) {
    const answer = await fixture.sign(maintenanceId, worker, role);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual([answer.json.role, answer.json.workerAddress], [role, worker]);
    assert.deepEqual([answer.json.status, answer.json.anchor], ['pending', null]);
  }
  const { json } = await service.call('GET', fixture.view(`${maintenanceId}/details/`));
  const { workspaceId } = json.entry;
  assert.deepEqual(
    json.signoffs.map(({ number, role }: { number: number; role: string }) => [number, role]),
    [
      [1, 'performed'],
      [2, 'inspected'],
      [3, 'certified'],
    ],
  );
  const { licence: held, signature, signedAt, workerName } = json.signoffs[2];
  assert.deepEqual(held, {
    ...{ category: null, scope: 'repair', number: 'DK.66.1', authority: 'EASA' },
    ...{ validFrom: null, expiresAt: null, suspendedAt: null },
  });
  assert.equal(workerName, 'Ada Lund');
  const { document } = (await service.call('GET', fixture.view(`${maintenanceId}/signoffs/3/`))).json;
  // As anybody would check it who has only the documentation.
  const field = (name: string, type = 'string') => ({ name, type });
  const signed = {
    address: certifier as Hex,
    domain: { name: 'Holdfast', version: '1' },
    types: {
      Signoff: [
        ...[field('format'), field('workspaceId'), field('assetId'), field('maintenanceId')],
        ...[field('maintenanceHash', 'bytes32'), field('role'), field('workerAddress', 'address')],
        ...[field('workerName'), field('licence', 'Licence[]'), field('signedAt')],
        ...[field('signedWith', 'SignedWith'), field('release', 'Release[]')],
      ],
      Licence: [
        ...[field('category'), field('scope'), field('number'), field('authority')],
        ...[field('validFrom'), field('expiresAt'), field('suspendedAt')],
      ],
      SignedWith: [field('method'), field('apiKeyId')],
      Release: [field('organisation', 'Organisation[]'), field('asset', 'Asset')],
      Organisation: [
        ...[field('name'), field('address'), field('authority'), field('approvalNumber')],
        field('regulation'),
      ],
      Asset: [field('version', 'uint32'), field('name'), field('partNumber'), field('serialNumber')],
    },
    primaryType: 'Signoff',
    message: {
      ...{ format: 'holdfast/signoff@2', workspaceId, assetId: fixture.assetId, maintenanceId },
      ...{ maintenanceHash, role: 'certified', workerAddress: certifier, workerName },
      licence: [
        {
          ...{ category: '', scope: 'repair', number: 'DK.66.1', authority: 'EASA' },
          ...{ validFrom: '', expiresAt: '', suspendedAt: '' },
        },
      ],
      signedAt,
      signedWith: document.signedWith,
      release: [{ organisation: [], asset: document.release.asset }],
    },
    signature,
  } as const;
  assert.equal(await verifyTypedData(signed), true);
  const changed = { ...signed, message: { ...signed.message, role: 'performed' } };
  assert.equal(await verifyTypedData(changed), false);
});

test('anchors a sign-off: its leaf follows that of the entry, and its hash covers its document', async () => {
  const id = await fixture.performed();
  const { json, text } = await service.call('GET', fixture.view(`${id}/signoffs/1/`));
  const { rows } = await fixture.sql('select salt, document from signoffs where maintenance_id = $1', [id]);
  assert.ok(text.endsWith(`,"document":${rows[0].document}}`));
  assert.equal(json.signoffHash, recordDigest(rows[0].salt, json.document));
  const leaves = await fixture.sql(
    "select kind, version, vault_id, leaf, previous_leaf, '0x' || encode(digest, 'hex') as digest from anchor_leaves where subject_id = $1 order by id",
    [id],
  );
  const [entry, signoff] = leaves.rows;
  assert.deepEqual([signoff.kind, signoff.version, signoff.vault_id], ['signoff', 1, fixture.vault.id]);
  assert.deepEqual(signoff.previous_leaf, entry.leaf);
  assert.equal(signoff.digest, json.signoffHash);
  assertError(await service.call('GET', fixture.view(`${id}/signoffs/1/proof/`)), 'conflict');
  assertError(await service.call('GET', fixture.view(`${id}/signoffs/2/`)), 'resource_not_found');
  assertError(
    await service.call('GET', fixture.view(`${id}/signoffs/1/`, `0x${'ab'.repeat(20)}`)),
    'viewer_not_allowed',
  );
});

test('a stored sign-off verifies without the service, and any change is detected', async () => {
  const id = await fixture.performed();
  await fixture.sign(id, certifier, 'certified');
  const { entry, maintenanceHash } = (await service.call('GET', fixture.view(`${id}/details/`))).json;
  const documents = [];
  for (const number of [1, 2]) {
    documents.push((await service.call('GET', fixture.view(`${id}/signoffs/${number}/`))).json.document);
  }
  const of = { ...entry, maintenanceHash };
  for (const document of documents) assert.deepEqual(await verifySignoff(document, of), []);
  assert.equal(signoffsFault(entry, documents), null);
  const [first, second] = documents;
  const changes = {
    role: 'inspected',
    workerAddress: mechanic,
    maintenanceHash: `0x${'00'.repeat(32)}`,
    licence: { ...second.licence, number: 'DK.66.2' },
    signedAt: '2026-01-01T00:00:00.000Z',
    signature: first.signature,
  };
  for (const [name, value] of Object.entries(changes)) {
    assert.notDeepEqual(await verifySignoff({ ...second, [name]: value }, of), [], name);
  }
  const expired = { ...second, licence: { ...second.licence, expiresAt: second.signedAt } };
  assert.match(String(await verifySignoff(expired, of)), /^the licence expired at /);
  assert.match(signoffsFault(entry, [second, first]) ?? '', /performed before/);
  assert.match(
    signoffsFault(entry, [first, { ...second, workerAddress: mechanic }]) ?? '',
    /by someone else/,
  );
  assert.match(
    signoffsFault({ ...entry, requires: { ...entry.requires, scope: 'engine' } }, documents) ?? '',
    /engine/,
  );
});

test('nothing is inspected or certified before it is performed, and no lower role follows', async () => {
  const { maintenanceId: id } = await fixture.made();
  await fixture.refused(
    () => fixture.sign(id, certifier, 'certified'),
    'conflict',
    /signed as performed before/,
  );
  await fixture.refused(
    () => fixture.sign(id, certifier, 'inspected'),
    'conflict',
    /signed as performed before/,
  );
  await fixture.sign(id, mechanic, 'performed');
  assert.equal((await fixture.sign(id, certifier, 'certified')).status, 201);
  const other = await fixture.newWorker({ licences: [licence('repair', 'DK.66.3')] });
  await fixture.refused(
    () => fixture.sign(id, other, 'performed'),
    'conflict',
    /already signed as certified/,
  );
  await fixture.refused(
    () => fixture.sign(id, other, 'inspected'),
    'conflict',
    /already signed as certified/,
  );
  assert.equal((await fixture.sign(id, other, 'certified')).status, 201);
});

test('nobody signs twice in one role, even concurrently', async () => {
  const { maintenanceId: id } = await fixture.made();
  const race = await Promise.all([
    fixture.sign(id, mechanic, 'performed'),
    fixture.sign(id, mechanic, 'performed'),
  ]);
  assert.deepEqual(race.map(({ status }) => status).sort(), [201, 409]);
  await fixture.refused(
    () => fixture.sign(id, mechanic, 'performed'),
    'conflict',
    /already signed as performed/,
  );
  const both = await Promise.all(
    [certifier, certifier].map((worker) => fixture.sign(id, worker, 'certified')),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
});

test('whoever did the work, by signature, entry or licence number, may not certify or inspect it', async () => {
  const licensed = await fixture.newWorker({ licences: [licence('repair', 'DK.66.4')] });
  const { maintenanceId: byEntry } = await fixture.made({ workerAddress: licensed });
  await fixture.sign(byEntry, mechanic, 'performed');
  await fixture.refused(
    () => fixture.sign(byEntry, licensed, 'certified'),
    'conflict',
    /^The worker .* did the work/,
  );
  const signed = await fixture.performed();
  const second = await fixture.newWorker({ licences: [licence('repair', 'DK.66.5')] });
  assert.equal((await fixture.sign(signed, second, 'performed')).status, 201);
  await fixture.refused(
    () => fixture.sign(signed, second, 'certified'),
    'conflict',
    /^The worker .* did the work/,
  );
  await fixture.refused(
    () => fixture.sign(signed, second, 'inspected'),
    'conflict',
    /^The worker .* did the work/,
  );
  // Another name and key, but the licence of the same person, in other letters.
  const again = await fixture.newWorker({ licences: [licence('repair', ' dk.66.5')] });
  await fixture.refused(
    () => fixture.sign(signed, again, 'certified'),
    'same_licence',
    /licence .* belongs to someone who did the work/,
  );
  // It was given away since; what it was signed with still counts.
  const { maintenanceId: used } = await fixture.made();
  assert.equal(
    (await fixture.sign(used, second, 'performed', { licenceScope: 'repair' })).json.licence.number,
    'DK.66.5',
  );
  await service.call('PATCH', `/api-v1/damc/workers/${second}/`, { body: { licences: [] } });
  await fixture.refused(() => fixture.sign(used, again, 'certified'), 'same_licence', /belongs to someone/);
});

test('refuses a licence that is missing, of another scope, or just expired', async () => {
  const id = await fixture.performed();
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const none = await fixture.newWorker();
  await fixture.refused(
    () => fixture.sign(id, none, 'certified'),
    'licence_required',
    /no licence for "repair"/,
  );
  const other = await fixture.newWorker({ licences: [licence('avionics', 'DK.66.6')] });
  await fixture.refused(
    () => fixture.sign(id, other, 'certified'),
    'licence_out_of_scope',
    /no licence for "repair"/,
  );
  await fixture.refused(
    () => fixture.sign(id, other, 'certified', { licenceScope: 'avionics' }),
    'licence_out_of_scope',
    /no licence with the scope "avionics"/,
  );
  await fixture.refused(
    () => fixture.sign(id, other, 'certified', { licenceScope: 'repair' }),
    'licence_out_of_scope',
    /no licence with the scope "repair"/,
  );
  const late = await fixture.newWorker({ licences: [licence('repair', 'DK.66.7', ago(1))] });
  await fixture.refused(
    () => fixture.sign(id, late, 'certified'),
    'licence_expired',
    /DK\.66\.7 .* expired at/,
  );
  await fixture.refused(() => fixture.sign(id, late, 'inspected'), 'licence_expired', /expired/);
  await service.call('PATCH', `/api-v1/damc/workers/${late}/`, {
    body: { licences: [licence('repair', 'DK.66.7', ago(1)), licence('Repair', 'DK.66.8', ago(-3_600_000))] },
  });
  const answer = await fixture.sign(id, late, 'certified');
  assert.equal(answer.json.licence?.number, 'DK.66.8', answer.text);
});

test('a wider scope covers a narrower one', async () => {
  const id = await fixture.performed({ type: 'engine/borescope' });
  await fixture.refused(
    () => fixture.sign(id, certifier, 'certified'),
    'licence_out_of_scope',
    /no licence for "engine\/borescope"/,
  );
  const narrow = await fixture.newWorker({ licences: [licence('engine/borescope/blade', 'DK.66.10')] });
  await fixture.refused(() => fixture.sign(id, narrow, 'certified'), 'licence_out_of_scope', /no licence/);
  const near = await fixture.newWorker({ licences: [licence('eng', 'DK.66.11')] });
  await fixture.refused(() => fixture.sign(id, near, 'certified'), 'licence_out_of_scope', /no licence/);
  const wide = await fixture.newWorker({ licences: [licence('Engine', 'DK.66.12')] });
  assert.equal((await fixture.sign(id, wide, 'certified')).status, 201);
});

test('refuses to sign a superseded entry, without an assignment, or for an inactive owner', async () => {
  const { maintenanceId: old } = await fixture.made();
  const { maintenanceId: next } = await fixture.made({ supersedes: old });
  await fixture.refused(
    () => fixture.sign(old, mechanic, 'performed'),
    'conflict',
    new RegExp(`superseded by ${next}`),
  );
  const { maintenanceId: id } = await fixture.made();
  const idle = await fixture.newWorker({ assign: false });
  await fixture.refused(() => fixture.sign(id, idle, 'performed'), 'conflict', /not assigned/);
  await fixture.refused(
    () => fixture.sign(id, `0x${'cd'.repeat(20)}`, 'performed'),
    'resource_not_found',
    /no worker/,
  );
  await fixture.refused(
    () => fixture.sign('mnt_none', mechanic, 'performed'),
    'resource_not_found',
    /mnt_none/,
  );
  await fixture.refused(() => fixture.sign(id, mechanic, 'approved'), 'invalid_request', /role/);
  const stranger = await service.makeKey({ newWorkspace: true });
  const body = { workerAddress: mechanic, role: 'performed' };
  assertError(await fixture.signOff(id, body, { key: stranger }), 'resource_not_found');
  const vaultPath = `/api-v1/platform/vaults/${fixture.vault.address}`;
  await service.call('PATCH', `${vaultPath}/deactivate`);
  await fixture.refused(() => fixture.sign(id, mechanic, 'performed'), 'vault_deactivated', /deactivated/);
  await service.call('PATCH', `${vaultPath}/reactivate`);
  assert.equal((await fixture.sign(id, mechanic, 'performed')).status, 201);
});

test('a concurrent correction and sign-off never leave a superseded entry signed afterwards', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { maintenanceId: id } = await fixture.made();
    const [signed, corrected] = await Promise.all([
      fixture.sign(id, mechanic, 'performed'),
      fixture.post({ supersedes: id }),
    ]);
    assert.equal(corrected.status, 202);
    if (signed.status !== 201) assertError(signed, 'conflict', /superseded/);
    await fixture.refused(() => fixture.sign(id, certifier, 'performed'), 'conflict', /superseded/);
  }
});

test('a repeat with the same Idempotency-Key gets the same sign-off', async () => {
  const { maintenanceId: id } = await fixture.made();
  const options = { headers: { 'idempotency-key': randomBytes(8).toString('hex') } };
  const body = { workerAddress: mechanic, role: 'performed' };
  const [first, again] = [await fixture.signOff(id, body, options), await fixture.signOff(id, body, options)];
  assert.equal(first.status, 201, first.text);
  assert.deepEqual([again.status, again.json], [201, first.json]);
});
