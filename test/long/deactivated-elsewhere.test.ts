/** A vault that one node deactivates: the other refuses new records at once, though it has seen the vault active. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { createTestDatabase, type TestDatabase } from '../support/service/database.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const records = '/api-v1/platform/records';

const env = { HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
let database: TestDatabase;
let first: Service;
let second: Service;

before(async () => {
  database = await createTestDatabase();
  first = await startService({ env, databaseUrl: database.url });
  second = await startService({ env, databaseUrl: database.url });
});
after(async () => {
  await first.close();
  await second.close();
  await database.drop();
});

function post(key: string, body: object): Promise<Answer> {
  return first.call('POST', records, { body, headers: { 'idempotency-key': key } });
}

test('new records are refused, repeats get their answer, and after a reactivation new ones are made', async () => {
  const { address } = (await first.call('POST', vaults, { body: { name: 'closed elsewhere' } })).json;
  const body = { vaultAddress: address, data: { pallets: 12 } };
  const made = await post('before', body);
  assert.equal(made.status, 202, made.text);
  const deactivated = await second.call('PATCH', `${vaults}/${address}/deactivate`, { key: first.key });
  assert.equal(deactivated.status, 200, deactivated.text);
  assertError(await post('after', body), 'vault_deactivated', new RegExp(address));
  assert.equal((await post('before', body)).text, made.text);
  assertError(await post('after', body), 'vault_deactivated');
  await second.call('PATCH', `${vaults}/${address}/reactivate`, { key: first.key });
  assert.equal((await post('after', body)).status, 202);
});
