/** Release certificates: in whose name work is released, what a certificate claims, and what it never claims. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Visitor } from '../support/clients/browser-session.ts';
import { readPdf } from '../support/clients/read-pdf.ts';
import { randomAddress } from '../support/fixtures/asset-fixture.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openSignoffFixture, type SignoffFixture } from '../support/fixtures/signoff-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Service, startService } from '../support/service/service.ts';

const url = '/api-v1/damc/signoffs/organisation/';
const organisation = {
  name: 'Nordjet Teknik ApS',
  address: 'Hangar 4, 2300 København',
  authority: 'EASA / Denmark',
  approvalNumber: 'DK.145.0042',
  regulation: 'Part-145',
};
const approvedData = { reference: 'CMM 29-11-07', revision: '12' };
const component = {
  approvedData,
  workOrder: 'WO-2026-118',
  release: { as: 'component', work: 'overhauled', remarks: 'Leak test passed.' },
};

let service: Service;
let fixture: SignoffFixture;
let owner: Visitor;
let licences = 0;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openSignoffFixture(service);
  owner = await makePerson(service, 'owner');
  await service.sql("update assets set part_number = 'HP-45', serial_number = 'HP-0417'");
});
after(() => service.close());

async function state(change: Partial<typeof organisation> = {}): Promise<void> {
  const answer = await owner.call('PUT', url, { body: { ...organisation, ...change } });
  assert.equal(answer.status, 200, answer.text);
}

/** Certified by somebody who holds their own key. */
async function certified(data: object, more: object = {}): Promise<string> {
  const id = await fixture.performed({ data, ...more });
  await certify(id);
  return id;
}

async function certify(id: string): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey());
  const held = [licence('repair', `DK.66.${++licences}`)];
  await fixture.newWorker({ name: 'Zoë Åberg', address: account.address, licences: held });
  const asked = `${id}/signoffs/request/?workerAddress=${account.address}&role=certified`;
  const { domain, types, primaryType, message, signedAt } = (await service.call('GET', fixture.url(asked)))
    .json;
  const signature = await account.signTypedData({ domain, types, primaryType, message });
  const answer = await fixture.sign(id, account.address, 'certified', { signature, signedAt });
  assert.equal(answer.status, 201, answer.text);
}

