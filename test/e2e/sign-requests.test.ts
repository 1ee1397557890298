/** Links by which workers sign: what they show, what they take, and for whom they do nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signoffDigest } from '../../src/proof/signoff/signoff-message.ts';
import type { Scope } from '../../src/runtime/caller.ts';
import type { SoftPasskey } from '../support/clients/soft-passkey.ts';
import { sendForm } from '../support/clients/upload.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openPasskeyFixture, type PasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PasskeyFixture;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openPasskeyFixture(service);
});
after(() => service?.close());

const ask = (below: string, body: object) =>
  service.call('POST', `/api-v1/damc/sign-requests/${below}`, { key: null, body });

const request = (id: string, workerAddress: string, role = 'performed') =>
  service.call('POST', fixture.url(`${id}/signoffs/requests/`), { body: { workerAddress, role } });

/** A worker with a passkey, and a link to sign a new entry. */
async function linked({ counts = false, fileIds = [] as string[] } = {}) {
  const { worker, passkey, id: passkeyId } = await fixture.passkeyWorker({ counts });
  const { maintenanceId } = await fixture.made({ fileIds });
  const made = await request(maintenanceId, worker);
  assert.equal(made.status, 201, made.text);
  return { worker, passkey, passkeyId, maintenanceId, token: made.json.token as string };
}

/** What the page sends, after it has opened the link. */
async function signatureBy(token: string, passkey: SoftPasskey, change: object = {}): Promise<object> {
  const { json, status, text } = await ask('open', { token });
  assert.equal(status, 200, text);
  const signedAt = `${json.now.slice(0, 19)}.000Z`;
  const challenge = Buffer.from(signoffDigest({ ...json.message, signedAt, ...change })).toString(
    'base64url',
  );
  return {
    token,
    signedAt,
    assertion: passkey.sign({ rpId: json.passkey.rpId, challenge }),
  };
}

async function sign(...given: Parameters<typeof signatureBy>): Promise<[object, Answer]> {
  const body = await signatureBy(...given);
  return [body, await ask('sign', body)];
}

const signoffsOf = async (id: string) =>
  (await service.call('GET', fixture.view(`${id}/details/`))).json.signoffs;

test('a link shows what is signed, signs it once, and a repeat gets the same answer', async () => {
  const { worker, passkey, maintenanceId, token } = await linked({ counts: true });
  const { json } = await ask('open', { token });
  assert.deepEqual(
    [json.workerName, json.assetName, json.requestedBy, json.message.role, json.message.workerAddress],
    ['Ada Lund', 'Hydraulic pump', null, 'performed', worker],
  );
  assert.equal(json.statement, 'I did this work as it is described here.');
  assert.equal(json.passkey.challenge, undefined);
  const [body, signed] = await sign(token, passkey);
  assert.equal(signed.status, 201, signed.text);
  assert.equal(signed.json.signedWith, 'passkey');
  const again = await ask('sign', body);
  assert.equal(again.status, 201, again.text);
  assert.equal(again.json.signoffHash, signed.json.signoffHash);
  assert.equal((await signoffsOf(maintenanceId)).length, 1);
  const used = await ask('open', { token });
  assertError(used, 'conflict');
  assert.match(used.json.message, /signed already: by Ada Lund/);
  const { rows } = await service.sql(
    `select action, actor_kind from audit_entries where target_id = $1 and action like '%sign%' order by id`,
    [maintenanceId],
  );
  assert.deepEqual(rows, [
    { action: 'maintenance.request_signature', actor_kind: 'api_key' },
    { action: 'maintenance.sign_off', actor_kind: 'system' },
  ]);
});

test('concurrent signatures by one link make one sign-off', async () => {
  const { passkey, maintenanceId, token } = await linked();
  const bodies = await Promise.all([1, 2, 3, 4].map(() => signatureBy(token, passkey)));
  const answers = await Promise.all(bodies.map((body) => ask('sign', body)));
  const [first] = answers.filter(({ status }) => status === 201) as [Answer];
  for (const { status, json, text } of answers) {
    // Made in the same second, by a passkey that does not count, they are the same assertion.
    assert.ok(status === 409 || json.signoffHash === first.json.signoffHash, text);
  }
  assert.equal((await signoffsOf(maintenanceId)).length, 1);
});

test('a link is refused when it expired, was replaced, or is for another passkey', async () => {
  const { worker, passkey, passkeyId, maintenanceId, token } = await linked();
  const other = await fixture.passkeyWorker();
  assertError((await sign(token, other.passkey))[1], 'passkey_unknown');
  assertError((await sign(token, passkey, { role: 'certified' }))[1], 'assertion_mismatch');
  assertError(
    (await sign(token, passkey, { maintenanceHash: `0x${'11'.repeat(32)}` }))[1],
    'assertion_mismatch',
  );
  const { json: newer } = await request(maintenanceId, worker);
  assertError(await ask('open', { token }), 'resource_not_found');
  await service.sql(`update sign_requests set expires_at = now() where maintenance_id = $1`, [maintenanceId]);
  for (const below of ['open', 'file']) {
    const expired = await ask(below, { token: newer.token, ...(below === 'file' && { fileId: 'x' }) });
    assertError(expired, 'conflict');
    assert.match(expired.json.message, /has expired/);
  }
  const { json: newest } = await request(maintenanceId, worker);
  await fixture.revoke(worker, passkeyId);
  assertError(await ask('open', { token: newest.token }), 'passkey_revoked');
  assert.deepEqual(await signoffsOf(maintenanceId), []);
  assertError(await ask('open', { token: 'sig_unknown' }), 'resource_not_found');
});

