/** What a request carries beside the event: signatures of a key pair, the endpoint's own headers, a client certificate. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { certificate, type Received, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { makeSelfSigned } from '../support/clients/self-signed.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const base = '/api-v1/platform/webhooks/endpoints';
const dir = mkdtempSync(join(tmpdir(), 'holdfast-sending-'));
let service: Service;
let receiver: Receiver;
let vault: string;
before(async () => {
  service = await startService({
    env: {
      HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex'),
      HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
      HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
    },
  });
  vault = (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json.address;
});
after(async () => {
  await service.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const { id } of (await service.call('GET', base)).json) await service.call('DELETE', `${base}/${id}`);
  await receiver.close();
});

async function subscribe(body: object, url = receiver.url) {
  const made = await service.call('POST', base, { body: { url, eventTypes: ['vault.*'], ...body } });
  assert.equal(made.status, 201, made.text);
  return made.json;
}

let isActive = true;
/** Makes an event, and resolves with what the receiver got. */
async function makeEvent(): Promise<Received> {
  const before = receiver.received.length;
  const action = isActive ? 'deactivate' : 'reactivate';
  isActive = !isActive;
  assert.equal((await service.call('PATCH', `/api-v1/platform/vaults/${vault}/${action}`)).status, 200);
  return waitUntil(() => receiver.received[before]);
}

