/** Looks for secrets where none may be: in the log, in answers, and in every table of the database. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { parseMasterKeys } from '../../src/keys/master-keys.ts';
import { withClient } from '../support/service/database.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
before(async () => {
  service = await startService({ env: { HOLDFAST_LOG_LEVEL: 'trace' } });
});
after(() => service.close());

test('private keys, API keys and the master key appear in no log, answer or table', async () => {
  const vault = (
    await service.call('POST', '/api-v1/platform/vaults', {
      body: { name: 'canary' },
      headers: { 'idempotency-key': 'v' },
    })
  ).json;
  const made = (
    await service.call('POST', '/api-v1/platform/api-keys', {
      body: { name: 'canary' },
      headers: { 'idempotency-key': 'k' },
    })
  ).json;
  await service.call('GET', '/api-v1/platform/vaults', { key: made.key });
  await service.call('GET', `/api-v1/nowhere?x-api-key=${made.key}`, { key: made.key });
  await service.call('POST', '/api-v1/platform/vaults', { key: made.key, body: '{"name": broken' });

  const database = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
  });
  const keyring = await openKeyring({ db: database.db, source: service.config.masterKey });
  const { workspace_id } = await database.db
    .selectFrom('vaults')
    .select('workspace_id')
    .where('id', '=', vault.id)
    .executeTakeFirstOrThrow();
  const privateKey = await keyring.open({ workspaceId: workspace_id, purpose: 'signing-key', id: vault.id });
  await keyring.close();
  await database.close();
  assert.equal(privateKey?.length, 32);
  assert.ok('file' in service.config.masterKey);
  const master = [
    ...parseMasterKeys(await readFile(service.config.masterKey.file, 'utf8'), 'file').byVersion.values(),
  ][0];
  assert.equal(master?.length, 32);

  const canaries = [
    made.key,
    service.key,
    ...[privateKey, master].flatMap((bytes) => [
      bytes?.toString('hex'),
      bytes?.toString('base64'),
      bytes?.toString('base64url'),
    ]),
  ] as string[];
  const tables = await everythingStored();
  const answers = (
    await Promise.all(
      ['vaults', 'api-keys', 'audit-log', 'events'].map((list) =>
        service.call('GET', `/api-v1/platform/${list}`),
      ),
    )
  ).map(({ text }) => text);
  assert.match(tables, /canary/, 'the dump holds what was stored');
  assert.match(service.logged(), /"path":"\/api-v1\/nowhere"/, 'the log holds what was asked');
  for (const canary of canaries) {
    for (const place of [tables, service.logged(), ...answers]) {
      assert.equal(place.toLowerCase().includes(canary.toLowerCase()), false);
    }
  }
});

function everythingStored(): Promise<string> {
  return withClient({ connectionString: service.databaseUrl }, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    const texts = rows.map(
      ({ name }) => `select coalesce(string_agg(t::text, E'\\n'), '') as text from ${name} t`,
    );
    const dumps = [];
    for (const text of texts) dumps.push((await client.query(text)).rows[0].text);
    return dumps.join('\n');
  });
}
