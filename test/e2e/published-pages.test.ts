/** Pages of assets for outsiders: what they show, and that they show nothing else; when they end; who publishes them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { assetFields, entryFields } from '../../src/maintenance/published-pages/choices.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { openPageFixture, type PageFixture, secrets } from '../support/fixtures/published-page-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PageFixture;
before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
  fixture = await openPageFixture(service);
});
after(() => service?.close());

/** Everything a visitor gets, but for what differs with each request. */
function wholeAnswer({ status, headers, text }: Answer): string {
  const often = ['date', 'x-request-id', 'ratelimit', 'ratelimit-policy'];
  return JSON.stringify([status, [...headers].filter(([name]) => !often.includes(name)), text]);
}

/** The main part as text. */
function textOf({ text }: Answer): string {
  const [, main = ''] = /<main>(.*)<\/main>/s.exec(text) ?? [];
  return main
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const linksOf = ({ text }: Answer) =>
  [...text.matchAll(/href="(\/a\/(?!assets\/)[^"]+)"/g)].map(([, path = '']) => path);
const ofInspection = { types: [secrets.inspectionType] };

/** What must not be in an answer unless it was chosen. */
async function allSecrets(): Promise<Record<string, string>> {
  const { rows } = await service.sql(
    `select (select name from workspaces limit 1) as workspace, (select id from workspaces limit 1) as "workspaceId",
       m.salt, m.hash from maintenances m where id = $1`,
    [fixture.inspection],
  );
  const [{ workspace, workspaceId, salt, hash }] = rows;
  return {
    ...secrets,
    ...{ workspaceId, organisation: `Published by ${workspace}`, vault: fixture.vault.address },
    ...{ vaultId: fixture.vault.id, inspection: fixture.inspection, repair: fixture.repair },
    ...{ correction: fixture.correction, fileId: fixture.fileId },
    ...{ salt: salt.toString('hex'), hash: hash.toString('hex') },
    ...{ hours: '4,711.5', cycles: '815', performedAt: '15 January 2026' },
    ...{ inService: 'In service', released: 'Released', performed: 'Performed' },
    fileHash: createHash('sha256').update(secrets.content).digest('hex'),
  };
}

test('a page on which nothing was chosen says nothing but until when it is published', async () => {
  const answer = await fixture.visit(await fixture.published({}));
  assert.equal(answer.status, 200);
  assert.match(
    textOf(answer),
    /^Asset The owner of this asset publishes this page until [^.]+ and has chosen what it shows\. There may be more that it does not show\.$/,
  );
  for (const [name, secret] of Object.entries(await allSecrets()))
    assert.ok(!wholeAnswer(answer).includes(secret), `${name} is shown`);
});

/** What each field alone shows of the canary. */
const shownByAsset: Record<(typeof assetFields)[number], string[]> = {
  name: ['name'],
  assetId: ['assetId'],
  serialNumber: ['serialNumber'],
  partNumber: ['partNumber'],
  usage: ['hours', 'cycles'],
  state: ['inService'],
  installedIn: ['parent'],
  owner: ['vault'],
  organisation: ['organisation'],
};
type Alone = Exclude<(typeof entryFields)[number], 'fileContents' | 'licences' | 'documents'>;
const shownByEntry: Record<Alone, string[]> = {
  type: ['inspectionType'],
  summary: ['summary'],
  performedAt: ['performedAt'],
  recordedAt: [],
  workers: ['worker'],
  data: ['data'],
  files: ['file', 'fileHash'],
  release: ['released'],
  signoffs: ['performed'],
  proof: [],
};

test('each field shows what it names, and no other secret of the asset', async () => {
  const known = Object.entries(await allSecrets());
  const found = async (body: object) => {
    const path = await fixture.published(body);
    const answer = await fixture.visit(path);
    assert.equal(answer.status, 200);
    const whole = wholeAnswer(answer) + textOf(answer);
    return known.flatMap(([name, secret]) => (whole.includes(secret) ? [name] : []));
  };
  for (const field of assetFields) {
    assert.deepEqual(await found({ show: [field] }), shownByAsset[field], field);
  }
  for (const [field, names] of Object.entries(shownByEntry)) {
    assert.deepEqual(await found({ entries: { ...ofInspection, show: [field] } }), names, field);
  }
  assert.deepEqual(await found({ entries: { ...ofInspection, show: ['signoffs', 'licences'] } }), [
    ...['inspectionType', 'licence', 'performed'],
  ]);
  assert.deepEqual(await found({ entries: { ...ofInspection, show: ['signoffs', 'workers'] } }), [
    ...['worker', 'certifier', 'performed'],
  ]);
});

const everything = {
  show: [...assetFields],
  entries: { show: [...entryFields] },
};

test('a proof without the document has no salt, so that nothing can be guessed by it, and still verifies', async () => {
  const path = await fixture.published({ entries: { ...ofInspection, show: ['proof'] } });
  const page = await fixture.visit(path);
  const files = linksOf(page).filter((link) => link !== path);
  assert.equal(files.length, 1, page.text);
  const [proof = ''] = files;
  const { text, status, headers } = await fixture.visit(proof);
  assert.equal(status, 200);
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="proof.json"/);
  assert.equal(JSON.parse(text).content.salt, null);
  const registry = { address: registryAddress, codeHash: registryCodeHash };
  const { steps } = await verifyProof(text, { registry, chain: relayReader(service) });
  assert.deepEqual(
    steps.filter(({ status }) => status === 'fail'),
    [],
  );
  for (const below of ['document.json', 'signoffs/1/proof.json', 'signoffs/1/document.json', 'files/1']) {
    const none = await fixture.visit(proof.replace('proof.json', below));
    assert.equal(none.status, 404, below);
  }
});

