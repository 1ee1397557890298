/** A passkey counts once the worker has signed that it is theirs: with their own key, or with a passkey that they have. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { registrationTypes, statementFault } from '../../src/proof/signoff/passkey-document.ts';
import { typedDataDigest } from '../../src/proof/signoff/typed-data.ts';
import type { SoftPasskey } from '../support/clients/soft-passkey.ts';
import { openPasskeyFixture, type PasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PasskeyFixture;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openPasskeyFixture(service);
});
after(() => service.close());

const workers = '/api-v1/damc/workers/';
const of = (worker: string, id: string, below: string) => `${workers}${worker}/passkeys/${id}/${below}`;
const byLink = (below: string, body: object) =>
  service.call('POST', `/api-v1/damc/passkeys/${below}`, { key: null, body });
const holderOf = async (worker: string) => (await service.call('GET', `${workers}${worker}/`)).json.keyHolder;
const statementOf = async (worker: string, number: number) =>
  (await service.call('GET', `${workers}${worker}/passkeys/statements/${number}/`)).json;

/** A worker with a key of their own, and a passkey that was confirmed for them. */
async function ownKeyWorker() {
  const account = privateKeyToAccount(generatePrivateKey());
  const worker = await fixture.newWorker({ name: 'Bo Dahl', address: account.address });
  return { account, worker, ...(await fixture.unsignedPasskey(worker)) };
}

/** As the page makes it of what the link opens. */
async function answerTo(token: string, passkey: SoftPasskey, change: object = {}) {
  const { json, status, text } = await byLink('open', { token });
  assert.equal(status, 200, text);
  const message = { ...json.message, ...change };
  const digest = typedDataDigest({ types: registrationTypes, primaryType: 'PasskeyRegistration', message });
  return passkey.sign({ rpId: json.passkey.rpId, challenge: Buffer.from(digest).toString('base64url') });
}

function refused(answer: Answer, code: string, message = /./): void {
  assert.equal(answer.json.errorCode, code, answer.text);
  assert.match(answer.json.message, message);
}

test('a worker with a key of their own becomes one with a passkey only by a signature of that key', async () => {
  const { account, worker, passkey, id } = await ownKeyWorker();
  assert.equal(await holderOf(worker), 'worker', 'the confirmation is not enough');
  const entry = (await fixture.made()).maintenanceId;
  const asked = await fixture.request(entry, worker, 'performed');
  assert.equal(asked.json.passkey, null, 'signs with the key meanwhile');

  const { json: request } = await service.call('GET', of(worker, id, 'sign'));
  assert.deepEqual([request.message.workerAddress, request.message.signedWith], [worker, 'own-key']);
  const { EIP712Domain: _, ...types } = request.types;
  const sign = (change: object, signer = account) =>
    signer.signTypedData({ ...request, types, message: { ...request.message, ...change } });
  const send = (body: object) => service.call('POST', of(worker, id, 'sign'), { body });
  const stranger = privateKeyToAccount(generatePrivateKey());
  refused(await send({}), 'invalid_request', /send the signature of their key/);
  refused(await send({ signature: await sign({}, stranger) }), 'invalid_request', /made by 0x/);
  for (const change of [
    { publicKey: '0x3059' },
    { confirmedBy: 'usr_3' },
    { number: 2 },
    { workerName: 'Bo' },
  ]) {
    refused(await send({ signature: await sign(change) }), 'invalid_request', /over other data/);
  }
  const assertion = passkey.sign({ rpId: 'localhost', challenge: 'AAAA' });
  refused(await send({ assertion }), 'invalid_request', /no assertion/);
  assert.equal(await holderOf(worker), 'worker');

  const done = await send({ signature: await sign({}) });
  assert.deepEqual([done.json.state, done.json.registrationNumber], ['active', 1], done.text);
  assert.equal(await holderOf(worker), 'passkey');
  const { document } = await statementOf(worker, 1);
  assert.deepEqual(document.signedWith, { method: 'own-key' });
  assert.equal(await statementFault(document), null);
  refused(await send({ signature: await sign({}) }), 'conflict', /is active/);
});

