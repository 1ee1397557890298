/** Workers with passkeys: invited, registered on their device, confirmed by a second person; then only they sign. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { verifySignoff } from '../../src/maintenance/signing/signoff.ts';
import { recordDigest } from '../../src/proof/content.ts';
import { softPasskey } from '../support/clients/soft-passkey.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openPasskeyFixture, type PasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { command } from '../support/service/commands.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PasskeyFixture;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openPasskeyFixture(service);
});
after(() => service.close());

const workers = '/api-v1/damc/workers/';

test('a worker registers a passkey, a second person confirms it, and the key that was held is gone', async () => {
  const worker = await fixture.newWorker({ name: 'Ada Lund' });
  const { rows } = await service.sql('select id from workers where address = $1', [worker]);
  const held = async () => (await service.sql('select 1 from secrets where id = $1', [rows[0].id])).rowCount;
  assert.equal(await held(), 1);
  const token = await fixture.invite(worker);
  const { passkey, answer } = await fixture.register(token);
  assert.equal(answer.status, 201, answer.text);
  const again = await fixture.register(token);
  assert.equal(again.answer.json.errorCode, 'conflict', 'the link works once');
  const wrong = await fixture.confirm(worker, { id: answer.json.id, code: '0000-0000' });
  assert.equal(wrong.json.errorCode, 'invalid_request', wrong.text);
  assert.equal(await held(), 1, 'not before it is confirmed');
  const confirmed = await fixture.confirm(worker, answer.json);
  assert.deepEqual([confirmed.json.state, confirmed.json.registrationNumber], ['active', 1], confirmed.text);
  assert.equal(await held(), 0);
  const { json } = await service.call('GET', `${workers}${worker}/`);
  assert.deepEqual([json.keyHolder, json.address], ['passkey', worker], 'the address stays');

  const statement = (await service.call('GET', `${workers}${worker}/passkeys/statements/1/`)).json;
  const { document } = statement;
  assert.equal(document.format, 'holdfast/passkey-registration@1');
  assert.equal(document.credentialId, `0x${Buffer.from(passkey.credentialId, 'base64url').toString('hex')}`);
  assert.equal(document.rpId, 'localhost');
  const stored = await service.sql('select salt from passkey_statements where worker_id = $1', [rows[0].id]);
  assert.equal(recordDigest(stored.rows[0].salt, document), statement.hash);
  const leaves = await service.sql(
    "select version, digest from anchor_leaves where kind = 'passkey' and subject_id = $1",
    [rows[0].id],
  );
  assert.deepEqual(
    leaves.rows.map(({ version, digest }) => [version, `0x${digest.toString('hex')}`]),
    [[1, statement.hash]],
  );
});

test('the one who invited, the maker of the key that did, the worker, and a key do not confirm', async () => {
  const inviter = await makePerson(service, 'admin', 'Inviter');
  const inviterId = (await inviter.call('GET', '/api-v1/platform/me')).json.id;
  const key = (await inviter.call('POST', '/api-v1/platform/api-keys', { body: { name: 'theirs' } })).json
    .key;
  const invitations = [
    (worker: string) => inviter.call('POST', `${workers}${worker}/invite`, { body: {} }),
    (worker: string) => service.call('POST', `${workers}${worker}/invite`, { body: {}, key }),
  ];
  for (const invite of invitations) {
    const worker = await fixture.newWorker();
    const { answer } = await fixture.register((await invite(worker)).json.token);
    const refused = await fixture.confirm(worker, answer.json, inviter);
    assert.equal(refused.json.errorCode, 'second_person_required', refused.text);
    const path = `${workers}${worker}/passkeys/${answer.json.id}/confirm`;
    const byKey = await service.call('POST', path, { body: { code: answer.json.code } });
    assert.equal(byKey.json.errorCode, 'forbidden', 'for people only');
    const developer = await makePerson(service, 'developer');
    assert.equal((await fixture.confirm(worker, answer.json, developer)).json.errorCode, 'forbidden');
    const me = (await fixture.admin.call('GET', '/api-v1/platform/me')).json.id;
    await service.sql('update workers set user_id = $1 where address = $2', [me, worker]);
    assert.equal((await fixture.confirm(worker, answer.json)).json.errorCode, 'second_person_required');
    await service.sql('update workers set user_id = null where address = $1', [worker]);
    assert.equal((await fixture.confirm(worker, answer.json)).status, 200);
    const { document } = (await service.call('GET', `${workers}${worker}/passkeys/statements/1/`)).json;
    assert.deepEqual([document.invitedBy, document.confirmedBy], [inviterId, me], 'the people, not the key');
    assert.equal(document.invitedWith === null, invite === invitations[0]);
  }
});

test('nor does the worker by another record of them', async () => {
  const me = (await fixture.admin.call('GET', '/api-v1/platform/me')).json.id;
  const [worker, other] = [await fixture.newWorker(), await fixture.newWorker()];
  const { answer } = await fixture.register(await fixture.invite(worker));
  await service.sql('update workers set user_id = $1 where address = $2', [me, other]);
  const joined = await service.call('PUT', `${workers}${worker}/identity/`, {
    body: { workerAddress: other },
  });
  assert.equal(joined.status, 200, joined.text);
  const refused = await fixture.confirm(worker, answer.json);
  await service.sql('update workers set user_id = null where address = $1', [other]);
  assert.equal(refused.json.errorCode, 'second_person_required', refused.text);
});

test('an API key that nobody made cannot invite, because nobody knows who that would be', async () => {
  const worker = await fixture.newWorker();
  const refused = await service.call('POST', `${workers}${worker}/invite`, { body: {} });
  assert.equal(refused.json.errorCode, 'forbidden', refused.text);
  assert.match(refused.json.message, /made on the command line/);
  // Nor does a key that such a key has made.
  const made = await service.call('POST', '/api-v1/platform/api-keys', { body: { name: 'another' } });
  const again = await service.call('POST', `${workers}${worker}/invite`, { body: {}, key: made.json.key });
  assert.equal(again.json.errorCode, 'forbidden', again.text);
  const { rows } = await service.sql(
    'select 1 from worker_invitations where worker_id in (select id from workers where address = $1)',
    [worker],
  );
  assert.equal(rows.length, 0);
});

test('a registration elsewhere, or without user verification, or of nothing, is refused', async () => {
  const worker = await fixture.newWorker();
  const token = await fixture.invite(worker);
  const ask = (below: string, body: object) =>
    service.call('POST', `/api-v1/damc/passkeys/${below}`, { key: null, body });
  const { options } = (await ask('options', { token })).json;
  const passkey = softPasskey({ origin: fixture.origin });
  const wrong = [
    passkey.register(options, { origin: 'https://localhost.example.com' }),
    passkey.register(options, { rpId: 'example.com' }),
    passkey.register(options, { flags: 0x41 }),
    passkey.register({ ...options, challenge: 'AAAA' }),
    passkey.register(options, { type: 'webauthn.get' }),
    {},
  ];
  for (const response of wrong) {
    const answer = await ask('register', { token, response });
    assert.equal(answer.json.errorCode, 'assertion_invalid', answer.text);
  }
  assert.equal((await ask('options', { token: 'unknown' })).json.errorCode, 'resource_not_found');
  assert.equal((await ask('register', { token, response: passkey.register(options) })).status, 201);
});

test('an entry is signed off with passkeys, and verified without the service', async () => {
  const mechanic = await fixture.passkeyWorker({ counts: true });
  const certifier = await fixture.passkeyWorker({ licences: [licence('repair', 'DK.66.40')] });
  const { maintenanceId: id } = await fixture.made();
  for (const [{ worker, passkey }, role] of [
    [mechanic, 'performed'],
    [certifier, 'certified'],
  ] as const) {
    const answer = await fixture.sign(id, worker, role, await fixture.signed(id, worker, { role, passkey }));
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.json.signedWith, 'passkey');
    assert.equal(answer.json.statement, 'Signed by Ada Lund with a passkey.');
  }
  const { entry, maintenanceHash } = (await service.call('GET', fixture.view(`${id}/details/`))).json;
  const { document } = (await service.call('GET', fixture.view(`${id}/signoffs/1/`))).json;
  assert.deepEqual(await verifySignoff(document, { ...entry, maintenanceHash }), []);
  const { signedWith } = document;
  const { hash } = (await service.call('GET', `${workers}${mechanic.worker}/passkeys/statements/1/`)).json;
  assert.deepEqual(signedWith.registration, { number: 1, hash });
  for (const [name, value] of Object.entries({
    authenticatorData: signedWith.authenticatorData.replace(/.$/, (digit: string) =>
      digit === '0' ? '1' : '0',
    ),
    clientDataJSON: signedWith.clientDataJSON.replace('localhost', 'localhosu'),
    rpId: 'example.com',
  })) {
    const changed = { ...document, signedWith: { ...signedWith, [name]: value } };
    assert.notDeepEqual(await verifySignoff(changed, { ...entry, maintenanceHash }), [], name);
  }
});

test('the verifier and the library judge an assertion alike', async () => {
  const { worker, passkey } = await fixture.passkeyWorker();
  const { maintenanceId: id } = await fixture.made();
  const { json } = await fixture.request(id, worker, 'performed');
  const assertion = passkey.sign(json.passkey);
  const stored = await service.sql('select made from worker_passkeys where credential_id = $1', [
    Buffer.from(passkey.credentialId, 'base64url'),
  ]);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { attestation } = stored.rows[0].made;
  const registered = await verifyRegistrationResponse({
    response: {
      id: passkey.credentialId,
      rawId: passkey.credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: Buffer.from(attestation.clientDataJSON).toString('base64url'),
        attestationObject: Buffer.from(attestation.object.slice(2), 'hex').toString('base64url'),
      },
    },
    expectedChallenge: () => true,
    expectedOrigin: fixture.origin,
    expectedRPID: 'localhost',
  });
  const { verified } = await verifyAuthenticationResponse({
    response: {
      id: passkey.credentialId,
      rawId: passkey.credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response: assertion,
    },
    expectedChallenge: json.passkey.challenge,
    expectedOrigin: fixture.origin,
    expectedRPID: 'localhost',
    credential: registered.registrationInfo?.credential ?? assert.fail(),
  });
  assert.equal(verified, true);
});

test('fsck finds as many bytes stored as are counted', async () => {
  await fixture.passkeyWorker();
  const settings = { DATABASE_URL: service.databaseUrl, HOLDFAST_DATA_DIR: service.config.dataDir };
  const fsck = await command(settings, 'fsck', '--only', 'records,passkeys', '--json');
  assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);
});