test('an invitation is no link to sign, and a link to sign is no invitation', async () => {
  const { worker, token } = await linked();
  const invitation = await fixture.invite(worker);
  assertError(await ask('open', { token: invitation }), 'resource_not_found');
  const options = await service.call('POST', '/api-v1/damc/passkeys/options', { key: null, body: { token } });
  assertError(options, 'resource_not_found');
});

test('files of the entry are given to the link, and no others', async () => {
  const upload = async (text: string) =>
    (
      await sendForm(service, '/api-v1/platform/files', {
        parts: [
          ['vaultAddress', fixture.vault.address],
          ['file', new File([text], 'torque.txt', { type: 'text/html' })],
        ],
      })
    ).json.id as string;
  const [attached, other] = [await upload('<b>42 Nm</b>'), await upload('private')];
  const { token, passkey } = await linked({ fileIds: [attached] });
  assert.deepEqual((await ask('open', { token })).json.entry.files, [
    { fileId: attached, name: 'torque.txt' },
  ]);
  const given = await ask('file', { token, fileId: attached });
  assert.equal(given.text, '<b>42 Nm</b>');
  assert.match(given.headers.get('content-disposition') ?? '', /^attachment;/);
  assert.match(given.headers.get('content-security-policy') ?? '', /sandbox/);
  assertError(await ask('file', { token, fileId: other }), 'resource_not_found');
  assert.equal((await sign(token, passkey))[1].status, 201);
  assertError(await ask('file', { token, fileId: attached }), 'conflict', /signed already/);
});

test('links are made by who may sign off, for a worker with a passkey, in their own workspace', async () => {
  const { worker } = await fixture.passkeyWorker();
  const { maintenanceId } = await fixture.made();
  const url = fixture.url(`${maintenanceId}/signoffs/requests/`);
  const body = { workerAddress: worker, role: 'performed' };
  const viewer = await makePerson(service, 'viewer');
  assertError(await viewer.call('POST', url, { body }), 'forbidden');
  const key = await service.makeKey({ newWorkspace: true });
  assertError(await service.call('POST', url, { body, key }), 'resource_not_found');
  const tooFew: Scope[][] = [
    ['assets:write'],
    ['assets:write', 'assets:read'],
    ['assets:write', 'files:read'],
  ];
  for (const scopes of tooFew) {
    const writer = await service.makeKey({ scopes });
    assertError(await service.call('POST', url, { body, key: writer }), 'forbidden');
  }
  assertError(await request(maintenanceId, fixture.worker), 'conflict');
  assertError(await request(maintenanceId, worker, 'certified'), 'licence_required');
});

test('a link may be made before its turn, and signs only when it has come', async () => {
  const { worker: performer, passkey: own, maintenanceId, token: performing } = await linked();
  assert.ok(performer);
  const certifier = await fixture.passkeyWorker({ licences: [licence('repair', 'DK.66.71')] });
  const { json: link } = await request(maintenanceId, certifier.worker, 'certified');
  const early = await ask('open', { token: link.token });
  assertError(early, 'conflict');
  assert.match(early.json.message, /must be signed as performed before it can be certified/);
  assert.equal((await sign(performing, own))[1].status, 201);
  assert.equal((await sign(link.token, certifier.passkey))[1].status, 201);
  assert.equal((await signoffsOf(maintenanceId)).length, 2);
});

test('the list has the links that can still be signed by, in pages, and never the links themselves', async () => {
  const { worker, passkey, maintenanceId, token } = await linked();
  const others = [await fixture.passkeyWorker(), await fixture.passkeyWorker()];
  for (const other of others) assert.equal((await request(maintenanceId, other.worker)).status, 201);
  const url = fixture.url(`${maintenanceId}/signoffs/requests/`);
  const listed = async () => (await service.call('GET', url)).json as { id: string; workerAddress: string }[];
  const first = await service.call('GET', `${url}?limit=2`);
  assert.equal(first.json.length, 2);
  const cursor = first.headers.get('x-next-cursor') ?? '';
  const rest = await service.call('GET', `${url}?limit=2&cursor=${encodeURIComponent(cursor)}`);
  assert.deepEqual([...first.json, ...rest.json], await listed());
  assert.equal((await listed()).length, 3);
  assert.doesNotMatch(first.text, /sig_/);

  assert.equal((await sign(token, passkey))[1].status, 201);
  const left = await listed();
  assert.ok(left.every(({ workerAddress }) => workerAddress !== worker));
  await service.call('DELETE', `/api-v1/damc/sign-requests/${left[0]?.id}`);
  assert.deepEqual(
    (await listed()).map(({ id }) => id),
    [left[1]?.id],
  );
  await service.sql(`update sign_requests set expires_at = now() where maintenance_id = $1`, [maintenanceId]);
  assert.deepEqual(await listed(), []);
  assertError(await service.call('GET', fixture.url('mnt_none/signoffs/requests/')), 'resource_not_found');
});