test('documents and files are given as they were hashed, and verify without the service', async () => {
  const path = await fixture.published(everything);
  const page = await fixture.visit(path);
  const text = textOf(page);
  for (const part of [
    ...['Canary-name Id canary-id Serial number Canary-serial Part number Canary-part', 'State In service'],
    ...[
      'Installed in Canary-parent',
      'Released: this work is certified',
      'Canary-summary',
      'torque canary-datum',
    ],
    'Certified by Canary-certifier on',
    `signed with a passkey, licence CANARY-66 of EASA (canary-inspection)`,
    'Release withdrawn: the owner has recorded a correction of this entry',
    'Not released: nobody has certified this work',
  ]) {
    assert.ok(text.includes(part), `${part} is missing in ${text}`);
  }
  const links = linksOf(page);
  const proofs = links.filter((link) => link.endsWith('/proof.json'));
  assert.equal(proofs.length, 3 + 4);
  for (const proof of proofs) {
    const { text } = await fixture.visit(proof);
    const document = await fixture.visit(proof.replace('proof.json', 'document.json'));
    assert.equal(document.status, 200);
    const registry = { address: registryAddress, codeHash: registryCodeHash };
    const content = Buffer.from(document.text);
    const { steps } = await verifyProof(text, { registry, chain: relayReader(service), content });
    assert.equal(steps.find(({ name }) => name === 'digest')?.status, 'pass', JSON.stringify(steps));
    assert.deepEqual(
      steps.filter(({ status }) => status === 'fail'),
      [],
    );
  }
  const [file = ''] = links.filter((link) => link.includes('/files/'));
  const given = await fixture.visit(file);
  assert.equal(given.text, secrets.content);
  assert.match(given.headers.get('content-disposition') ?? '', /^attachment;/);
  assert.match(given.headers.get('content-security-policy') ?? '', /sandbox/);
});

test('no address tells when an entry was recorded, or is the same on two pages', async () => {
  const body = { entries: { ...ofInspection, show: ['proof'] } };
  const refs = [];
  for (const path of [await fixture.published(body), await fixture.published(body)]) {
    const [, ref] = /entries\/([^/]+)\//.exec((await fixture.visit(path)).text) ?? [];
    refs.push(ref);
    assert.equal((await fixture.visit(`${path}/entries/${ref}/proof.json`)).status, 200);
    assert.equal((await fixture.visit(`${path}/entries/${fixture.inspection}/proof.json`)).status, 404);
  }
  assert.notEqual(refs[0], refs[1]);
  const [path] = [await fixture.published({ entries: { types: [secrets.repairType], show: ['proof'] } })];
  assert.equal((await fixture.visit(`${path}/entries/${refs[0]}/proof.json`)).status, 404);
});

