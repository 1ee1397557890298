/** Answers that are not stored but made again: to the byte of the first, whatever has changed since. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../support/service/database.ts';
import { storedAnswers } from '../support/service/idempotent-answers.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const workers = '/api-v1/damc/workers/';
const records = '/api-v1/platform/records';

let database: TestDatabase;
let service: Service;
before(async () => {
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url });
});
after(async () => {
  await service.close();
  await database.drop();
});

function post(path: string, key: string, body: object): Promise<Answer> {
  return service.call('POST', path, { body, headers: { 'idempotency-key': key } });
}

test('a repeat tells of the thing as it was created, whatever has changed since', async () => {
  const [vaultKey, workerKey, recordKey, batchKey] = Array.from({ length: 4 }, () => randomUUID());
  assert.ok(vaultKey && workerKey && recordKey && batchKey);
  const newVault = { name: 'Pier 4', description: 'as it was' };
  const vault = await post(vaults, vaultKey, newVault);
  const { address } = vault.json;
  const worker = await post(workers, workerKey, { name: 'Ada' });
  const newRecord = { vaultAddress: address.toLowerCase(), externalId: 'one', data: { n: 1 } };
  const record = await post(records, recordKey, newRecord);
  const batch = { vaultAddress: address, records: [{ data: { n: 3 }, externalId: 'é' }, { data: { n: 2 } }] };
  const made = await post(`${records}/batch`, batchKey, batch);
  assert.deepEqual([record.status, made.status], [202, 202], `${record.text} ${made.text}`);

  const changes = [
    service.call('POST', `${records}/${record.json.id}/versions`, { body: { data: { n: 4 } } }),
    service.call('PUT', `${vaults}/${address}`, { body: { name: 'Pier 5', description: '' } }),
    service.call('PATCH', `${workers}${worker.json.address}`, { body: { name: 'Eve' } }),
  ];
  for (const { status, text } of await Promise.all(changes)) assert.ok(status < 300, text);
  const closed = await service.call('PATCH', `${vaults}/${address}/deactivate`);
  assert.equal(closed.status, 200, closed.text);

  const repeats: [string, string, object, Answer][] = [
    [vaults, vaultKey, newVault, vault],
    [workers, workerKey, { name: 'Ada' }, worker],
    [records, recordKey, newRecord, record],
    [`${records}/batch`, batchKey, batch, made],
  ];
  for (const [path, key, body, before] of repeats) {
    const again = await post(path, key, body);
    assert.deepEqual([again.status, again.text], [before.status, before.text]);
    assert.equal(again.headers.get('content-type'), before.headers.get('content-type'));
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const [row = ''] = await storedAnswers(database.url, path, key);
    assert.ok(row.includes('"body":null'), row);
  }
});