/** By OpenSSL, with the published key only. */
function isSignedBy(publicKey: string, { headers, body }: Received): boolean {
  const signatures = String(headers['webhook-signature'])
    .split(' ')
    .filter((one) => one.startsWith('v1a,'));
  const [pem, message, signature] = ['key.pem', 'message', 'signature'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  assert.match(publicKey, /^whpk_[A-Za-z0-9+/]{43}=$/);
  const raw = Buffer.from(publicKey.slice('whpk_'.length), 'base64');
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]);
  writeFileSync(pem, `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----\n`);
  writeFileSync(message, `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  return signatures.some((one) => {
    writeFileSync(signature, Buffer.from(one.slice('v1a,'.length), 'base64'));
    const args = [
      'pkeyutl',
      '-verify',
      '-pubin',
      '-inkey',
      pem,
      '-rawin',
      '-in',
      message,
      '-sigfile',
      signature,
    ];
    try {
      execFileSync(pathOf('openssl'), args, { stdio: 'pipe' });
      return true;
    } catch {
      return false;
    }
  });
}

needs('openssl').test(
  'signs with a key pair beside the secret; OpenSSL verifies it with the published key',
  async () => {
    const { id, publicKey } = await subscribe({ ed25519: true });
    const keysOf = async () => (await service.call('GET', `${base}/${id}/public-keys`)).json.publicKeys;
    assert.deepEqual(await keysOf(), [{ publicKey, until: null }]);
    assert.ok(isSignedBy(publicKey, receiver.received[0] as Received), 'the test event too');
    const first = await makeEvent();
    assert.match(String(first.headers['webhook-signature']), /^v1,\S+ v1a,\S+$/);
    assert.ok(isSignedBy(publicKey, first));
    assert.ok(!isSignedBy(publicKey, { ...first, body: `${first.body} ` }));

    const rotated = await service.call('POST', `${base}/${id}/rotate-key-pair`);
    assert.equal(rotated.status, 200, rotated.text);
    assert.notEqual(rotated.json.publicKey, publicKey);
    assert.deepEqual(await keysOf(), [
      { publicKey: rotated.json.publicKey, until: null },
      { publicKey, until: rotated.json.previousPublicKeyUntil },
    ]);
    const second = await makeEvent();
    assert.ok(isSignedBy(publicKey, second) && isSignedBy(rotated.json.publicKey, second), 'both sign');

    const off = await service.call('PATCH', `${base}/${id}`, { body: { ed25519: false } });
    assert.equal(off.json.publicKey, null);
    assert.deepEqual(await keysOf(), []);
    assert.doesNotMatch(String((await makeEvent()).headers['webhook-signature']), /v1a/);
    assert.equal((await service.call('POST', `${base}/${id}/rotate-key-pair`)).status, 409);
    const on = await service.call('PATCH', `${base}/${id}`, { body: { ed25519: true } });
    assert.equal(on.json.publicKey, rotated.json.publicKey, 'the key is kept while it is off');
  },
);

test("sends the endpoint's own headers, and shows their values to nobody", async () => {
  const headers = [
    { name: 'Authorization', value: 'Bearer t0p-s3cret' },
    { name: 'x-terminal', value: '7' },
  ];
  const { id, headerNames } = await subscribe({ headers });
  assert.deepEqual(headerNames, ['authorization', 'x-terminal']);
  for (const { headers } of [receiver.received[0] as Received, await makeEvent()]) {
    assert.equal(headers.authorization, 'Bearer t0p-s3cret');
    assert.equal(headers['x-terminal'], '7');
    assert.equal(headers['content-type'], 'application/json');
  }
  const changed = await service.call('PATCH', `${base}/${id}`, {
    body: { headers: [{ name: 'x-terminal', value: '8' }] },
  });
  assert.deepEqual(changed.json.headerNames, ['x-terminal']);
  const next = await makeEvent();
  assert.equal(next.headers['x-terminal'], '8');
  assert.equal(next.headers.authorization, undefined);
  const moved = { url: receiver.url.replace('localhost', '127.0.0.1') };
  const kept = await service.call('PATCH', `${base}/${id}`, { body: moved });
  assert.equal(kept.status, 400);
  assert.match(kept.json.message, /belong to the receiver at the old address/);
  await service.call('PATCH', `${base}/${id}`, { body: { headers: [], ...moved } });
  assert.equal((await makeEvent()).headers['x-terminal'], undefined);

  const names = ['Host', 'Content-Length', 'webhook-signature', 'X-Service-Signature', 'transfer-encoding'];
  for (const name of names) {
    const refused = await service.call('PATCH', `${base}/${id}`, {
      body: { headers: [{ name, value: '1' }] },
    });
    assert.equal(refused.status, 400, name);
    assert.match(refused.json.message, /is set by the service/);
  }
  for (const header of [
    { name: 'x\r\ny', value: '1' },
    { name: 'x', value: 'a\r\nhost: b' },
    { name: 'x', value: 'ü' },
    { name: '', value: '1' },
  ]) {
    const refused = await service.call('PATCH', `${base}/${id}`, { body: { headers: [header] } });
    assert.equal(refused.status, 400, JSON.stringify(header));
  }
  assert.ok(!service.logged().includes('t0p-s3cret'));
  const { rows } = await service.sql(
    `select (select string_agg(details::text, '') from audit_entries) || (select string_agg(p::text, '') from webhook_endpoints p) as text`,
  );
  assert.ok(!rows[0].text.includes('t0p-s3cret'));
  assert.match(rows[0].text, /"headerNames": ?\["authorization", ?"x-terminal"\]/);
});

/** A self-signed certificate of a client, and its key. */
function clientCertificate(name: string): { certificate: string; privateKey: string } {
  const { cert, key } = makeSelfSigned(name);
  return { certificate: cert, privateKey: key };
}

test('shows a client certificate to a receiver that requires one', async () => {
  const [one, other] = [clientCertificate('one'), clientCertificate('other')];
  const { cert, key } = certificate();
  const callers: string[] = [];
  const server = createServer(
    { cert, key, ca: [one.certificate, other.certificate], requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      callers.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
      request.resume();
      response.writeHead(204).end();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const without = await subscribe({}, url);
    assert.equal(without.test.delivered, false);
    const made = await subscribe({ clientCertificate: one }, url);
    assert.equal(made.test.delivered, true, made.test.error);
    assert.equal(made.clientCertificate.subject, 'CN=one');
    assert.ok(!JSON.stringify(made).includes('PRIVATE'));
    const changed = await service.call('PATCH', `${base}/${made.id}`, { body: { clientCertificate: other } });
    assert.equal(changed.json.test.delivered, true);
    assert.deepEqual(callers, ['one', 'other'], 'each connection has the certificate of its endpoint');
    const removed = await service.call('PATCH', `${base}/${made.id}`, { body: { clientCertificate: null } });
    assert.equal(removed.json.test.delivered, false);
    assert.equal(removed.json.clientCertificate, null);

    const wrong = [
      [{ ...one, privateKey: other.privateKey }, /does not belong/],
      [{ ...one, certificate: 'x' }, /no certificate in PEM/],
      [{ ...one, privateKey: 'x' }, /no unencrypted private key/],
    ] as const;
    for (const [clientCertificate, message] of wrong) {
      const refused = await service.call('PATCH', `${base}/${made.id}`, { body: { clientCertificate } });
      assert.equal(refused.status, 400);
      assert.match(refused.json.message, message);
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  const { rows } = await service.sql("select string_agg(details::text, '') as text from audit_entries");
  assert.ok(!rows[0].text.includes('BEGIN') && !service.logged().includes('BEGIN'));
});
