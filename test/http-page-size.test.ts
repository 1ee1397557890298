/** No answer without a bound: every list, full of the largest rows that the API accepts, comes in small pages, and whole. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mostPeople } from '../src/auth/invitations.ts';
import { maxIntervals } from '../src/damc/asset-intervals.ts';
import { fillLists, type LargestRows, many, some } from './largest-rows.ts';
import { assertError } from './openapi-answers.ts';
import { webhookSettings } from './openapi-operations.ts';
import { type Answer, type Service, startService } from './service.ts';

const platform = '/api-v1/platform';
const damc = '/api-v1/damc';
const mostBytes = 8_000_000;
const mostGrowth = 100_000_000;

let service: Service;
let rows: LargestRows;

before(async () => {
  service = await startService({ runLoops: false, env: webhookSettings });
  rows = await fillLists(service);
});
after(() => service.close());

interface List {
  /** With what is in braces filled in. */
  query?: string;
  /** What tells its items apart. */
  id: string[];
  /** How many there are at least. */
  least: number;
  /** Comes as one page. */
  whole?: boolean;
}

/** Every list of the API, by method and path. */
const lists: Record<string, List | List[]> = {
  [`get ${platform}/vaults`]: { id: ['id'], least: many },
  [`post ${platform}/vaults/{vaultAddress}/transactions`]: { id: ['hash'], least: many },
  [`get ${platform}/records`]: { id: ['id'], least: many },
  [`get ${platform}/records/{recordId}/versions`]: { id: ['version'], least: many },
  [`get ${platform}/files`]: { id: ['id'], least: many },
  [`get ${platform}/files/{fileId}/versions`]: { id: ['version'], least: many },
  [`get ${platform}/files/{fileId}/history`]: [
    { id: ['type', 'id', 'version'], least: 2 * many },
    { query: 'proofs=true', id: ['type', 'id', 'version'], least: 2 * many },
  ],
  [`get ${platform}/files/{fileId}/validations`]: { id: ['id'], least: many },
  [`get ${damc}/workers/`]: { id: ['address'], least: many },
  [`get ${damc}/assets/`]: { id: ['assetId'], least: some },
  [`get ${damc}/assets/{assetId}/versions/`]: { id: ['version'], least: some },
  [`get ${damc}/assets/{assetId}/transfers/`]: { id: ['id'], least: many },
  [`get ${damc}/assets/{assetId}/viewers/`]: { id: ['address'], least: many },
  [`get ${damc}/assets/{assetId}/workers/`]: { id: ['address'], least: many },
  [`get ${damc}/assets/{assetId}/access-log/`]: { id: [], least: many },
  [`get ${damc}/assets/{assetId}/installations/`]: { id: [], least: many },
  [`get ${damc}/assets/{assetId}/intervals/`]: { id: ['id'], least: maxIntervals, whole: true },
  [`get ${damc}/assets/{assetId}/maintenances/`]: {
    query: 'viewerAddress={vaultAddress}',
    id: ['maintenanceId'],
    least: some,
  },
  [`get ${platform}/events`]: [
    { id: ['id'], least: many },
    { query: 'order=newest', id: ['id'], least: many },
  ],
  [`get ${platform}/webhooks/endpoints`]: { id: ['id'], least: 500 },
  [`get ${platform}/webhooks/deliveries`]: { id: ['id'], least: many },
  [`get ${platform}/api-keys`]: { id: ['id'], least: many },
  [`get ${platform}/audit-log`]: { id: ['id'], least: many },
  [`get ${platform}/members`]: { id: ['id'], least: mostPeople / 2 - 1, whole: true },
  [`get ${platform}/sessions`]: { id: ['id'], least: 100, whole: true },
  [`get ${platform}/invitations`]: { id: ['id'], least: mostPeople / 2, whole: true },
};

interface Operation {
  parameters?: { name: string }[];
  responses: Record<string, { headers?: object; content?: Record<string, { schema: { type?: string } }> }>;
}

