/** The life of a vault over the API: created, found, renamed and listed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.close());

test('a vault is created, found by its address in any case, renamed, and listed', async () => {
  const made = await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Treasury' } });
  assert.equal(made.status, 201);
  assert.match(made.json.id, /^vlt_[0-9A-Z]{26}$/);
  assert.equal(made.json.address, made.json.walletAddress);
  assert.equal(made.json.description, '');
  assert.equal(made.json.status, 'active');

  const { address } = made.json;
  for (const form of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
    const found = await service.call('GET', `/api-v1/platform/vaults/${form}/`);
    assert.equal(found.status, 200);
    assert.deepEqual(found.json, made.json);
  }

  const renamed = await service.call('PUT', `/api-v1/platform/vaults/${address}`, {
    body: { description: 'Cold' },
  });
  assert.equal(renamed.status, 200);
  assert.equal(renamed.json.name, 'Treasury');
  assert.equal(renamed.json.description, 'Cold');

  const list = await service.call('GET', '/api-v1/platform/vaults');
  assert.deepEqual(list.json, [renamed.json]);
});
