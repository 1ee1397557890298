/** Sign-offs of workers who hold their own key: data prepared by the service, signed outside, and handed in once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { signoffsFault } from '../../src/maintenance/signing/signoff.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openSignoffFixture, type SignoffFixture } from '../support/fixtures/signoff-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: SignoffFixture;
/** Did the work, and signs as performed. */
let mechanic: string;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openSignoffFixture(service);
  mechanic = fixture.worker;
});
after(() => service.close());

function ownKeyWorker(licences: object[] = []): Promise<{ account: PrivateKeyAccount; address: string }> {
  const account = privateKeyToAccount(generatePrivateKey());
  return fixture.newWorker({ address: account.address, licences }).then((address) => ({ account, address }));
}

function request(id: string, workerAddress: string, role: string): Promise<Answer> {
  return service.call(
    'GET',
    fixture.url(`${id}/signoffs/request/?workerAddress=${workerAddress}&role=${role}`),
  );
}

const secondsFrom = (time: string, seconds: number) =>
  new Date(Date.parse(time) + seconds * 1000).toISOString();

test('a worker with their own key signs the prepared data outside and submits it, once', async () => {
  const { account, address } = await ownKeyWorker([licence('repair', 'DK.66.13')]);
  const id = await fixture.performed();
  const prepared = await request(id, address, 'certified');
  assert.equal(prepared.status, 200, prepared.text);
  const { domain, types, primaryType, message, signedAt } = prepared.json;
  assert.equal(message.signedAt, signedAt);
  assert.deepEqual(
    message.licence.map(({ scope, number }: Record<string, string>) => [scope, number]),
    [['repair', 'DK.66.13']],
  );
  assert.equal(message.release[0].asset.name, 'Hydraulic pump');
  const signature = await account.signTypedData({ domain, types, primaryType, message });
  const handIn = (more: object = {}) =>
    fixture.sign(id, address, 'certified', { signature, signedAt, ...more });
  await fixture.refused(
    () => fixture.sign(id, address, 'certified'),
    'invalid_request',
    /signature is required.*own key/,
  );
  await fixture.refused(() => handIn({ signedAt: undefined }), 'invalid_request', /signedAt is required/);
  const answer = await handIn({ signature: `0x${signature.slice(2).toUpperCase()}` });
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.json.signature, signature);
  assert.equal(answer.json.signedAt, signedAt);
  await fixture.refused(() => handIn(), 'conflict', /already signed as certified/);
});

test('refuses a signature by somebody else, over something else, of another form, or too old', async () => {
  const { account, address } = await ownKeyWorker();
  const { maintenanceId: id } = await fixture.made();
  // On record before anything is signed, so that the time of the signature is none of its faults.
  const { maintenanceId: other } = await fixture.made();
  const { json } = await request(id, address, 'performed');
  const { domain, types, primaryType, message, signedAt } = json;
  const signed = (changed: object, by = account) =>
    by.signTypedData({ domain, types, primaryType, message: { ...message, ...changed } });
  const handIn = (signature: string, at = signedAt) =>
    fixture.sign(id, address, 'performed', { signature, signedAt: at });
  const somebody = privateKeyToAccount(generatePrivateKey());
  await fixture.refused(
    async () => handIn(await signed({}, somebody)),
    'invalid_request',
    /signature is refused/,
  );
  for (const changed of [
    { role: 'certified' },
    { assetId: 'another' },
    { maintenanceId: 'mnt_none' },
    { maintenanceHash: `0x${'00'.repeat(32)}` },
    { workerName: 'X' },
    {
      licence: [],
      release: [{ organisation: [], asset: { version: 1, name: '', partNumber: '', serialNumber: '' } }],
    },
    { signedWith: { method: 'passkey', apiKeyId: '' } },
    { signedAt: secondsFrom(signedAt, -1) },
  ]) {
    await fixture.refused(
      async () => handIn(await signed(changed)),
      'invalid_request',
      /signature is refused/,
    );
  }
  const good = await signed({});
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const highS = (order - BigInt(`0x${good.slice(66, 130)}`)).toString(16).padStart(64, '0');
  const flipped = `${good.slice(0, 66)}${highS}${good.endsWith('1b') ? '1c' : '1b'}`;
  await fixture.refused(() => handIn(flipped), 'invalid_request', /upper half/);
  await fixture.refused(() => handIn(good.slice(0, -2)), 'invalid_request', /65 bytes/);
  await fixture.refused(() => handIn(`${good.slice(0, -2)}00`), 'invalid_request', /v is 0/);
  await fixture.refused(() => handIn('0xzz'), 'invalid_request', /65 bytes/);
  const at = (ms: number) => new Date(Math.floor((Date.now() + ms) / 1000) * 1000);
  for (const [time, why] of [
    [at(-25 * 3600_000), /24 hours/],
    [at(10 * 60_000), /future/],
  ] as const) {
    const dated = await signed({ signedAt: time.toISOString() });
    await fixture.refused(() => handIn(dated, time.toISOString()), 'invalid_request', why);
  }
  assert.equal((await handIn(good)).status, 201);
  // Good for this entry alone.
  await fixture.refused(
    () => fixture.sign(other, address, 'performed', { signature: good, signedAt }),
    'invalid_request',
    /signature is refused/,
  );
});