test('every route that answers with a list is among these', async () => {
  const { json } = await service.call('GET', '/openapi.json');
  const found: string[] = [];
  for (const [path, operations] of Object.entries<Record<string, Operation>>(json.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      const { headers = {}, content = {} } = responses['200'] ?? {};
      const isArray = content['application/json']?.schema.type === 'array';
      if (isArray || 'X-Next-Cursor' in headers) found.push(`${method} ${path}`);
    }
  }
  assert.deepEqual(found.sort(), Object.keys(lists).sort());
});

for (const [route, known] of Object.entries(lists)) {
  for (const list of [known].flat()) {
    test(`${route} ${list.query ?? ''}: pages stay small, and give each item once`, async () => {
      const pages = await walk(route, list);
      const total = pages.reduce((sum, items) => sum + items, 0);
      assert.ok(total >= list.least, `${total} of ${list.least}`);
      assert.equal(pages.length === 1, list.whole === true, `${pages} items`);
    });
  }
}

/** Asks for the largest pages, one after the other; gives how many items each had. */
async function walk(route: string, { query = '', id }: List): Promise<number[]> {
  const [method = '', path = ''] = fillIn(route).split(' ');
  const seen = new Set<string>();
  const pages: number[] = [];
  for (let cursor: string | null = null; ; ) {
    const peakBefore = process.resourceUsage().maxRSS;
    const answer = await ask(method, path, { query: fillIn(query), cursor });
    const { status, text, json, headers } = answer;
    assert.equal(status, 200, text.slice(0, 300));
    assert.ok(Buffer.byteLength(text) < mostBytes, `${Buffer.byteLength(text)} bytes`);
    const growth = (process.resourceUsage().maxRSS - peakBefore) * 1024;
    assert.ok(growth < mostGrowth, `memory grew by ${growth} bytes`);
    for (const item of json) {
      const name = JSON.stringify(id.length === 0 ? item : id.map((member) => item[member]));
      assert.ok(id.length === 0 || !seen.has(name), `${name} came twice`);
      seen.add(name);
    }
    if (json.length > 0) pages.push(json.length);
    cursor = headers.get('x-next-cursor');
    // The feed has a cursor at its end, too.
    if (cursor === null || json.length === 0) return pages;
  }
}

function fillIn(text: string): string {
  const { stage, assetId, fileId, recordId } = rows;
  const names: Record<string, string> = { vaultAddress: stage.vault.address, assetId, fileId, recordId };
  if (text.includes('maintenances')) names.assetId = stage.assetId;
  return text.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
}

async function ask(
  method: string,
  path: string,
  { query, cursor }: { query: string; cursor: string | null },
): Promise<Answer> {
  if (method === 'post') {
    const body = { limit: 1000, ...(cursor !== null && { cursor }) };
    return service.call('POST', path, { body });
  }
  const isOfPeople = /\/(members|sessions|invitations)$/.test(path);
  if (isOfPeople) return rows.owner.call('GET', path);
  const parameters = new URLSearchParams(query);
  parameters.set('limit', '1000');
  if (cursor !== null) parameters.set('cursor', cursor);
  return service.call('GET', `${path}?${parameters}`);
}

test('the due list of an asset with many defects has a bound, and gives the oldest', async () => {
  const { stage } = rows;
  const path = `${damc}/assets/${encodeURIComponent(stage.assetId)}/due/?viewerAddress=${stage.vault.address}`;
  const { status, text, json } = await service.call('GET', path);
  assert.equal(status, 200, text.slice(0, 300));
  assert.ok(Buffer.byteLength(text) < 2_500_000, `${Buffer.byteLength(text)} bytes`);
  assert.ok(json.openDefects.length > 1 && json.openDefects.length < some);
});

test('a workspace has so many people and open invitations, and no more', async () => {
  const invite = () => rows.owner.call('POST', `${platform}/invitations`, { body: { role: 'viewer' } });
  let answer = await invite();
  for (let more = 0; answer.status === 201 && more < 5; more += 1) answer = await invite();
  assertError(answer, 'conflict', /1000 members and open invitations/);
});

test('metadata have a limit of their own, and the audit log holds the digest of what is large', async () => {
  const body = {
    vaultAddress: rows.stage.vault.address,
    name: 'Asset',
    metadata: { text: 'x'.repeat(65_536) },
  };
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