async function certificate(id: string): Promise<string> {
  const response = await fetch(service.url + fixture.view(`${id}/release-certificate/`), {
    headers: { 'x-api-key': service.key },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/pdf');
  return readPdf(Buffer.from(await response.arrayBuffer())).text.replaceAll(/\s+/g, ' ');
}

function assertSays(text: string, ...said: string[]): void {
  for (const words of said) assert.ok(text.includes(words), `it does not say: ${words}\n${text}`);
}

test('a component is released in the boxes of an EASA Form 1', async () => {
  await state();
  const id = await certified(component);
  const text = await certificate(id);
  assertSays(text, '1. Approving competent authority / country EASA / Denmark');
  assertSays(text, 'AUTHORISED RELEASE CERTIFICATE EASA FORM 1', `3. Form tracking number ${id}`);
  assertSays(text, '4. Organisation name and address Nordjet Teknik ApS Hangar 4, 2300 København');
  assertSays(text, '5. Work order / contract / invoice WO-2026-118', '6. Item 1');
  assertSays(text, '7. Description Hydraulic pump 8. Part no. HP-45 9. Qty. 1 10. Serial no. HP-0417');
  assertSays(
    text,
    '11. Status / work OVERHAULED',
    'Approved data: CMM 29-11-07, revision 12',
    'Leak test passed.',
  );
  assertSays(text, '14a. ☒ Part-145.A.50 release to service ☐ Other regulation specified in block 12');
  assertSays(text, 'the items are considered ready for release to service');
  assertSays(text, '14b. Authorised signature Signed by Zoë Åberg with their own key.');
  assertSays(text, '14c. Certificate / approval ref. no. DK.145.0042', '14d. Name Zoë Åberg');
  assert.match(text, /14e\. Date \(dd mmm yyyy\) \d\d [A-Z][a-z]{2} \d{4}/);
  assert.doesNotMatch(text, /Not an EASA Form 1|does not replace a form/);
});

test('a certificate keeps what was stated when it was certified', async () => {
  await state();
  const id = await certified(component);
  await state({ name: 'Somebody else', approvalNumber: '' });
  const before = (await service.call('GET', `/api-v1/damc/assets/${encodeURIComponent(fixture.assetId)}/`))
    .json;
  const { document } = (await service.call('GET', fixture.view(`${id}/signoffs/2/`))).json;
  assert.deepEqual(document.release, {
    organisation,
    asset: { version: before.version, name: before.name, partNumber: 'HP-45', serialNumber: 'HP-0417' },
  });
  await service.sql("update assets set part_number = 'HP-46'");
  try {
    const text = await certificate(id);
    assertSays(text, 'EASA FORM 1', 'Nordjet Teknik ApS', '8. Part no. HP-45', 'DK.145.0042');
    assert.doesNotMatch(text, /Somebody else|HP-46/);
  } finally {
    await service.sql("update assets set part_number = 'HP-45'");
  }
});

test('without what makes it an EASA Form 1, it says that it is none, and why', async () => {
  const none = 'Neither: this is no release under Part-145 or another regulation.';
  await state({ approvalNumber: '' });
  const text = await certificate(await certified(component));
  assertSays(
    text,
    'RELEASE CERTIFICATE, not an EASA Form 1',
    none,
    '14c. Certificate / approval ref. no. none stated',
  );
  assertSays(
    text,
    'Not an EASA Form 1',
    'It lacks the approval number of the organisation.',
    '☐ Part-145.A.50',
    '☐ Other regulation',
  );
  assert.doesNotMatch(text, /☒|AUTHORISED RELEASE CERTIFICATE|ready for release/);
  assertSays(text, 'It does not replace a form that a regulation requires.');
  await state();
  const { approvedData: _, ...without } = component;
  assertSays(
    await certificate(await certified(without)),
    none,
    'lacks the approved data that the work was done by',
  );
  const onBehalf = await fixture.performed({ data: component });
  const certifier = await fixture.newWorker({ licences: [licence('repair', `DK.66.${++licences}`)] });
  assert.equal((await fixture.sign(onBehalf, certifier, 'certified')).status, 201);
  assertSays(await certificate(onBehalf), none, 'the service signed on their behalf');
  for (const stated of ['', ' ']) {
    const empty = { name: stated, address: '', authority: '', approvalNumber: '', regulation: stated };
    await state(empty);
    assertSays(
      await certificate(await certified(component)),
      none,
      'lacks the name of the organisation, the address',
    );
  }
});

test('another regulation is named where the form names it', async () => {
  await state({ regulation: 'Part-CAO' });
  const cao = await certificate(await certified(component));
  assertSays(
    cao,
    'EASA FORM 1',
    '☐ Part-145.A.50 release to service ☒ Other regulation specified in block 12',
  );
  assertSays(cao, 'accomplished in accordance with Part-CAO', 'This is not a release under Part-145.');
  await state({ regulation: 'CAR 145', authority: 'GCAA / United Arab Emirates' });
  const car = await certificate(await certified(component));
  assertSays(
    car,
    'AUTHORISED RELEASE CERTIFICATE, in the layout of an EASA Form 1',
    'in accordance with CAR 145',
  );
  assert.doesNotMatch(car, /EASA FORM 1/);
});

test('an aircraft is released by a certificate of release to service, and anything else in its own form', async () => {
  await state();
  const aircraft = await certificate(await certified({ approvedData, release: { as: 'aircraft' } }));
  assertSays(
    aircraft,
    'CERTIFICATE OF RELEASE TO SERVICE',
    'Approval ref. no. DK.145.0042',
    'Aircraft Hydraulic pump',
  );
  assertSays(aircraft, 'Part-145.A.50. Certifies that the work specified, except as otherwise specified');
  assert.doesNotMatch(aircraft, /EASA FORM 1/);
  const plain = await certificate(
    await certified({ approvedData: [approvedData, { reference: 'AD 2025-0123' }] }),
  );
  assertSays(
    plain,
    'CMM 29-11-07, revision 12; AD 2025-0123',
    'Approval DK.145.0042 (Part-145, EASA / Denmark)',
  );
  assertSays(plain, 'It does not replace a form that a regulation requires.');
  assert.doesNotMatch(plain, /EASA FORM 1|CERTIFICATE OF RELEASE TO SERVICE/);
});

test('a corrected release is withdrawn, and its correction says which one it replaces', async () => {
  await state();
  const id = await certified(component);
  const correction = await certified(component, { supersedes: id });
  assertSays(
    await certificate(id),
    'Release withdrawn',
    'SUPERSEDED: CORRECTED BY A LATER ENTRY',
    correction,
  );
  assertSays(await certificate(correction), `Replaces the release of ${id}, which is withdrawn.`);
});

test('somebody without a licence who corrects a certified entry withdraws its release, and releases nothing', async () => {
  await state();
  const id = await certified(component);
  const correction = await fixture.performed({ data: component, supersedes: id });
  assertSays(
    await certificate(id),
    'Release withdrawn',
    'The correction releases nothing unless it is certified',
  );
  const path = fixture.view(`${correction}/release-certificate/`);
  assertError(await service.call('GET', path), 'conflict', /is not certified/);
  const colleague = await fixture.newWorker();
  const certify = (signer: string) => () => fixture.sign(correction, signer, 'certified');
  await fixture.refused(
    certify(fixture.worker),
    'conflict',
    /did the work: it must be certified by someone else/,
  );
  await fixture.refused(certify(colleague), 'licence_required', /has no licence/);
  assertError(await service.call('GET', path), 'conflict', /is not certified/);
  // Nor is the withdrawn entry corrected, signed or released again.
  assertError(await fixture.post({ supersedes: id }), 'conflict', /already superseded/);
  const licensed = await fixture.newWorker({ licences: [licence('repair', 'DK.66.900')] });
  assertError(await fixture.sign(id, licensed, 'certified'), 'conflict', /superseded/);
});

test('members of the data that the certificate shows are refused in another form', async () => {
  const texts = (length: number) => 'x'.repeat(length);
  for (const [data, message] of [
    [{ approvedData: 'CMM' }, /data\.approvedData must be/],
    [{ approvedData: { reference: ' ' } }, /data\.approvedData/],
    [{ approvedData: { reference: texts(201) } }, /data\.approvedData/],
    [{ approvedData: { reference: 'CMM\u202e' } }, /data\.approvedData/],
    [{ approvedData: Array.from({ length: 21 }, () => approvedData) }, /up to 20/],
    [{ approvedData: { ...approvedData, page: 1 } }, /data\.approvedData/],
    [{ workOrder: 7 }, /data\.workOrder/],
    [{ release: { as: 'component' } }, /data\.release must be/],
    [{ release: { as: 'aircraft', work: 'repaired' } }, /data\.release/],
    [{ release: { as: 'component', work: 'painted' } }, /data\.release/],
    [{ release: { as: 'aircraft', remarks: texts(2_001) } }, /data\.release/],
    [{ release: null }, /data\.release/],
  ] as const) {
    assertError(await fixture.post({ data }), 'invalid_request', message);
  }
  const most = Array.from({ length: 20 }, () => ({ reference: texts(200), revision: texts(200) }));
  const id = await certified({ ...component, approvedData: most }, { summary: texts(10_000) });
  assertSays(await certificate(id), '12. Remarks (continued)', 'EASA FORM 1');
});

test('only owners in person state the organisation, and it is audited', async () => {
  const admin = await makePerson(service, 'admin');
  assertError(await service.call('PUT', url, { body: organisation }), 'forbidden');
  assert.equal((await admin.call('PUT', url, { body: organisation })).json.errorCode, 'forbidden');
  const wrong = { ...organisation, name: 'x'.repeat(201) };
  assert.equal((await owner.call('PUT', url, { body: wrong })).json.errorCode, 'invalid_request');
  await state();
  assert.deepEqual((await service.call('GET', url)).json, organisation);
  const [entry] = (await service.call('GET', '/api-v1/platform/audit-log?action=organisation.change&limit=1'))
    .json;
  assert.deepEqual(entry.details.to, organisation);
});

test('a certificate is for those who may see the asset, once the entry is certified', async () => {
  const id = await fixture.performed();
  const path = `${id}/release-certificate/`;
  assertError(await service.call('GET', fixture.view(path)), 'conflict', /is not certified/);
  assertError(await service.call('GET', fixture.view(path, randomAddress())), 'viewer_not_allowed');
  assertError(await service.call('GET', fixture.view('mnt_none/release-certificate/')), 'resource_not_found');
  const stranger = await service.makeKey({ newWorkspace: true });
  assertError(await service.call('GET', fixture.view(path), { key: stranger }), 'resource_not_found');
  await certify(id);
  await certificate(id);
  const { rows } = await service.sql(
    "select target_id from asset_access_log where what = 'release certificate' limit 1",
  );
  assert.equal(rows.length, 1);
});