test('a second passkey is signed by the first, by a link', async () => {
  const first = await fixture.passkeyWorker({ counts: true });
  const { worker } = first;
  const second = await fixture.unsignedPasskey(worker);
  const { maintenanceId } = await fixture.made();
  const asked = await fixture.request(maintenanceId, worker, 'performed');
  assert.equal(asked.json.passkey.allowCredentials.length, 1, 'it does not sign yet');
  const early = { signedAt: asked.json.signedAt, assertion: second.passkey.sign(asked.json.passkey) };
  refused(
    await fixture.sign(maintenanceId, worker, 'performed', early),
    'passkey_unconfirmed',
    /sign the registration/,
  );

  const link = await service.call('POST', of(worker, second.id, 'link'));
  assert.equal(link.json.link, `${fixture.origin}/sign/${link.json.token}`, link.text);
  const { token } = link.json;
  const open = (await byLink('open', { token })).json;
  assert.deepEqual([open.workerName, open.confirmedBy], ['Ada Lund', 'Second']);
  assert.match(open.code, /^[0-9A-F]{4}-[0-9A-F]{4}$/);
  const stranger = await fixture.passkeyWorker();
  refused(
    await byLink('sign', { token, assertion: await answerTo(token, second.passkey) }),
    'passkey_unconfirmed',
  );
  refused(
    await byLink('sign', { token, assertion: await answerTo(token, stranger.passkey) }),
    'passkey_unknown',
  );
  const other = await answerTo(token, first.passkey, { publicKey: '0x3059' });
  refused(await byLink('sign', { token, assertion: other }), 'assertion_mismatch');
  refused(
    await service.call('POST', of(worker, second.id, 'sign'), {
      body: { signature: `0x${'11'.repeat(65)}` },
    }),
    'passkey_required',
  );

  const newer = (await service.call('POST', of(worker, second.id, 'link'))).json.token;
  refused(await byLink('open', { token }), 'resource_not_found', /newer one has replaced it/);
  const assertion = await answerTo(newer, first.passkey);
  const done = await byLink('sign', { token: newer, assertion });
  assert.deepEqual([done.json.state, done.json.registrationNumber], ['active', 2], done.text);
  refused(await byLink('sign', { token: newer, assertion }), 'conflict', /is active/);
  const { document } = await statementOf(worker, 2);
  assert.equal(await statementFault(document), null);
  const { hash } = await statementOf(worker, 1);
  assert.deepEqual(document.signedWith.registration, { number: 1, hash });

  // Both sign from now on, and each alone.
  await fixture.revoke(worker, first.id);
  const signed = await fixture.signed(maintenanceId, worker, { role: 'performed', passkey: second.passkey });
  assert.equal((await fixture.sign(maintenanceId, worker, 'performed', signed)).status, 201);
});

test('what was signed is void once a statement comes between, and a revoked passkey signs no other', async () => {
  const first = await fixture.passkeyWorker();
  const { worker } = first;
  const second = await fixture.unsignedPasskey(worker);
  const { token } = (await service.call('POST', of(worker, second.id, 'link'))).json;
  const third = await fixture.unsignedPasskey(worker);
  const { token: otherToken } = (await service.call('POST', of(worker, third.id, 'link'))).json;
  const stale = await answerTo(token, first.passkey);
  const done = await byLink('sign', {
    token: otherToken,
    assertion: await answerTo(otherToken, first.passkey),
  });
  assert.equal(done.status, 200, done.text);
  refused(await byLink('sign', { token, assertion: stale }), 'assertion_mismatch', /another challenge/);
  await fixture.revoke(worker, first.id);
  refused(
    await byLink('sign', { token, assertion: await answerTo(token, first.passkey) }),
    'passkey_revoked',
  );
  const byThird = await answerTo(token, third.passkey);
  assert.equal((await byLink('sign', { token, assertion: byThird })).status, 200);
});

test('without a passkey that could sign, nobody is invited: the address has ended', async () => {
  const { worker, id } = await fixture.passkeyWorker();
  const waiting = await fixture.unsignedPasskey(worker);
  await fixture.revoke(worker, id);
  const invited = await fixture.inviter.call('POST', `${workers}${worker}/invite`, { body: {} });
  refused(invited, 'passkey_revoked', /create a new worker/);
  refused(
    await service.call('GET', of(worker, waiting.id, 'sign')),
    'passkey_revoked',
    /create a new worker/,
  );
  const gone = await fixture.admin.call('POST', of(worker, waiting.id, 'refuse'), { body: {} });
  assert.equal(gone.json.state, 'refused', gone.text);
});

test('a passkey that is not confirmed is not signed, and one that is refused neither', async () => {
  const { worker } = await fixture.passkeyWorker();
  const { answer } = await fixture.register(await fixture.invite(worker));
  const { id } = answer.json;
  refused(await service.call('GET', of(worker, id, 'sign')), 'passkey_unconfirmed', /second person/);
  refused(await service.call('POST', of(worker, id, 'link')), 'conflict', /unconfirmed/);
  refused(await service.call('POST', of(worker, id, 'sign'), { body: {} }), 'passkey_unconfirmed');
  await fixture.admin.call('POST', of(worker, id, 'refuse'), { body: {} });
  refused(await service.call('GET', of(worker, id, 'sign')), 'conflict', /refused/);
  refused(await byLink('open', { token: 'reg_none' }), 'resource_not_found');
});

test('a registration names the vault that seals it, and that vault seals the revocation, also when it is deactivated', async () => {
  const { worker, id } = await fixture.passkeyWorker();
  const registered = (await statementOf(worker, 1)).document;
  const { rows } = await service.sql('select id, address from vaults order by id');
  assert.equal(registered.vault, rows[0].address.toLowerCase(), 'the oldest one that is active');
  await fixture.newVault();
  const turn = (verb: string) => service.call('PATCH', `/api-v1/platform/vaults/${rows[0].address}/${verb}`);
  assert.equal((await turn('deactivate')).status, 200);
  try {
    const revoked = await fixture.revoke(worker, id);
    assert.equal(revoked.json.state, 'revoked', revoked.text);
    const { document } = await statementOf(worker, 2);
    assert.equal(document.vault, registered.vault);
    assert.equal(await statementFault(document), null);
    const next = await fixture.passkeyWorker();
    assert.notEqual((await statementOf(next.worker, 1)).document.vault, registered.vault);
  } finally {
    await turn('reactivate');
  }
});
