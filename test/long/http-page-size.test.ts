/** No answer without a bound: every list, full of the largest rows that the API accepts, comes in small pages, and whole; and every list inside of an answer has its most. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mostPasskeys } from '../../src/access/passkeys/passkeys.ts';
import { mostPeople } from '../../src/access/people/invitations.ts';
import { mostListedVersions } from '../../src/holdings/holds/erasures.ts';
import { maxIntervals } from '../../src/maintenance/intervals/asset-intervals.ts';
import { mostPages } from '../../src/maintenance/published-pages/published-pages.ts';
import { portalLinkLimits } from '../../src/webhooks/portal/portal-links.ts';
import { type FormParts, sendForm } from '../support/clients/upload.ts';
import { fillApprovals } from '../support/openapi/largest-approvals.ts';
import { fillLists, type LargestRows, many, ownerAccount, some } from '../support/openapi/largest-rows.ts';
import { inside } from '../support/openapi/lists-inside.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { webhookSettings } from '../support/openapi/openapi-operations.ts';
import { withoutReferences } from '../support/openapi/openapi-references.ts';
import { measureGrowth } from '../support/service/peak-memory.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const damc = '/api-v1/damc';
const mostBytes = 8_000_000;
const mostGrowth = 100_000_000;

let service: Service;
let rows: LargestRows;

before(async () => {
  service = await startService({ runLoops: false, env: webhookSettings });
  rows = await fillLists(service);
  await fillApprovals(service, rows.fixture.vault.address);
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
  /** Where its items are, when a page is a document with more than them. */
  member?: string;
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
    { query: 'format=proof', id: ['kind', 'leaf'], least: many, member: 'proofs' },
  ],
  [`get ${platform}/files/{fileId}/validations`]: { id: ['id'], least: many },
  [`get ${damc}/workers/`]: { id: ['address'], least: many },
  [`get ${damc}/workers/{address}/passkeys/`]: { id: ['id'], least: many },
  [`get ${damc}/assets/`]: { id: ['assetId'], least: some },
  [`get ${damc}/assets/{assetId}/versions/`]: { id: ['version'], least: some },
  [`get ${damc}/assets/{assetId}/history/`]: { id: ['kind', 'leaf'], least: many + some, member: 'proofs' },
  [`get ${damc}/assets/{assetId}/transfers/`]: { id: ['id'], least: many },
  [`get ${damc}/assets/{assetId}/viewers/`]: { id: ['address'], least: many },
  [`get ${damc}/assets/{assetId}/workers/`]: { id: ['address'], least: many },
  [`get ${damc}/assets/{assetId}/access-log/`]: { id: [], least: many },
  [`get ${damc}/assets/{assetId}/installations/`]: { id: [], least: many },
  [`get ${damc}/assets/{assetId}/intervals/`]: { id: ['id'], least: maxIntervals, whole: true },
  [`get ${damc}/assets/{assetId}/published-pages/`]: { id: ['id'], least: mostPages, whole: true },
  [`get ${damc}/assets/{assetId}/maintenances/`]: {
    query: 'viewerAddress={vaultAddress}',
    id: ['maintenanceId'],
    least: some,
  },
  [`get ${damc}/assets/{assetId}/maintenances/{maintenanceId}/signoffs/requests/`]: {
    id: ['id'],
    least: many,
  },
  [`get ${platform}/events`]: [
    { id: ['id'], least: many },
    { query: 'order=newest', id: ['id'], least: many },
  ],
  [`get ${platform}/webhooks/endpoints`]: { id: ['id'], least: 500 },
  [`get ${platform}/webhooks/deliveries`]: { id: ['id'], least: many },
  [`get ${platform}/webhooks/endpoints/{endpointId}/portal-links`]: {
    id: ['id'],
    least: portalLinkLimits.perEndpoint,
    whole: true,
  },
  [`post ${platform}/webhooks/portal/deliveries`]: { id: ['id'], least: many },
  [`get ${platform}/api-keys`]: { id: ['id'], least: many },
  [`get ${platform}/approvals`]: { id: ['id'], least: many },
  [`get ${platform}/notices`]: { id: ['id'], least: many },
  [`get ${platform}/holds`]: { id: ['subjectId'], least: many },
  [`get ${platform}/erasures`]: { id: ['subjectId'], least: many },
  [`get ${platform}/audit-log`]: { id: ['id'], least: many },
  [`get ${platform}/members`]: { id: ['id'], least: mostPeople / 2 - 1, whole: true },
  [`get ${platform}/sessions`]: { id: ['id'], least: 100, whole: true },
  [`get ${platform}/passkeys`]: { id: ['id'], least: mostPasskeys, whole: true },
  [`get ${platform}/invitations`]: { id: ['id'], least: mostPeople / 2, whole: true },
};

interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

interface Operation {
  parameters?: { name: string }[];
  responses: Record<string, { headers?: object; content?: Record<string, { schema: JsonSchema }> }>;
}

test('the table has every route that returns a list', async () => {
  const json = withoutReferences((await service.call('GET', '/openapi.json')).json);
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
    test(`${route} ${list.query ?? ''}: pages stay small, and contain each item once`, async () => {
      const pages = await walk(route, list);
      const total = pages.reduce((sum, items) => sum + items, 0);
      assert.ok(total >= list.least, `${total} of ${list.least}`);
      assert.equal(pages.length === 1, list.whole === true, `${pages} items`);
    });
  }
}

/** Asks for the largest pages, one after the other; gives how many items each had. */
async function walk(route: string, { query = '', id, member }: List): Promise<number[]> {
  const [method = '', path = ''] = fillIn(route).split(' ');
  const seen = new Set<string>();
  const pages: number[] = [];
  for (let cursor: string | null = null; ; ) {
    const { json, headers } = await measured(() => ask(method, path, { query: fillIn(query), cursor }));
    const items = member === undefined ? json : json[member];
    for (const item of items) {
      const name = JSON.stringify(id.length === 0 ? item : id.map((member) => item[member]));
      assert.ok(id.length === 0 || !seen.has(name), `${name} came twice`);
      seen.add(name);
    }
    if (items.length > 0) pages.push(items.length);
    cursor = headers.get('x-next-cursor');
    // The feed has a cursor at its end, too.
    if (cursor === null || items.length === 0) return pages;
  }
}

/** Neither the answer nor what it takes is large. */
async function measured(work: () => Promise<Answer>): Promise<Answer> {
  const { result, growthBytes } = await measureGrowth(work);
  assert.ok(result.status < 300, result.text.slice(0, 300));
  assert.ok(Buffer.byteLength(result.text) < mostBytes, `${Buffer.byteLength(result.text)} bytes`);
  assert.ok(growthBytes < mostGrowth, `memory grew by ${growthBytes} bytes`);
  return result;
}

test('measures memory anew for each request, so that a large one does not hide the others', async () => {
  for (const turn of ['first', 'second']) {
    const large = measured(async () => {
      const rows = Array.from({ length: 1_000_000 }, (_, n) => ({ n, text: `${turn} ${n}` }));
      return { status: 200, text: String(JSON.stringify(rows).length) } as Answer;
    });
    await assert.rejects(large, /memory grew by/, turn);
  }
});

function fillIn(text: string): string {
  const { fixture, owner: _, ...ids } = rows;
  const names: Record<string, string> = {
    vaultAddress: fixture.vault.address,
    address: fixture.worker,
    ...ids,
  };
  if (text.includes('maintenances')) names.assetId = fixture.assetId;
  return text.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
}

async function ask(
  method: string,
  path: string,
  { query, cursor }: { query: string; cursor: string | null },
): Promise<Answer> {
  if (method === 'post') {
    const token = path.includes('/portal/') && { token: rows.token };
    const body = { limit: 1000, ...(cursor !== null && { cursor }), ...token };
    return service.call('POST', path, { body });
  }
  const isOfPeople = /\/(members|sessions|invitations|platform\/passkeys)$/.test(path);
  if (isOfPeople) return rows.owner.call('GET', path);
  const parameters = new URLSearchParams(query);
  parameters.set('limit', '1000');
  if (cursor !== null) parameters.set('cursor', cursor);
  return service.call('GET', `${path}?${parameters}`);
}

test('the table has every list inside an answer', async () => {
  const json = withoutReferences((await service.call('GET', '/openapi.json')).json);
  const found: string[] = [];
  for (const [path, operations] of Object.entries<Record<string, Operation>>(json.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        const { schema } = content['application/json'] ?? {};
        if (!status.startsWith('2') || !schema) continue;
        for (const member of listsIn(schema)) found.push(`${method} ${path} ${member}`);
      }
    }
  }
  assert.deepEqual(found.sort(), Object.keys(inside).sort());
});

/** The members of an answer, or of the items of one, that are lists. */
function listsIn(schema: JsonSchema, path: string[] = []): string[] {
  const own = schema.type === 'array' && path.length > 0 ? [path.join('.')] : [];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    listsIn(member, [...path, name]),
  );
  const others = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  return [...own, ...below, ...others.flatMap((other) => listsIn(other, path))];
}