test('refuses a signing time before the entry was recorded, or before earlier sign-offs', async () => {
  const { account, address } = await ownKeyWorker([licence('repair', 'DK.66.15')]);
  const handIn = async (id: string, ms: number) => {
    const { json } = await request(id, address, 'certified');
    const { domain, types, primaryType, message } = json;
    const signedAt = secondsFrom(message.signedAt, ms / 1000);
    const dated = { ...message, signedAt };
    const signature = await account.signTypedData({ domain, types, primaryType, message: dated });
    return fixture.sign(id, address, 'certified', { signature, signedAt });
  };
  const early = await fixture.performed();
  await fixture.refused(() => handIn(early, -23 * 3_600_000), 'conflict', /recorded at .* before that/);

  // Signed by a clock that is ahead of ours, but not too much.
  const ahead = await ownKeyWorker();
  const { maintenanceId: id } = await fixture.made();
  const { json } = await request(id, ahead.address, 'performed');
  const { domain, types, primaryType, message } = json;
  const signedAt = secondsFrom(message.signedAt, 40);
  const later = { ...message, signedAt };
  const signature = await ahead.account.signTypedData({ domain, types, primaryType, message: later });
  assert.equal((await fixture.sign(id, ahead.address, 'performed', { signature, signedAt })).status, 201);
  await fixture.refused(() => handIn(id, -20_000), 'conflict', /signed as performed at .* earlier time/);
  assert.equal((await handIn(id, 0)).status, 201);
  const { signoffs, entry } = (await service.call('GET', fixture.view(`${id}/details/`))).json;
  assert.equal(signoffs[1].signedAt, signedAt);

  const documents = [];
  for (const number of [1, 2]) {
    documents.push((await service.call('GET', fixture.view(`${id}/signoffs/${number}/`))).json.document);
  }
  assert.equal(signoffsFault(entry, documents), null);
  const [first, second] = documents;
  const recordedAt = new Date(Date.parse(signedAt) + 1000).toISOString();
  assert.match(signoffsFault({ ...entry, recordedAt }, documents) ?? '', /recorded at .* before that/);
  const back = { ...second, signedAt: new Date(Date.parse(signedAt) - 1000).toISOString() };
  assert.match(signoffsFault(entry, [first, back]) ?? '', /earlier time/);
});

test('refuses a licence that expired after the data were prepared, however the signature is dated', async () => {
  const { account, address } = await ownKeyWorker([licence('repair', 'DK.66.14')]);
  const id = await fixture.performed();
  const { json } = await request(id, address, 'certified');
  const { domain, types, primaryType, message, signedAt } = json;
  const signature = await account.signTypedData({ domain, types, primaryType, message });
  const licences = [licence('repair', 'DK.66.14', new Date(Date.now() - 1).toISOString())];
  await service.call('PATCH', `/api-v1/damc/workers/${address}/`, { body: { licences } });
  await fixture.refused(
    () => fixture.sign(id, address, 'certified', { signature, signedAt }),
    'licence_expired',
    /expired/,
  );
  assertError(await request(id, address, 'certified'), 'licence_expired');
});

