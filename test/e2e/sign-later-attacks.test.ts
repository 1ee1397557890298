/** What somebody tries with a signature that waited on a device, and what has changed before it arrives. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ErrorCode } from '../../src/runtime/errors.ts';
import { softPasskey } from '../support/clients/soft-passkey.ts';
import {
  type Captured,
  captured,
  type Fetched,
  type LaterFixture,
  openLaterFixture,
  type Signer,
  wholeSecond,
} from '../support/fixtures/later-fixture.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: LaterFixture;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openLaterFixture(service);
});
after(() => service?.close());

const attacks: {
  name: string;
  code: ErrorCode;
  make(request: Fetched, signer: Signer): Captured | Promise<Captured>;
}[] = [
  {
    name: 'an assertion for another sign-off of the same worker',
    code: 'assertion_mismatch',
    make: async ({ token }, signer) => ({ ...captured(await fixture.fetched(signer), signer), token }),
  },
  {
    name: 'an assertion for another role',
    code: 'assertion_mismatch',
    make: (request, signer) => captured(request, signer, { change: { role: 'certified' } }),
  },
  {
    name: 'a time of signing that is not the one that was signed',
    code: 'assertion_mismatch',
    make(request, signer) {
      const given = captured(request, signer);
      return { ...given, signedAt: wholeSecond(Date.parse(given.signedAt) + 1000) };
    },
  },
  {
    name: 'an assertion from another origin',
    code: 'assertion_origin',
    make: (request, signer) =>
      captured(request, signer, { wrong: { origin: 'https://holdfast.example.net' } }),
  },
  {
    name: 'an assertion for another host name',
    code: 'assertion_origin',
    make: (request, signer) => captured(request, signer, { wrong: { rpId: 'example.net' } }),
  },
  {
    name: 'an assertion without user verification',
    code: 'user_verification_missing',
    make: (request, signer) => captured(request, signer, { wrong: { flags: 0x01 } }),
  },
  {
    name: 'the passkey of another worker',
    code: 'passkey_unknown',
    make: async (request) => captured(request, await fixture.passkeyWorker()),
  },
  {
    name: 'a key that is nobody’s, under the name of the passkey',
    code: 'assertion_invalid',
    make(request, signer) {
      const forged = captured(request, { passkey: softPasskey({ origin: fixture.origin }) });
      const credentialId = signer.passkey.credentialId;
      return { ...forged, assertion: { ...forged.assertion, credentialId } };
    },
  },
  {
    name: 'a passkey that was revoked between the signing and the receipt',
    code: 'passkey_revoked',
    async make(request, signer) {
      const given = captured(request, signer);
      assert.equal((await fixture.revoke(signer.worker, signer.id)).status, 200);
      return given;
    },
  },
  {
    name: 'a link that was withdrawn between the signing and the receipt',
    code: 'conflict',
    async make(request, signer) {
      const given = captured(request, signer);
      const url = `/api-v1/damc/sign-requests/${request.requestId}`;
      for (const _ of [1, 2]) assert.equal((await service.call('DELETE', url)).status, 204);
      assert.match((await fixture.ask('open', { token: request.token })).json.message, /was withdrawn/);
      return given;
    },
  },
  {
    name: 'a link that a newer one replaced',
    code: 'resource_not_found',
    async make(request, signer) {
      const given = captured(request, signer);
      await fixture.fetched(signer, 'performed', request.maintenanceId);
      return given;
    },
  },
  {
    name: 'a second signature by the same link',
    code: 'conflict',
    async make(request, signer) {
      await fixture.sent(captured(request, signer));
      return captured(request, signer, { at: Date.now() + 2_000 });
    },
  },
  {
    name: 'a licence that was exchanged since',
    code: 'conflict',
    async make(_request, { passkey: _ }) {
      const signer = await fixture.passkeyWorker({ licences: [licence('repair', 'DK.66.91')] });
      const other = await fixture.passkeyWorker({ name: 'Bo Holt' });
      const performed = await fixture.fetched(other);
      await fixture.sent(captured(performed, other));
      const request = await fixture.fetched(signer, 'certified', performed.maintenanceId);
      const given = captured(request, signer);
      const body = { licences: [licence('repair', 'DK.66.92')] };
      const changed = await service.call('PATCH', `/api-v1/damc/workers/${signer.worker}/`, { body });
      assert.equal(changed.status, 200, changed.text);
      return given;
    },
  },
];

for (const { name, code, make } of attacks) {
  test(`refused is ${name}: ${code}`, async () => {
    const signer = await fixture.passkeyWorker();
    const given = await make(await fixture.fetched(signer), signer);
    await fixture.refusedLater(given, code);
  });
}

test('a repeat gets the same answer when the passkey was revoked and the link withdrawn meanwhile', async () => {
  const signer = await fixture.passkeyWorker({ counts: true });
  const request = await fixture.fetched(signer);
  const given = captured(request, signer);
  const { signoffHash } = await fixture.sent(given);
  await service.call('DELETE', `/api-v1/damc/sign-requests/${request.requestId}`);
  await fixture.revoke(signer.worker, signer.id);
  assert.equal((await fixture.sent(given)).signoffHash, signoffHash);
  await fixture.refusedLater({ ...given, signedAt: wholeSecond(Date.now() + 5_000) }, 'passkey_revoked');
});

test('a withdrawal that waits for the signature, or the other way round, lets exactly one of them be', async () => {
  for (let round = 0; round < 4; round += 1) {
    const signer = await fixture.passkeyWorker();
    const request = await fixture.fetched(signer);
    const url = `/api-v1/damc/sign-requests/${request.requestId}`;
    const [signed, withdrawn] = await Promise.all([
      fixture.send(captured(request, signer)),
      service.call('DELETE', url),
    ]);
    assert.equal(withdrawn.status, 204, withdrawn.text);
    if (signed.status !== 201) assertError(signed, 'conflict');
    const { json } = await service.call('GET', fixture.view(`${request.maintenanceId}/details/`));
    assert.equal(json.signoffs.length, signed.status === 201 ? 1 : 0);
  }
});

test('links are withdrawn by who may sign off, in their own workspace', async () => {
  const signer = await fixture.passkeyWorker();
  const { requestId, token } = await fixture.fetched(signer);
  const url = `/api-v1/damc/sign-requests/${requestId}`;
  const viewer = await makePerson(service, 'viewer');
  assertError(await viewer.call('DELETE', url), 'forbidden');
  const key = await service.makeKey({ newWorkspace: true });
  assertError(await service.call('DELETE', url, { key }), 'resource_not_found');
  assert.equal((await fixture.ask('open', { token })).status, 200);
});