test('an entry that was not chosen cannot be had by its address on the same page', async () => {
  const path = await fixture.published({ entries: { show: ['proof'] } });
  const proofs = linksOf(await fixture.visit(path)).filter((link) => link.endsWith('.json'));
  assert.equal(proofs.length, 3);
  const narrowed = { entries: { types: null, maintenanceIds: [fixture.repair], show: ['proof'] } };
  await service.sql(`update published_pages set choices = choices || $1 where choices @> '{"asset":[]}'`, [
    JSON.stringify(narrowed),
  ]);
  const found = [];
  for (const proof of proofs) found.push((await fixture.visit(proof)).status);
  assert.deepEqual(found.sort(), [200, 404, 404]);
});

test('ends at its moment, when it is revoked, and for an address that never was, with one and the same answer', async () => {
  const never = await fixture.visit(`/a/${'x'.repeat(32)}`);
  assert.equal(never.status, 404);
  assert.match(textOf(never), /^There is no page here/);
  const until = new Date(Date.now() + 1500);
  const ending = await fixture.published({ ...everything, until: until.toISOString() });
  const files = linksOf(await fixture.visit(ending));
  assert.ok(files.length > 3);
  await waitUntil(async () => Date.now() >= until.getTime());
  for (const path of [ending, ...files]) {
    assert.equal(wholeAnswer(await fixture.visit(path)), wholeAnswer(never), path);
  }
  const { json } = await fixture.publish({ show: ['name'] });
  const path = json.link.slice(service.url.length);
  assert.equal((await fixture.visit(path)).status, 200);
  const url = `/api-v1/damc/assets/${fixture.assetId}/published-pages/`;
  assert.ok((await service.call('GET', url)).json.some(({ id }: { id: string }) => id === json.id));
  assert.equal((await service.call('DELETE', `${url}${json.id}/`)).status, 204);
  assert.equal(wholeAnswer(await fixture.visit(path)), wholeAnswer(never));
  assertError(await service.call('DELETE', `${url}${json.id}/`), 'resource_not_found');
  assert.ok(!(await service.call('GET', url)).json.some(({ id }: { id: string }) => id === json.id));
});

test('is strict about scripts and frames, and tells search engines and other sites nothing', async () => {
  for (const path of [await fixture.published({ show: ['name'] }), '/a/never']) {
    const { headers, text } = await fixture.visit(path);
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-robots-tag'), 'noindex, nofollow');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.doesNotMatch(text, /<script|<style|\sstyle=|\son\w+=/);
  }
});

test('the token is stored nowhere, and not in the log', async () => {
  const path = await fixture.published({ show: ['name'] });
  await fixture.visit(path);
  await fixture.visit('/a/nobody-made-this');
  const token = path.slice('/a/'.length);
  const { rows } = await service.sql('select p::text as page from published_pages p');
  assert.ok(rows.every(({ page }: { page: string }) => !page.includes(token)));
  assert.match(service.logged(), /"path":"\/a\/…"/);
  assert.ok(!service.logged().includes(token) && !service.logged().includes('nobody-made-this'));
});

test('publishing and revoking are audited and announced', async () => {
  const { json } = await fixture.publish({ show: ['name'], entries: { ...ofInspection, show: ['type'] } });
  await service.call('DELETE', `/api-v1/damc/assets/${fixture.assetId}/published-pages/${json.id}/`);
  const { rows: audited } = await service.sql(
    `select action, details from audit_entries where target_id = $1 and details ->> 'pageId' = $2 order by id`,
    [fixture.assetId, json.id],
  );
  assert.deepEqual(audited, [
    {
      action: 'asset.publish_page',
      details: {
        ...{ pageId: json.id, until: json.until, digitalLink: null, shown: ['name'] },
        entries: { ...ofInspection, maintenanceIds: null, shown: ['type'] },
      },
    },
    { action: 'asset.revoke_page', details: { pageId: json.id } },
  ]);
  const { rows: events } = await service.sql(
    `select type, envelope::json -> 'data' as data from events where type like 'asset.page.%' and envelope like $1 order by id`,
    [`%${json.id}%`],
  );
  assert.deepEqual(
    events.map(({ type, data: { ended_at: _, ...data } }) => [type, data]),
    [
      ['asset.page.published', { asset_id: fixture.assetId, page_id: json.id, until: json.until }],
      ['asset.page.ended', { asset_id: fixture.assetId, page_id: json.id, cause: 'revoked' }],
    ],
  );
});