/** Answers that hold as much as they can; the other lists inside are in the lists above, or of what is given in a request. */
for (const asked of [
  `get ${platform}/stats?from=2026-01-01T00:00:01Z&to=2026-04-03T00:00:01Z buckets`,
  `get ${platform}/usage budgets`,
  `get ${platform}/webhooks/deliveries/{deliveryId} attempts`,
  `get ${damc}/assets/{assetId}/maintenances/{maintenanceId}/details/?viewerAddress={vaultAddress} signoffs`,
  `get ${platform}/me workspaces`,
]) {
  test(`${asked}: the list has its maximum length, and the answer is small`, async () => {
    const [method = '', path = '', member = ''] = asked.split(' ');
    const most = inside[`${method} ${path.replace(/\?.*/, '')} ${member}`];
    const caller = path.endsWith('/me') ? rows.owner : service;
    const { json } = await measured(() => caller.call('GET', fillIn(path)));
    assert.equal(json[member].length, member === 'budgets' ? json.budgets.length : most);
    assert.ok(json[member].length <= (most ?? 0));
  });
}

test('names the first versions of what was erased, and counts all', async () => {
  const { json } = await measured(() => service.call('GET', `${platform}/erasures?limit=1000`));
  assert.deepEqual([json[0].versions.length, json[0].versionCount], [mostListedVersions, 20_000]);
});

test('names the first thousand versions whose bytes stay, and counts all', async () => {
  const parts: FormParts['parts'] = [
    ['vaultAddress', rows.fixture.vault.address],
    ['file', new File(['the same bytes'], 'a.txt')],
  ];
  const upload = () => sendForm(service, `${platform}/files`, { parts });
  const { id } = (await upload()).json;
  await upload();
  await service.sql(
    `insert into file_versions overriding system value
     select copied.* from (select one as row from file_versions as one where file_id = $1) as original
     cross join generate_series(2, ${many}) as n
     cross join lateral jsonb_populate_record(original.row, jsonb_build_object('version', n, 'current', false)) as copied`,
    [id],
  );
  const { json } = await measured(() => service.call('DELETE', `${platform}/files/${id}/content`));
  assert.equal(json.keptVersions.length, inside[`delete ${platform}/files/{fileId}/content keptVersions`]);
  assert.match(json.message, new RegExp(`of ${many} versions`));
});

test('limits the sign-offs of an entry and the workspaces of a person', async () => {
  const worker = await rows.fixture.newWorker();
  const signed = await rows.fixture.signOff(rows.maintenanceId, { workerAddress: worker, role: 'performed' });
  assertError(signed, 'conflict', /100 sign-offs/);
  const made = await rows.owner.call('POST', `${platform}/workspaces`, { body: { name: 'One more' } });
  assertError(made, 'conflict', /1000 workspaces/);
});

test('limits the due list of an asset with many defects', async () => {
  const { fixture } = rows;
  const path = `${damc}/assets/${encodeURIComponent(fixture.assetId)}/due/?viewerAddress=${fixture.vault.address}`;
  const { status, text, json } = await service.call('GET', path);
  assert.equal(status, 200, text.slice(0, 300));
  assert.ok(Buffer.byteLength(text) < 2_500_000, `${Buffer.byteLength(text)} bytes`);
  assert.ok(json.openDefects.length > 1 && json.openDefects.length < some);
});

test('limits the members and open invitations of a workspace', async () => {
  // Filling takes longer than a session stays fresh, and passkeys that are only rows prove nothing.
  await service.sql('delete from passkeys');
  const confirmed = await rows.owner.call('POST', '/auth/confirm/password', {
    body: { password: ownerAccount.password },
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  const invite = () => rows.owner.call('POST', `${platform}/invitations`, { body: { role: 'viewer' } });
  let answer = await invite();
  for (let more = 0; answer.status === 201 && more < 5; more += 1) answer = await invite();
  assertError(answer, 'conflict', /1000 members and open invitations/);
});

test('metadata has its own limit, and the audit log has the digest of large values', async () => {
  const body = {
    vaultAddress: rows.fixture.vault.address,
    name: 'Asset',
    metadata: { text: 'x'.repeat(65_536) },
  };
  const refused = await service.call('POST', '/api-v1/damc/assets/', { body });
  assert.equal(refused.status, 400);
  assert.match(refused.json.message, /metadata has 65547 bytes, but at most 65536 are allowed/);
  const { json } = await service.call('GET', `${platform}/audit-log?action=asset.update&limit=1`);
  assert.ok(JSON.stringify(json[0].details).length < 4_096);
  assert.match(
    json[0].details.metadata.to.text?.sha256 ?? json[0].details.metadata.to.sha256,
    /^[0-9a-f]{64}$/,
  );
});
