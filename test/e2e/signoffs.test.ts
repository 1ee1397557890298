/** Sign-offs over HTTP: signed by the worker's key, in their order, by different people, under licences that hold. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { verifyTypedData } from 'viem/utils';
import { signoffsFault, verifySignoff } from '../../src/maintenance/signing/signoff.ts';
import { recordDigest } from '../../src/proof/content.ts';
import type { ErrorCode } from '../../src/runtime/errors.ts';
import {
  licence,
  type MaintenanceFixture,
  openMaintenanceFixture,
} from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: MaintenanceFixture;
/** Did the work, and signs as performed. */
let mechanic: string;
/** Holds a licence for `repair`. */
let certifier: string;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openMaintenanceFixture(service);
  mechanic = fixture.worker;
  certifier = await fixture.newWorker({ name: 'Ada Lund', licences: [licence('repair', 'DK.66.1')] });
});
after(() => service.close());

async function refused(ask: () => Promise<Answer>, code: ErrorCode, message: RegExp): Promise<void> {
  const before = await stored();
  const { json, ...rest } = await ask();
  assertError({ json, ...rest }, code);
  assert.match(json.message, message);
  assert.deepEqual(await stored(), before);
}

async function stored(): Promise<number[]> {
  const { rows } = await fixture.sql(`
    select (select count(*) from signoffs)::int as signoffs, (select count(*) from anchor_leaves)::int as leaves,
      (select count(*) from audit_entries where action = 'maintenance.sign_off')::int as audited`);
  return Object.values(rows[0]);
}

const sign = (id: string, workerAddress: string, role: string, more: object = {}) =>
  fixture.signOff(id, { workerAddress, role, ...more });

/** An entry that is signed as performed. */
async function performed(body: object = {}): Promise<string> {
  const { maintenanceId } = await fixture.made(body);
  const answer = await sign(maintenanceId, mechanic, 'performed');
  assert.equal(answer.status, 201, answer.text);
  return maintenanceId;
}

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