test('what cannot be published is refused with a reason', async () => {
  const refusals: [object, RegExp][] = [
    [{ until: new Date().toISOString() }, /until must be in the future/],
    [{ entries: { show: ['documents'] } }, /documents, which also shows type, .*proof/],
    [{ entries: { show: ['fileContents'] } }, /also shows files/],
    [{ entries: { show: ['licences'] } }, /also shows signoffs/],
    [{ entries: { types: ['a'], maintenanceIds: ['mnt_1'], show: [] } }, /not both/],
    [{ show: ['metadata'] }, /show/],
    [{ entries: { show: ['salt'] } }, /show/],
    [{ digitalLink: { gtin: '09506000134353', serial: 'A' } }, /check digit/],
    [{ digitalLink: { gtin: '09506000134352' } }, /gtin and serial/],
    [{ digitalLink: {} }, /gtin and serial/],
  ];
  for (const [body, message] of refusals)
    assertError(await fixture.publish(body), 'invalid_request', message);
  const unknown = { entries: { maintenanceIds: [fixture.inspection, 'mnt_1'], show: ['type'] } };
  assertError(await fixture.publish(unknown), 'resource_not_found', /entries\.maintenanceIds/);
});

test('no workspace takes the GS1 Digital Link of another', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const digitalLink = { gtin: '9506000134352', serial: 'WANTED' };
  const publishAs = async (key: string, name: string) => {
    const post = async (path: string, body: object) => {
      const made = await service.call('POST', path, { key, body });
      assert.equal(made.status, 201, made.text);
      return made.json;
    };
    const vault = await post('/api-v1/platform/vaults', { name: 'v' });
    const asset = await post('/api-v1/damc/assets/', { vaultAddress: vault.address, name });
    const body = { until, show: ['name'], digitalLink };
    const page = await post(`/api-v1/damc/assets/${asset.assetId}/published-pages/`, body);
    return page.digitalLink.slice(service.url.length) as string;
  };
  const first = await publishAs(await service.makeKey({ newWorkspace: true }), 'Of the squatter');
  const second = await publishAs(service.key, 'Of the owner');
  assert.notEqual(first, second);
  assert.match((await fixture.visit(first)).text, /Of the squatter/);
  assert.match((await fixture.visit(second)).text, /Of the owner/);
});

test('is published by who may read what it shows, in their own workspace', async () => {
  const body = { until: new Date(Date.now() + 60_000).toISOString(), show: ['name'] };
  const path = `/api-v1/damc/assets/${fixture.assetId}/published-pages/`;
  const other = await service.makeKey({ newWorkspace: true });
  assertError(await service.call('POST', path, { body, key: other }), 'resource_not_found');
  assertError(await service.call('GET', path, { key: other }), 'resource_not_found');
  const { json } = await fixture.publish({});
  const page = `${path}${json.id}/`;
  assertError(await service.call('DELETE', page, { key: other }), 'resource_not_found');
  const viewer = await makePerson(service, 'viewer');
  assertError(await viewer.call('POST', path, { body }), 'forbidden');
  assertError(await viewer.call('DELETE', page), 'forbidden');
  assert.equal((await viewer.call('GET', path)).status, 200);
  const writer = await service.makeKey({ scopes: ['assets:write'] });
  assertError(await service.call('POST', path, { body, key: writer }), 'forbidden', /assets:read/);
  const reader = await service.makeKey({ scopes: ['assets:write', 'assets:read'] });
  const files = { ...body, entries: { show: ['files', 'fileContents'] } };
  assertError(await service.call('POST', path, { body: files, key: reader }), 'forbidden', /files:read/);
  assert.equal((await service.call('POST', path, { body, key: reader })).status, 201);
});
