/** The label of development evidence: on every answer that tells of the embedded chain, and on no other. */
// tier: process
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';

let embedded: Service;
let real: Service;
before(async () => {
  // The settings decide: neither needs its chain to run.
  embedded = await startService({ chain: true, runLoops: false });
  real = await startService({ runLoops: false });
});
after(async () => {
  await embedded.close();
  await real.close();
});

async function labels({ call }: Service): Promise<Record<string, string | null>> {
  const { address } = (await call('POST', `${platform}/vaults`, { body: { name: 'v' } })).json;
  const body = { vaultAddress: address, data: { n: 1 } };
  const headers = { 'idempotency-key': `evidence-${address}` };
  const created = await call('POST', `${platform}/records`, { body, headers });
  const record = `${platform}/records/${created.json.id}`;
  const answers = {
    create: created,
    replay: await call('POST', `${platform}/records`, { body, headers }),
    batch: await call('POST', `${platform}/records/batch`, {
      body: { vaultAddress: address, records: [{ data: {} }] },
    }),
    get: await call('GET', record),
    list: await call('GET', `${platform}/records`),
    versions: await call('GET', `${record}/versions`),
    addVersion: await call('POST', `${record}/versions`, { body: { data: {} } }),
    proof: await call('GET', `${record}/proof`),
    transactions: await call('POST', `${platform}/vaults/${address}/transactions`),
    vault: await call('GET', `${platform}/vaults/${address}`),
    noKey: await call('GET', record, { key: null }),
  };
  assert.deepEqual(
    Object.values(answers).map(({ status }) => status),
    [202, 202, 202, 200, 200, 200, 202, 409, 200, 200, 401],
  );
  return Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [name, answer.headers.get('x-evidence')]),
  );
}

test('labels every answer about records, proofs and transactions on the embedded chain', async () => {
  const { vault, noKey, ...rest } = await labels(embedded);
  assert.equal(vault, null);
  assert.equal(noKey, null);
  assert.deepEqual(new Set(Object.values(rest)), new Set(['development']));
});

test('labels no answer on a chain that the operator chose', async () => {
  assert.deepEqual(new Set(Object.values(await labels(real))), new Set([null]));
});

test('the OpenAPI document describes the label beside the other response headers', async () => {
  const { paths } = (await real.call('GET', '/openapi.json', { key: null })).json;
  const headersOf = (path: string, method: string, status: number) =>
    Object.keys(paths[`${platform}${path}`][method].responses[status].headers ?? {}).sort();
  assert.deepEqual(headersOf('/records/{recordId}/proof', 'get', 200), ['X-Evidence']);
  assert.deepEqual(headersOf('/records', 'get', 200), ['X-Evidence', 'X-Next-Cursor']);
  assert.deepEqual(headersOf('/records', 'post', 202), ['X-Evidence']);
  assert.deepEqual(headersOf('/vaults/{vaultAddress}/transactions', 'post', 200), [
    'X-Evidence',
    'X-Indexed-Block',
    'X-Next-Cursor',
  ]);
  assert.deepEqual(headersOf('/vaults', 'get', 200), ['X-Next-Cursor']);
});