test('what has changed since it was prepared is not signed: it would say something that is not true any more', async () => {
  const { account, address } = await ownKeyWorker([licence('repair', 'DK.66.16')]);
  const owner = await makePerson(service, 'owner');
  const organisation = {
    name: 'Nordjet',
    address: '',
    authority: '',
    approvalNumber: 'DK.145.1',
    regulation: '',
  };
  const changes = [
    () => owner.call('PUT', '/api-v1/damc/signoffs/organisation/', { body: organisation }),
    () => service.call('PATCH', `/api-v1/damc/workers/${address}/`, { body: { name: 'Ada' } }),
    () =>
      service.call('PATCH', `/api-v1/damc/workers/${address}/`, {
        body: { licences: [licence('repair', 'DK.66.16', '2099-12-31T00:00:00Z')] },
      }),
  ];
  for (const change of changes) {
    const id = await fixture.performed();
    const { json } = await request(id, address, 'certified');
    const { domain, types, primaryType, message, signedAt } = json;
    const signature = await account.signTypedData({ domain, types, primaryType, message });
    const changed = await change();
    assert.equal(changed.status, 200, changed.text);
    const handIn = () => fixture.sign(id, address, 'certified', { signature, signedAt });
    await fixture.refused(handIn, 'invalid_request', /over other data/);
  }
  const id = await fixture.performed();
  const { json } = await request(id, address, 'certified');
  assert.deepEqual(json.message.release[0].organisation, [organisation]);
  const { domain, types, primaryType, message, signedAt } = json;
  const signature = await account.signTypedData({ domain, types, primaryType, message });
  assert.equal((await fixture.sign(id, address, 'certified', { signature, signedAt })).status, 201);
  const { document } = (await service.call('GET', fixture.view(`${id}/signoffs/2/`))).json;
  assert.deepEqual(document.release.organisation, organisation);
});

test('refuses a signature with a time before the licence was valid, although it is valid by now', async () => {
  const validFrom = new Date(Date.now() - 2_000).toISOString();
  const { account, address } = await ownKeyWorker([{ ...licence('repair', 'DK.66.17'), validFrom }]);
  const id = await fixture.performed();
  const { json } = await request(id, address, 'certified');
  const { domain, types, primaryType, message } = json;
  // The entry is older than that, so that nothing else is wrong with the time.
  await service.sql(
    `update maintenances set entry = jsonb_set(entry::jsonb, '{recordedAt}', '"2020-01-01T00:00:00.000Z"')::text where id = $1`,
    [id],
  );
  await service.sql(
    `update signoffs set document = jsonb_set(document::jsonb, '{signedAt}', '"2020-01-01T00:00:00.000Z"')::text where maintenance_id = $1`,
    [id],
  );
  const signedAt = secondsFrom(`${validFrom.slice(0, 19)}.000Z`, -60);
  const dated = { ...message, signedAt };
  const signature = await account.signTypedData({ domain, types, primaryType, message: dated });
  await fixture.refused(
    () => fixture.sign(id, address, 'certified', { signature, signedAt }),
    'licence_not_yet_valid',
    /is valid only from/,
  );
});

test('refuses a request like the sign-off itself, and for a worker without their own key', async () => {
  const id = await fixture.performed();
  assertError(await request(id, mechanic, 'certified'), 'conflict');
  const { address } = await ownKeyWorker();
  assertError(await request(id, address, 'certified'), 'licence_required');
  assertError(await request('mnt_none', address, 'performed'), 'resource_not_found');
  assertError(await request(id, '0x12', 'performed'), 'invalid_address');
  assertError(await service.call('GET', fixture.url(`${id}/signoffs/request/`)), 'invalid_request');
  assert.equal((await request(id, address, 'performed')).status, 200);
});

test('accepts no signature for a worker whose key the service holds', async () => {
  const { maintenanceId: id } = await fixture.made();
  const given = { signature: `0x${'11'.repeat(65)}`, signedAt: new Date().toISOString() };
  await fixture.refused(
    () => fixture.sign(id, mechanic, 'performed', given),
    'invalid_request',
    /omit signature/,
  );
  await fixture.refused(
    () => fixture.sign(id, mechanic, 'performed', { signedAt: given.signedAt }),
    'invalid_request',
    /omit signature and signedAt/,
  );
});
