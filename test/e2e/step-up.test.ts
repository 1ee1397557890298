/** A stolen cookie alone makes no key, reveals no secret and erases nothing: that needs a fresh proof of who is there. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FastifyContextConfig, fastify } from 'fastify';
import { requireCallers } from '../../src/http/admission/authentication.ts';
import { newVisitor } from '../support/clients/browser-session.ts';
import { codeOf, nextCodeOf } from '../support/clients/totp.ts';
import {
  api,
  openPeopleFixture,
  type PeopleFixture,
  type Person,
} from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Operation, readOperations } from '../support/openapi/openapi-operations.ts';

let fixture: PeopleFixture;
before(async () => {
  fixture = await openPeopleFixture();
});
after(() => fixture.close());

/** As if the person had signed in eleven minutes ago. */
const grow = (person: Person) =>
  fixture.query(`update sessions set confirmed_at = now() - interval '11 minutes' where user_id = $1`, [
    person.id,
  ]);
const confirm = ({ visitor }: Person, password: string) =>
  visitor.call('POST', '/auth/confirm/password', { body: { password } });
const makeKey = ({ visitor }: Person) => visitor.call('POST', `${api}/api-keys`, { body: { name: 'mine' } });

/** Requests that need a fresh session, by somebody who may make them. */
const guarded: [string, string, unknown][] = [
  ['POST', '/api-keys', { name: 'mine' }],
  ['DELETE', '/api-keys/key_1', undefined],
  ['GET', '/webhooks/endpoints/whe_1/secret', undefined],
  ['POST', '/webhooks/endpoints', { url: 'https://thief.example/', eventTypes: ['*'] }],
  ['DELETE', '/files/fil_1/content', undefined],
  ['POST', '/invitations', { role: 'viewer' }],
  ['PATCH', '/members/usr_1', { role: 'viewer' }],
  ['DELETE', '/members/usr_1', undefined],
];

/** Changes that a session makes however old its last proof is. Everything else needs a fresh one. */
const ordinary: Record<string, string[]> = {
  'adds to what is recorded, or corrects it': [
    ...['createVault', 'updateVault', 'createRecord', 'createRecords', 'createRecordVersion'],
    ...['createFile', 'createFileVersion', 'validateFile', 'createWorker', 'createAsset', 'updateAsset'],
    ...['installAsset', 'removeAsset', 'createMaintenance'],
    ...['createAssetInterval', 'updateAssetInterval', 'deleteAssetInterval'],
  ],
  'carries a signature of the worker': ['signPasskeyRegistration'],
  'asks for the proof itself, where the service signs with a key that it holds': ['createSignoff'],
  'sends what was to be sent anyway, or less': ['retryDelivery', 'testEndpoint', 'cancelReplay'],
  'gives no access to anything there is': ['createWorkspace', 'listVaultTransactions'],
  'is about oneself alone, and must not wait': ['endSession', 'endAllSessions', 'setNoticeMail'],
  'leaves everything as it is': ['refuseStep', 'withdrawStep'],
};

test('every change that people can make has its place: either it needs a fresh session, or the list says why not', async () => {
  const person = await fixture.member('owner');
  await grow(person);
  const isChange = ({ method, scope, role }: Operation) =>
    !['GET', 'HEAD'].includes(method) && (scope !== null || role !== null);
  const changes = (await readOperations(fixture.service)).filter(isChange);
  assert.ok(changes.length > 60);
  const free: string[] = [];
  for (const { method, path, operationId } of changes) {
    // Refused as soon as it is read, by then the session has been looked at.
    const answer = await person.visitor.call(method, path.replaceAll(/\{\w+\}/g, 'x'), { body: '{' });
    if (answer.json.errorCode === 'step_up_required') continue;
    assertError(answer, 'invalid_request');
    free.push(operationId);
  }
  assert.deepEqual(free.toSorted(), Object.values(ordinary).flat().toSorted());
});

test('a route that changes something and does not say whether it needs a fresh session is not served', async () => {
  const app = fastify();
  requireCallers(app, {} as never);
  const add = (config: FastifyContextConfig) => app.post('/x', { config }, async () => null);
  assert.throws(
    () => add({ scope: 'vaults:write' }),
    /POST \/x does not say whether it needs a fresh session/,
  );
  assert.throws(() => add({ role: 'viewer' }), /does not say/);
  add({ role: 'viewer', freshSession: false });
  await app.close();
});

test('refuses with a code of its own when nothing was proved for ten minutes, and lets through after a password', async () => {
  const person = await fixture.member('owner');
  assert.equal((await makeKey(person)).status, 201, 'signing in is a fresh proof');
  await grow(person);
  for (const [method, path, body] of guarded) {
    assertError(await person.visitor.call(method, api + path, { body }), 'step_up_required');
  }
  // Everything else goes on.
  assert.equal((await person.visitor.call('GET', `${api}/vaults`)).status, 200);
  const confirmed = await confirm(person, person.account.password);
  assert.equal(confirmed.status, 200, confirmed.text);
  for (const [method, path, body] of guarded) {
    const { json } = await person.visitor.call(method, api + path, { body });
    assert.notEqual(json?.errorCode, 'step_up_required', path);
  }
  const entries = await fixture.query(
    `select details from audit_entries where action = 'session.confirm' and actor_id = $1`,
    [person.id],
  );
  assert.deepEqual(entries, [{ details: { by: 'password' } }]);
});

test('a proof counts for its own session, and keys are not asked', async () => {
  const person = await fixture.member('developer');
  const other = { ...person, visitor: newVisitor(fixture.service) };
  await other.visitor.call('POST', '/auth/sign-in/email', {
    body: { email: person.account.email, password: person.account.password },
  });
  await grow(person);
  assert.equal((await confirm(other, person.account.password)).status, 200);
  assertError(await makeKey(person), 'step_up_required');
  assert.equal((await makeKey(other)).status, 201);
  assert.equal((await fixture.service.call('POST', `${api}/api-keys`, { body: { name: 'k' } })).status, 201);
});

test('wrong passwords confirm nothing, are counted, and are refused from other origins', async () => {
  const person = await fixture.member('developer');
  await grow(person);
  const foreign = await person.visitor.call('POST', '/auth/confirm/password', {
    body: { password: person.account.password },
    headers: { origin: 'https://evil.example' },
  });
  assertError(foreign, 'forbidden');
  const codes = [];
  for (let turn = 0; turn < 7; turn += 1) codes.push((await confirm(person, 'wrong wrong')).json.errorCode);
  assert.ok(codes.includes('rate_limit_exceeded'), codes.join());
  assertError(await makeKey(person), 'step_up_required');
  assertError(
    await newVisitor(fixture.service).call('POST', '/auth/confirm/password', { body: { password: 'x' } }),
    'unauthorized',
  );
});

test('who has two-factor codes confirms with a code, which works once, and not with the password', async () => {
  const person = await fixture.member('developer');
  const { password } = person.account;
  const enabled = await person.visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  const secret = new URL(enabled.json.totpURI).searchParams.get('secret') ?? '';
  const verify = (code: string) =>
    person.visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  assert.equal((await verify(codeOf(secret, Date.now()))).status, 200);
  await grow(person);
  assertError(await confirm(person, password), 'forbidden', /two-factor code or a passkey/);
  const next = nextCodeOf(secret);
  assert.equal((await verify(next)).status, 200);
  assert.equal((await makeKey(person)).status, 201);
  await grow(person);
  assertError(await verify(next), 'unauthorized', /already been used/);
  assertError(await makeKey(person), 'step_up_required');
});
