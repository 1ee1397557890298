/** Strangers who begin to sign in, over and over, and never end it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newVisitor } from '../support/clients/browser-session.ts';
import { registerPasskey, usePasskey } from '../support/clients/person-passkey.ts';
import {
  openSingleSignOnFixture,
  type SingleSignOnFixture,
} from '../support/fixtures/single-sign-on-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';

let fixture: SingleSignOnFixture;
before(async () => {
  fixture = await openSingleSignOnFixture({ env: { HOLDFAST_RATE_LIMIT: 'off' } });
});
after(() => fixture.close());

const rows = async () => Number((await fixture.query('select count(*) from verifications'))[0].count);

const begin = (method: string, path: string, address: string) =>
  newVisitor(fixture.service).call(method, path, { headers: { 'x-forwarded-for': address } });

test('an address begins 60 sign-ins in a minute, with a passkey or at the provider, also without any other limit', async () => {
  for (const [place, [method, path, status]] of (
    [
      ['POST', '/auth/passkey/options', 200],
      ['GET', '/auth/provider/start', 302],
    ] as const
  ).entries()) {
    const from = (last: string) => begin(method, path, `2001:db8:7:${place}::${last}`);
    const answers = await Promise.all(Array.from({ length: 70 }, (_, number) => from(number.toString(16))));
    const counts = Map.groupBy(answers, (answer) => answer.status);
    assert.deepEqual([counts.get(status)?.length, counts.get(429)?.length], [60, 10], path);
    const refused = await from('ffff');
    assertError(refused, 'rate_limit_exceeded');
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await begin(method, path, '198.51.100.7')).status, status, 'others go on');
  }
});

test('a challenge for a passkey leaves no row, is answered once, and only while it is valid', async () => {
  const { service, member } = fixture;
  const { visitor } = await member('developer');
  const { answer, passkey } = await registerPasskey(service, visitor);
  assert.equal(answer.status, 201, answer.text);
  const before = await rows();
  const options = (await begin('POST', '/auth/passkey/options', '198.51.100.8')).json;
  assert.equal(await rows(), before);

  const verify = (asked: { challenge: string; rpId: string }) => {
    const { credentialId: id, ...response } = passkey.sign(asked);
    return newVisitor(service).call('POST', '/auth/passkey/verify', {
      body: { response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response } },
    });
  };
  const twice = await Promise.all([verify(options), verify(options)]);
  assert.deepEqual(twice.map(({ status }) => status).sort(), [200, 401]);
  assertError(await verify(options), 'unauthorized', /answered before/);

  const bytes = Buffer.from(options.challenge, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30);
  for (const challenge of [bytes.toString('base64url'), Buffer.alloc(32).toString('base64url')]) {
    assertError(await verify({ ...options, challenge }), 'unauthorized');
  }
  assert.equal((await usePasskey(service, newVisitor(service), passkey)).status, 200);
});
