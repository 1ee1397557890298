/** A client that is generated from the OpenAPI document: its calls type-check with `npm run check`, and are made here. */
// tier: process
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { clientFiles } from '../../clients/generator/files.ts';
import { createTypedClient } from '../support/openapi/typed-client.ts';
import { type Service, startService } from '../support/service/service.ts';

const docs = join(import.meta.dirname, '../../docs');
const document = JSON.parse(readFileSync(join(docs, 'openapi.json'), 'utf8'));

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.close());

test('what the clients generate from the document is up to date: npm run openapi:accept', async () => {
  for (const [file, wanted] of Object.entries(await clientFiles(document))) {
    assert.equal(await readFile(join(docs, '..', file), 'utf8'), wanted, file);
  }
});

test('an independent linter finds nothing but the trailing slashes of the interface', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const source = JSON.stringify({ ...document, servers: [{ url: 'https://holdfast.example.org' }] });
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  const slashes = problems.filter(({ ruleId }) => ruleId === 'no-path-trailing-slash');
  assert.ok(slashes.length > 0, 'the linter looks at something');
  assert.deepEqual(
    problems.filter((problem) => !slashes.includes(problem)).map(({ ruleId, message }) => [ruleId, message]),
    [],
  );
});

test('the typed client creates, reads, lists and is refused', async () => {
  const client = createTypedClient(service.url, service.key);
  const made = await client.POST('/api-v1/platform/vaults', { body: { name: 'Deeds' } });
  assert.equal(made.response.status, 201);
  const vault = made.data ?? assert.fail(made.error?.message);
  const found = await client.GET('/api-v1/platform/vaults/{vaultAddress}', {
    params: { path: { vaultAddress: vault.address } },
  });
  assert.deepEqual(found.data, vault);
  const record = await client.POST('/api-v1/platform/records', {
    body: { vaultAddress: vault.address, data: { deed: 7 } },
    params: { header: { 'idempotency-key': 'deed-7' } },
  });
  assert.equal(record.data?.status, 'pending', record.error?.message);
  const page = await client.GET('/api-v1/platform/records', { params: { query: { limit: 1 } } });
  assert.deepEqual(
    page.data?.map(({ id }) => id),
    [record.data.id],
  );
  const refused = await client.GET('/api-v1/platform/records/{recordId}', {
    params: { path: { recordId: 'rec_none' } },
  });
  assert.equal(refused.error?.errorCode, 'resource_not_found');
});