test('an entry is performed, inspected and certified, each signed by the key of its worker over all of it', async () => {
  const { maintenanceId, maintenanceHash } = await fixture.made();
  const inspector = await fixture.newWorker({ licences: [licence('*', 'DK.66.9')] });
  for (const [worker, role] of [
    [mechanic, 'performed'],
    [inspector, 'inspected'],
    [certifier, 'certified'],
  ] as const) {
    const answer = await sign(maintenanceId, worker, role);
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
  assert.deepEqual(held, { scope: 'repair', number: 'DK.66.1', authority: 'EASA', expiresAt: null });
  assert.equal(workerName, 'Ada Lund');
  // As anybody would check it who has only the documentation.
  const field = (name: string, type: string) => ({ name, type });
  const signed = {
    address: certifier as Hex,
    domain: { name: 'Holdfast', version: '1' },
    types: {
      Signoff: [
        field('workspaceId', 'string'),
        field('assetId', 'string'),
        field('maintenanceId', 'string'),
        field('maintenanceHash', 'bytes32'),
        field('role', 'string'),
        field('worker', 'address'),
        field('licenceScope', 'string'),
        field('licenceNumber', 'string'),
        field('signedAt', 'uint64'),
      ],
    },
    primaryType: 'Signoff',
    message: {
      workspaceId,
      assetId: fixture.assetId,
      maintenanceId,
      maintenanceHash,
      role: 'certified',
      worker: certifier,
      licenceScope: 'repair',
      licenceNumber: 'DK.66.1',
      signedAt: BigInt(Date.parse(signedAt) / 1000),
    },
    signature,
  } as const;
  assert.equal(await verifyTypedData(signed), true);
  const changed = { ...signed, message: { ...signed.message, role: 'performed' } };
  assert.equal(await verifyTypedData(changed), false);
});

test('a sign-off is anchored: its leaf follows that of the entry, and its hash is that of its document', async () => {
  const id = await performed();
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

test('what is kept of a sign-off verifies without the service, and nothing of it can be changed', async () => {
  const id = await performed();
  await sign(id, certifier, 'certified');
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
  assert.deepEqual(await verifySignoff(expired, of), ['the licence had expired']);
  assert.match(signoffsFault(entry, [second, first]) ?? '', /performed before/);
  assert.match(
    signoffsFault(entry, [first, { ...second, workerAddress: mechanic }]) ?? '',
    /by someone else/,
  );
  assert.match(signoffsFault({ ...entry, type: 'engine' }, documents) ?? '', /engine/);
});

test('the order holds: nothing is inspected or certified before it is performed, and nothing is added below', async () => {
  const { maintenanceId: id } = await fixture.made();
  await refused(() => sign(id, certifier, 'certified'), 'conflict', /signed as performed before/);
  await refused(() => sign(id, certifier, 'inspected'), 'conflict', /signed as performed before/);
  await sign(id, mechanic, 'performed');
  assert.equal((await sign(id, certifier, 'certified')).status, 201);
  const other = await fixture.newWorker({ licences: [licence('repair', 'DK.66.3')] });
  await refused(() => sign(id, other, 'performed'), 'conflict', /already signed as certified/);
  await refused(() => sign(id, other, 'inspected'), 'conflict', /already signed as certified/);
  assert.equal((await sign(id, other, 'certified')).status, 201);
});

test('nobody signs twice in one role, also at the same time', async () => {
  const { maintenanceId: id } = await fixture.made();
  const race = await Promise.all([sign(id, mechanic, 'performed'), sign(id, mechanic, 'performed')]);
  assert.deepEqual(race.map(({ status }) => status).sort(), [201, 409]);
  await refused(() => sign(id, mechanic, 'performed'), 'conflict', /already signed as performed/);
  const both = await Promise.all([certifier, certifier].map((worker) => sign(id, worker, 'certified')));
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
});

test('who did the work does not certify or inspect it: by signing, by the entry, or by the number of a licence', async () => {
  const licensed = await fixture.newWorker({ licences: [licence('repair', 'DK.66.4')] });
  const { maintenanceId: byEntry } = await fixture.made({ workerAddress: licensed });
  await sign(byEntry, mechanic, 'performed');
  await refused(() => sign(byEntry, licensed, 'certified'), 'conflict', /^The worker .* did the work/);
  const signed = await performed();
  const second = await fixture.newWorker({ licences: [licence('repair', 'DK.66.5')] });
  assert.equal((await sign(signed, second, 'performed')).status, 201);
  await refused(() => sign(signed, second, 'certified'), 'conflict', /^The worker .* did the work/);
  await refused(() => sign(signed, second, 'inspected'), 'conflict', /^The worker .* did the work/);
  // Another name and key, but the licence of the same person, in other letters.
  const again = await fixture.newWorker({ licences: [licence('repair', ' dk.66.5')] });
  await refused(
    () => sign(signed, again, 'certified'),
    'conflict',
    /licence .* belongs to someone who did the work/,
  );
  // It was given away since; what it was signed with still counts.
  const { maintenanceId: used } = await fixture.made();
  assert.equal(
    (await sign(used, second, 'performed', { licenceScope: 'repair' })).json.licence.number,
    'DK.66.5',
  );
  await service.call('PATCH', `/api-v1/damc/workers/${second}/`, { body: { licences: [] } });
  await refused(() => sign(used, again, 'certified'), 'conflict', /belongs to someone/);
});

test('a licence that is missing, of another scope, or expired a moment ago is refused', async () => {
  const id = await performed();
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const none = await fixture.newWorker();
  await refused(() => sign(id, none, 'certified'), 'conflict', /no licence for "repair"/);
  const other = await fixture.newWorker({ licences: [licence('avionics', 'DK.66.6')] });
  await refused(() => sign(id, other, 'certified'), 'conflict', /no licence for "repair"/);
  await refused(
    () => sign(id, other, 'certified', { licenceScope: 'avionics' }),
    'conflict',
    /no licence with the scope "avionics"/,
  );
  await refused(
    () => sign(id, other, 'certified', { licenceScope: 'repair' }),
    'conflict',
    /no licence with the scope "repair"/,
  );
  const late = await fixture.newWorker({ licences: [licence('repair', 'DK.66.7', ago(1))] });
  await refused(() => sign(id, late, 'certified'), 'conflict', /DK\.66\.7 .* expired at/);
  await refused(() => sign(id, late, 'inspected'), 'conflict', /expired/);
  await service.call('PATCH', `/api-v1/damc/workers/${late}/`, {
    body: { licences: [licence('repair', 'DK.66.7', ago(1)), licence('Repair', 'DK.66.8', ago(-3_600_000))] },
  });
  const answer = await sign(id, late, 'certified');
  assert.equal(answer.json.licence?.number, 'DK.66.8', answer.text);
});

test('data.scope asks for another licence than the type, and a wider scope covers a narrower one', async () => {
  const id = await performed({ data: { scope: 'engine/borescope' } });
  await refused(() => sign(id, certifier, 'certified'), 'conflict', /no licence for "engine\/borescope"/);
  const narrow = await fixture.newWorker({ licences: [licence('engine/borescope/blade', 'DK.66.10')] });
  await refused(() => sign(id, narrow, 'certified'), 'conflict', /no licence/);
  const near = await fixture.newWorker({ licences: [licence('eng', 'DK.66.11')] });
  await refused(() => sign(id, near, 'certified'), 'conflict', /no licence/);
  const wide = await fixture.newWorker({ licences: [licence('Engine', 'DK.66.12')] });
  assert.equal((await sign(id, wide, 'certified')).status, 201);
});

test('a superseded entry cannot be signed, a worker has to be assigned, and the owner active', async () => {
  const { maintenanceId: old } = await fixture.made();
  const { maintenanceId: next } = await fixture.made({ supersedes: old });
  await refused(() => sign(old, mechanic, 'performed'), 'conflict', new RegExp(`superseded by ${next}`));
  const { maintenanceId: id } = await fixture.made();
  const idle = await fixture.newWorker({ assign: false });
  await refused(() => sign(id, idle, 'performed'), 'conflict', /not assigned/);
  await refused(() => sign(id, `0x${'cd'.repeat(20)}`, 'performed'), 'resource_not_found', /no worker/);
  await refused(() => sign('mnt_none', mechanic, 'performed'), 'resource_not_found', /mnt_none/);
  await refused(() => sign(id, mechanic, 'approved'), 'invalid_request', /role/);
  const stranger = await service.makeKey({ newWorkspace: true });
  const body = { workerAddress: mechanic, role: 'performed' };
  assertError(await fixture.signOff(id, body, { key: stranger }), 'resource_not_found');
  const vaultPath = `/api-v1/platform/vaults/${fixture.vault.address}`;
  await service.call('PATCH', `${vaultPath}/deactivate`);
  await refused(() => sign(id, mechanic, 'performed'), 'vault_deactivated', /deactivated/);
  await service.call('PATCH', `${vaultPath}/reactivate`);
  assert.equal((await sign(id, mechanic, 'performed')).status, 201);
});

test('a correction and a sign-off at the same time never leave a superseded entry signed after it', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { maintenanceId: id } = await fixture.made();
    const [signed, corrected] = await Promise.all([
      sign(id, mechanic, 'performed'),
      fixture.post({ supersedes: id }),
    ]);
    assert.equal(corrected.status, 202);
    assert.ok([201, 409].includes(signed.status), signed.text);
    await refused(() => sign(id, certifier, 'performed'), 'conflict', /superseded/);
  }
});

test('a worker who holds their own key signs the prepared data outside and hands it in, once', async () => {
  const { account, address } = await ownKeyWorker([licence('repair', 'DK.66.13')]);
  const id = await performed();
  const prepared = await request(id, address, 'certified');
  assert.equal(prepared.status, 200, prepared.text);
  const { domain, types, primaryType, message, signedAt } = prepared.json;
  assert.equal(message.signedAt, Date.parse(signedAt) / 1000);
  assert.deepEqual([message.licenceScope, message.licenceNumber], ['repair', 'DK.66.13']);
  const signature = await account.signTypedData({ domain, types, primaryType, message });
  const handIn = (more: object = {}) => sign(id, address, 'certified', { signature, signedAt, ...more });
  await refused(() => sign(id, address, 'certified'), 'invalid_request', /signature is required.*own key/);
  await refused(() => handIn({ signedAt: undefined }), 'invalid_request', /signedAt is required/);
  const answer = await handIn({ signature: `0x${signature.slice(2).toUpperCase()}` });
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.json.signature, signature);
  assert.equal(answer.json.signedAt, signedAt);
  await refused(() => handIn(), 'conflict', /already signed as certified/);
});

