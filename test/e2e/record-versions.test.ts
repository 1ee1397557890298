/** Versions of records over HTTP: one after the other, whoever adds them and from wherever. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const url = '/api-v1/platform/records';

/** The same for two nodes on one database. */
const env = { HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
let service: Service;
let vaultAddress: string;
let vaultId: string;

before(async () => {
  service = await startService({ env, runLoops: false });
  const { json } = await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Cold room' } });
  vaultAddress = json.address;
  vaultId = json.id;
});
after(() => service.close());

async function made(data: unknown, more: object = {}): Promise<{ id: string; dataHash: string }> {
  const answer = await service.call('POST', url, { body: { vaultAddress, data, ...more } });
  assert.equal(answer.status, 202, answer.text);
  return answer.json;
}

const sql: Service['sql'] = (text, values) => service.sql(text, values);

test('a version follows its predecessor, whose data and hash stay', async () => {
  const first = await made({ n: 1 }, { externalId: 'chained' });
  const versions = `${url}/${first.id}/versions`;
  const second = await service.call('POST', versions, { body: { data: { n: 2 } } });
  assert.equal(second.status, 202, second.text);
  const { id, version, externalId, dataHash } = second.json;
  assert.deepEqual([id, version, externalId, second.json.vaultId], [first.id, 2, 'chained', vaultId]);
  assert.notEqual(dataHash, first.dataHash);
  assert.deepEqual((await service.call('GET', `${url}/${id}`)).json, { ...second.json, data: { n: 2 } });
  assert.deepEqual((await service.call('GET', `${url}/${id}?version=1`)).json, { ...first, data: { n: 1 } });
  assert.deepEqual((await service.call('GET', versions)).json, [second.json, first]);
  assertError(await service.call('GET', `${url}/${id}?version=3`), 'resource_not_found', /version 3/);
  const listed = await service.call('GET', `${url}?externalId=chained`);
  assert.deepEqual(listed.json, [second.json]);
  const { rows } = await sql('select action, details from audit_entries where target_id = $1 order by id', [
    id,
  ]);
  assert.deepEqual(rows[1], { action: 'record.add_version', details: { version: 2 } });
});

test('concurrent versions on two nodes form one chain without loss or gap', async () => {
  const second = await startService({ env, runLoops: false, databaseUrl: service.databaseUrl });
  try {
    const ids = [await made({}), await made({})].map(({ id }) => id);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const node = n % 2 ? second : service;
        return node.call('POST', `${url}/${ids[n % ids.length]}/versions`, {
          key: service.key,
          body: { data: { n } },
        });
      }),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
    for (const id of ids) {
      const own = answers.filter(({ json }) => json.id === id).map(({ json }) => json.version);
      const numbers = Array.from({ length: 30 }, (_, n) => n + 2);
      assert.deepEqual(
        own.sort((one, other) => one - other),
        numbers,
      );
      const { rows } = await sql(
        'select version, previous_leaf, leaf from anchor_leaves where subject_id = $1 order by id',
        [id],
      );
      assert.deepEqual(
        rows.map(({ version }) => version),
        [1, ...numbers],
      );
      assert.deepEqual(
        rows.slice(1).map(({ previous_leaf }) => previous_leaf),
        rows.slice(0, -1).map(({ leaf }) => leaf),
      );
    }
  } finally {
    await second.close();
  }
});

test('lists versions page by page, newest first, while more are added', async () => {
  const { id } = await made({ n: 1 });
  const path = `${url}/${id}/versions`;
  const add = (n: number) => service.call('POST', path, { body: { data: { n } } });
  for (let n = 2; n <= 5; n += 1) await add(n);
  const page = await service.call('GET', `${path}?limit=2`);
  assert.deepEqual(
    page.json.map(({ version }: { version: number }) => version),
    [5, 4],
  );
  await add(6);
  const seen = [];
  for (let cursor = page.headers.get('x-next-cursor'); cursor !== null; ) {
    const next = await service.call('GET', `${path}?limit=2&cursor=${cursor}`);
    seen.push(...next.json.map(({ version }: { version: number }) => version));
    cursor = next.headers.get('x-next-cursor');
  }
  assert.deepEqual(seen, [3, 2, 1]);
  const other = await made({});
  const foreign = `${url}/${other.id}/versions?cursor=${page.headers.get('x-next-cursor')}`;
  assertError(await service.call('GET', foreign), 'invalid_cursor');
});
