/** No answer without a bound: lists of the largest rows that the API accepts come in pages of a few megabytes, and whole. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MaintenanceStage, openMaintenanceStage } from './maintenance-stage.ts';
import { type Service, startService } from './service.ts';

const platform = '/api-v1/platform';
const mostBytes = 8_000_000;
const mostGrowth = 100_000_000;
/** Of each: more than fits into a page. */
const count = 70;
/** A character takes four bytes of UTF-8. */
const wide = (length: number) => '\u{1F529}'.repeat(length);

let service: Service;
let stage: MaintenanceStage;
let bigAsset: string;

before(async () => {
  service = await startService({ runLoops: false, env: { HOLDFAST_RATE_LIMIT: 'off' } });
  stage = await openMaintenanceStage(service);
  bigAsset = await make('/api-v1/damc/assets/', { ...asset(0), assetId: 'big' }, 'assetId');
  for (let n = 1; n <= count; n += 1) {
    await make('/api-v1/damc/assets/', asset(n), 'assetId');
    await put(`/api-v1/damc/assets/${bigAsset}/`, { metadata: metadata(n) });
    await make('/api-v1/damc/workers/', { name: `Worker ${n}` }, 'address').then((address) =>
      patch(`/api-v1/damc/workers/${address}/`, { licences: licences() }),
    );
    await stage.made({ summary: wide(10_000), type: 'repair' });
    await make(`${platform}/vaults`, { name: `Vault ${n}`, description: wide(2_000) }, 'id');
  }
});
after(() => service.close());

function metadata(n: number): object {
  return { n, text: 'x'.repeat(65_000) };
}

function asset(n: number): object {
  return { vaultAddress: stage.vault.address, name: `Asset ${n}`, metadata: metadata(n) };
}

function licences(): object[] {
  return Array.from({ length: 30 }, () => ({
    scope: wide(200),
    number: wide(100),
    authority: wide(100),
    expiresAt: '2099-01-01T00:00:00Z',
  }));
}

async function make(path: string, body: object, id: string): Promise<string> {
  const answer = await service.call('POST', path, { body });
  assert.ok(answer.status < 300, answer.text.slice(0, 300));
  return answer.json[id];
}

async function put(path: string, body: object): Promise<void> {
  const answer = await service.call('PUT', path, { body });
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
}

async function patch(path: string, body: object): Promise<void> {
  const answer = await service.call('PATCH', path, { body });
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
}

/** Asks for the largest pages, one after the other; gives how many items each had. */
async function walk(path: string, idOf: (item: Record<string, never>) => unknown): Promise<number[]> {
  const seen = new Set<unknown>();
  const pages: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const separator = path.includes('?') ? '&' : '?';
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const before = process.resourceUsage().maxRSS;
    const answer = await service.call('GET', `${path}${separator}limit=1000${query}`);
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    assert.ok((process.resourceUsage().maxRSS - before) * 1024 < mostGrowth);
    assert.ok(Buffer.byteLength(answer.text) < mostBytes, `${Buffer.byteLength(answer.text)} bytes`);
    for (const item of answer.json) {
      assert.ok(!seen.has(idOf(item)), 'an item came twice');
      seen.add(idOf(item));
    }
    pages.push(answer.json.length);
    cursor = answer.headers.get('x-next-cursor');
  }
  return pages;
}

const lists: [name: string, path: () => string, id: string, least: number][] = [
  ['assets', () => '/api-v1/damc/assets/', 'assetId', count + 1],
  ['versions of an asset', () => `/api-v1/damc/assets/${bigAsset}/versions/`, 'version', count + 1],
  ['workers', () => '/api-v1/damc/workers/', 'address', count],
  [
    'maintenance entries',
    () => `${stage.url()}?viewerAddress=${stage.vault.address}`,
    'maintenanceId',
    count,
  ],
  ['vaults', () => `${platform}/vaults`, 'id', count],
  ['the audit log', () => `${platform}/audit-log`, 'id', 4 * count],
];

for (const [name, path, id, least] of lists) {
  test(`${name}: pages of the largest rows stay small, and give each of them once`, async () => {
    const pages = await walk(path(), (item) => item[id]);
    const total = pages.reduce((sum, items) => sum + items, 0);
    assert.ok(total >= least, `${total} of ${least}`);
    assert.ok(pages.every((items) => items > 0));
    if (name !== 'vaults' && name !== 'the audit log')
      assert.ok(pages.length > 1, 'it all fitted into one page');
  });
}

test('metadata have a limit of their own, and the audit log holds the digest of what is large', async () => {
  const body = { ...asset(0), metadata: { text: 'x'.repeat(65_536) } };
  const refused = await service.call('POST', '/api-v1/damc/assets/', { body });
  assert.equal(refused.status, 400);
  assert.match(refused.json.message, /metadata has 65547 bytes, and may have 65536/);
  const { json } = await service.call('GET', `${platform}/audit-log?action=asset.update&limit=1`);
  assert.ok(JSON.stringify(json[0].details).length < 4_096);
  assert.match(
    json[0].details.metadata.to.text?.sha256 ?? json[0].details.metadata.to.sha256,
    /^[0-9a-f]{64}$/,
  );
});