test('a signature of somebody else, over something else, of another form, or too old is refused', async () => {
  const { account, address } = await ownKeyWorker();
  const { maintenanceId: id } = await fixture.made();
  // On record before anything is signed, so that the time of the signature is none of its faults.
  const { maintenanceId: other } = await fixture.made();
  const { json } = await request(id, address, 'performed');
  const { domain, types, primaryType, message, signedAt } = json;
  const signed = (changed: object, by = account) =>
    by.signTypedData({ domain, types, primaryType, message: { ...message, ...changed } });
  const handIn = (signature: string, at = signedAt) =>
    sign(id, address, 'performed', { signature, signedAt: at });
  const somebody = privateKeyToAccount(generatePrivateKey());
  await refused(async () => handIn(await signed({}, somebody)), 'invalid_request', /signature is refused/);
  for (const changed of [
    { role: 'certified' },
    { assetId: 'another' },
    { maintenanceId: 'mnt_none' },
    { maintenanceHash: `0x${'00'.repeat(32)}` },
    { licenceNumber: 'X' },
    { signedAt: message.signedAt - 1 },
  ]) {
    await refused(async () => handIn(await signed(changed)), 'invalid_request', /signature is refused/);
  }
  const good = await signed({});
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const highS = (order - BigInt(`0x${good.slice(66, 130)}`)).toString(16).padStart(64, '0');
  const flipped = `${good.slice(0, 66)}${highS}${good.endsWith('1b') ? '1c' : '1b'}`;
  await refused(() => handIn(flipped), 'invalid_request', /upper half/);
  await refused(() => handIn(good.slice(0, -2)), 'invalid_request', /65 bytes/);
  await refused(() => handIn(`${good.slice(0, -2)}00`), 'invalid_request', /v is 0/);
  await refused(() => handIn('0xzz'), 'invalid_request', /65 bytes/);
  const at = (ms: number) => new Date(Math.floor((Date.now() + ms) / 1000) * 1000);
  for (const [time, why] of [
    [at(-25 * 3600_000), /24 hours/],
    [at(10 * 60_000), /future/],
  ] as const) {
    const dated = await signed({ signedAt: time.getTime() / 1000 });
    await refused(() => handIn(dated, time.toISOString()), 'invalid_request', why);
  }
  assert.equal((await handIn(good)).status, 201);
  // Good for this entry alone.
  await refused(
    () => sign(other, address, 'performed', { signature: good, signedAt }),
    'invalid_request',
    /signature is refused/,
  );
});

