/** What is signed around the time when a passkey begins or ceases to count: verifiers judge it by the times in the documents. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { createPasskeyChain } from '../../src/proof/signoff/passkey-chain.ts';
import { openPasskeyFixture, type PasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PasskeyFixture;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openPasskeyFixture(service);
});
after(() => service.close());

const workers = '/api-v1/damc/workers/';

/** What a verifier says of the sign-off, by what was anchored of the passkeys of its worker. */
async function faultsOf(maintenanceId: string, number: number): Promise<string[]> {
  const path = fixture.view(`${maintenanceId}/signoffs/${number}/`);
  const { document } = (await service.call('GET', path)).json;
  const { rows } = await fixture.sql(`
    select s.worker_id, s.number, s.hash, s.document from passkey_statements s
    join workers w on w.id = s.worker_id where w.address = '${document.workerAddress}' order by s.number`);
  const chain = createPasskeyChain(document.workspaceId);
  for (const { worker_id: workerId, number, hash, document } of rows) {
    const statement = { workerId, number, hash: `0x${hash.toString('hex')}` as const, leaf: null };
    assert.deepEqual(await chain.add({ ...statement, document: JSON.parse(document) }), []);
  }
  return chain.judge(document).faults;
}

async function ownKeyWorker(): Promise<{ account: PrivateKeyAccount; worker: string }> {
  const account = privateKeyToAccount(generatePrivateKey());
  return { account, worker: await fixture.newWorker({ name: 'Bo Dahl', address: account.address }) };
}

/** `aheadMs`: of the clock of the signer's device. */
async function signOwn(
  id: string,
  { account, worker }: { account: PrivateKeyAccount; worker: string },
  aheadMs = 0,
) {
  const { domain, types, primaryType, message } = (await fixture.request(id, worker, 'performed')).json;
  const signedAt = new Date(Date.parse(message.signedAt) + aheadMs).toISOString();
  const signature = await account.signTypedData({
    domain,
    types,
    primaryType,
    message: { ...message, signedAt },
  });
  const answer = await fixture.sign(id, worker, 'performed', { signature, signedAt });
  assert.equal(answer.status, 201, answer.text);
}

/** An entry that somebody signed whose clock is ahead, as far as it may be: later sign-offs have no earlier time. */
async function signedAhead(): Promise<string> {
  const { maintenanceId } = await fixture.made();
  await signOwn(maintenanceId, await ownKeyWorker(), 50_000);
  return maintenanceId;
}

test('a revocation is after all that its passkey has signed, also where a clock was ahead', async () => {
  const { worker, passkey, id } = await fixture.passkeyWorker();
  const maintenanceId = await signedAhead();
  const signed = await fixture.signed(maintenanceId, worker, { role: 'performed', passkey });
  const answer = await fixture.sign(maintenanceId, worker, 'performed', signed);
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(await faultsOf(maintenanceId, 2), []);
  assert.equal((await fixture.revoke(worker, id)).status, 200);
  assert.deepEqual(await faultsOf(maintenanceId, 2), []);
});

test('a first registration is after all that the key has signed, also where a clock was ahead', async () => {
  const own = await ownKeyWorker();
  const maintenanceId = await signedAhead();
  await signOwn(maintenanceId, own);
  const { id } = await fixture.unsignedPasskey(own.worker);
  const path = `${workers}${own.worker}/passkeys/${id}/`;
  const { json } = await service.call('GET', `${path}sign`);
  const { EIP712Domain: _, ...types } = json.types;
  const signature = await own.account.signTypedData({ ...json, types });
  const done = await service.call('POST', `${path}sign`, { body: { signature } });
  assert.equal(done.json.state, 'active', done.text);
  assert.deepEqual(await faultsOf(maintenanceId, 2), []);
});

test('so is one that a held key signs', async () => {
  const worker = await fixture.newWorker({ name: 'Ada Lund' });
  const maintenanceId = await signedAhead();
  assert.equal((await fixture.sign(maintenanceId, worker, 'performed')).status, 201);
  const { answer } = await fixture.register(await fixture.invite(worker));
  assert.equal((await fixture.confirm(worker, answer.json)).json.state, 'active');
  assert.deepEqual(await faultsOf(maintenanceId, 2), []);
});

test('a held key signs nothing once it is destroyed', async () => {
  const worker = await fixture.newWorker({ name: 'Ada Lund' });
  const { maintenanceId } = await fixture.made();
  const { answer } = await fixture.register(await fixture.invite(worker));
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  const waiting = async () => {
    const { rows } = await client.query(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows[0].count;
  };
  try {
    // The sign-off waits after it has looked at the worker and has the key in memory.
    await client.query('begin');
    await client.query('lock table signoff_rules in access exclusive mode');
    const signing = fixture.sign(maintenanceId, worker, 'performed');
    await waitUntil(async () => (await waiting()) === 1);
    const confirming = fixture.confirm(worker, answer.json);
    let isConfirmed = false;
    confirming.then(() => (isConfirmed = true));
    await waitUntil(async () => isConfirmed || (await waiting()) === 2);
    assert.equal(isConfirmed, false, 'the key waits for what is being signed with it');
    await client.query('commit');
    const [signed, confirmed] = await Promise.all([signing, confirming]);
    assert.deepEqual([signed.status, confirmed.json.state], [201, 'active'], confirmed.text);
    assert.deepEqual(await faultsOf(maintenanceId, 1), []);
  } finally {
    await client.end();
  }
});