test('nothing is signed with a time before it was on record, or before what was signed earlier', async () => {
  const { account, address } = await ownKeyWorker([licence('repair', 'DK.66.15')]);
  const handIn = async (id: string, ms: number) => {
    const { json } = await request(id, address, 'certified');
    const { domain, types, primaryType, message } = json;
    const at = new Date(message.signedAt * 1000 + ms);
    const dated = { ...message, signedAt: at.getTime() / 1000 };
    const signature = await account.signTypedData({ domain, types, primaryType, message: dated });
    return sign(id, address, 'certified', { signature, signedAt: at.toISOString() });
  };
  const early = await performed();
  await refused(() => handIn(early, -23 * 3_600_000), 'conflict', /recorded at .* before that/);

  // Signed by a clock that is ahead of ours, but not too much.
  const ahead = await ownKeyWorker();
  const { maintenanceId: id } = await fixture.made();
  const { json } = await request(id, ahead.address, 'performed');
  const { domain, types, primaryType, message } = json;
  const later = { ...message, signedAt: message.signedAt + 40 };
  const signature = await ahead.account.signTypedData({ domain, types, primaryType, message: later });
  const signedAt = new Date(later.signedAt * 1000).toISOString();
  assert.equal((await sign(id, ahead.address, 'performed', { signature, signedAt })).status, 201);
  await refused(() => handIn(id, -20_000), 'conflict', /signed as performed at .* earlier time/);
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

test('a licence that expired after the data were prepared is refused, however the signature is dated', async () => {
  const { account, address } = await ownKeyWorker([licence('repair', 'DK.66.14')]);
  const id = await performed();
  const { json } = await request(id, address, 'certified');
  const { domain, types, primaryType, message, signedAt } = json;
  const signature = await account.signTypedData({ domain, types, primaryType, message });
  const licences = [licence('repair', 'DK.66.14', new Date(Date.now() - 1).toISOString())];
  await service.call('PATCH', `/api-v1/damc/workers/${address}/`, { body: { licences } });
  await refused(() => sign(id, address, 'certified', { signature, signedAt }), 'conflict', /expired/);
  assertError(await request(id, address, 'certified'), 'conflict');
});

test('a request is refused as the sign-off would be, and needs a worker who holds their own key', async () => {
  const id = await performed();
  assertError(await request(id, mechanic, 'certified'), 'conflict');
  const { address } = await ownKeyWorker();
  assertError(await request(id, address, 'certified'), 'conflict');
  assertError(await request('mnt_none', address, 'performed'), 'resource_not_found');
  assertError(await request(id, '0x12', 'performed'), 'invalid_address');
  assertError(await service.call('GET', fixture.url(`${id}/signoffs/request/`)), 'invalid_request');
  assert.equal((await request(id, address, 'performed')).status, 200);
});

test('no signature is taken for a worker whose key the service holds', async () => {
  const { maintenanceId: id } = await fixture.made();
  const given = { signature: `0x${'11'.repeat(65)}`, signedAt: new Date().toISOString() };
  await refused(() => sign(id, mechanic, 'performed', given), 'invalid_request', /omit signature/);
  await refused(
    () => sign(id, mechanic, 'performed', { signedAt: given.signedAt }),
    'invalid_request',
    /omit signature and signedAt/,
  );
});

test('a repeat with the same Idempotency-Key gets the same sign-off', async () => {
  const { maintenanceId: id } = await fixture.made();
  const options = { headers: { 'idempotency-key': randomBytes(8).toString('hex') } };
  const body = { workerAddress: mechanic, role: 'performed' };
  const [first, again] = [await fixture.signOff(id, body, options), await fixture.signOff(id, body, options)];
  assert.equal(first.status, 201, first.text);
  assert.deepEqual([again.status, again.json], [201, first.json]);
});
