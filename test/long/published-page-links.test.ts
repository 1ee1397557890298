/** The addresses of published pages: GS1 Digital Links, pages of entries, limits; and how a page ends with its asset or file. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPageFixture, type PageFixture, secrets } from '../support/fixtures/published-page-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PageFixture;
/** Of the addresses of the first workspace. */
let base: string;
before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
  fixture = await openPageFixture(service);
  base = `/gs1/${(await service.sql('select id from workspaces order by created_at limit 1')).rows[0].id}`;
});
after(() => service?.close());

const gtin = '9506000134352';

test('a page is also found at its GS1 Digital Link, however the address is written', async () => {
  const serial = 'A/1+B%2';
  const { json } = await fixture.publish({
    ...{ show: ['name'], digitalLink: { gtin, serial }, entries: { show: ['proof'] } },
  });
  assert.equal(json.digitalLink, `${service.url}${base}/01/0${gtin}/21/A%2F1%2BB%252`);
  for (const path of [
    ...[
      `${base}/01/0${gtin}/21/A%2F1%2BB%252`,
      `${base}/01/${gtin}/21/A%2f1+B%252`,
      `${base}/01/${gtin}/21/%41%2F1%2BB%252/`,
    ],
    `${base}/01/0${gtin}/21/A%2F1%2BB%252?linkType=gs1:pip&17=301231`,
  ]) {
    const { status, text } = await fixture.visit(path);
    assert.equal(status, 200, path);
    assert.match(text, /<h1>Canary-name<\/h1>/);
  }
  const page = await fixture.visit(json.digitalLink.slice(service.url.length));
  const proofs = [...page.text.matchAll(/href="(\/gs1\/[^"]+proof\.json)"/g)].map(([, path = '']) => path);
  assert.equal(proofs.length, 3);
  for (const proof of proofs) assert.equal((await fixture.visit(proof)).status, 200, proof);
  const none = await fixture.visit('/a/never');
  for (const path of [
    ...[
      `${base}/01/09506000134353/21/A%2F1%2BB%252`,
      `${base}/01/${gtin}/21/a%2F1%2BB%252`,
      `${base}/01/${gtin}/21/A`,
      `${base}/8004/A%2F1`,
    ],
    ...[
      `${base}/01/1/21/%7F`,
      `/gs1/ws_other/01/${gtin}/21/A%2F1%2BB%252`,
      `${base}/01/${gtin}/21/${'A'.repeat(400)}`,
      `${base}/8004/%F0%9F%94%91`,
    ],
  ]) {
    const answer = await fixture.visit(path);
    assert.deepEqual([answer.status, answer.text], [404, none.text], path);
  }
  assertError(
    await fixture.publish({ digitalLink: { gtin: `0${gtin}`, serial } }),
    'conflict',
    /Another published page/,
  );
});

test('an address is free again when its page has ended, and a GIAI is one too', async () => {
  const digitalLink = { giai: '9506000/A1' };
  const { json } = await fixture.publish({ digitalLink });
  assert.equal(json.digitalLink, `${service.url}${base}/8004/9506000%2FA1`);
  assert.equal((await fixture.visit(`${base}/8004/9506000%2FA1`)).status, 200);
  assertError(await fixture.publish({ digitalLink }), 'conflict');
  await service.sql('update published_pages set until = now() where id = $1', [json.id]);
  assert.equal((await fixture.visit(`${base}/8004/9506000%2FA1`)).status, 404);
  assert.equal((await fixture.publish({ digitalLink, show: ['name'] })).status, 201);
  assert.match((await fixture.visit(`${base}/8004/9506000%2FA1`)).text, /Canary-name/);
});

test('two that publish at one address at once: one of them does', async () => {
  const digitalLink = { gtin, serial: 'RACE' };
  const answers = await Promise.all([1, 2, 3, 4].map(() => fixture.publish({ digitalLink })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
});

test('many entries come in pages, the latest work first, each once', async () => {
  await service.sql(
    `insert into maintenances (workspace_id, id, asset_id, vault_id, worker_id, worker_address, worker_name, type, summary,
       performed_at, entry, salt, hash, number)
     select workspace_id, 'mnt_01' || lpad(n::text, 24, '0'), asset_id, vault_id, worker_id, worker_address, worker_name,
       case when n % 2 = 0 then 'Even' else 'Odd' end, 'Work ' || n, performed_at - n * interval '1 day', entry, salt, hash, 100 + n
     from maintenances, generate_series(1, 45) as n where id = $1`,
    [fixture.inspection],
  );
  async function walk(entries: object): Promise<string[]> {
    const seen: string[] = [];
    const first = await fixture.published({ entries: { show: ['summary'], ...entries } });
    for (let path: string | undefined = first; path; ) {
      const { text, status } = await fixture.visit(path);
      assert.equal(status, 200);
      const found = [...text.matchAll(/class="summary">([^<]*)</g)].map(([, summary = '']) => summary);
      assert.ok(found.length <= 20);
      seen.push(...found);
      path = /href="([^"]+)" rel="next"/.exec(text)?.[1];
    }
    return seen;
  }
  const numbers = Array.from({ length: 45 }, (_, index) => index + 1);
  const all = await walk({});
  assert.deepEqual(
    all,
    ['As it was', 'Canary-summary', 'Canary-wrong', ...numbers.map((n) => `Work ${n}`)].sort(
      (a, b) => all.indexOf(a) - all.indexOf(b),
    ),
  );
  assert.deepEqual(
    all.slice(3),
    numbers.map((n) => `Work ${n}`),
  );
  assert.deepEqual(
    await walk({ types: ['EVEN ', 'odd', 'even'] }),
    numbers.map((n) => `Work ${n}`),
  );
  assert.deepEqual(
    await walk({ types: ['even'] }),
    numbers.filter((n) => n % 2 === 0).map((n) => `Work ${n}`),
  );
  const path = await fixture.published({ entries: { show: ['summary'] } });
  const none = await fixture.visit('/a/never');
  for (const after of ['x', 'A'.repeat(22), fixture.inspection]) {
    const { status, text } = await fixture.visit(`${path}?after=${after}`);
    assert.ok(status === 404 ? text === none.text : !text.includes('class="summary"'), after);
  }
  await service.sql(`delete from maintenances where number > 100`);
});

test('a large entry does not make a large page', async () => {
  const path = await fixture.published({ entries: { show: ['type', 'data', 'files'] } });
  await service.sql(
    `update maintenances set entry = jsonb_set(entry::jsonb, '{data,large}', to_jsonb(repeat('x', 900000)))::text where id = $1`,
    [fixture.repair],
  );
  const { text } = await fixture.visit(path);
  assert.ok(text.length < 100_000, `${text.length}`);
});

test('an erased file disappears, with its content', async () => {
  const show = ['files', 'fileContents'];
  const path = await fixture.published({ entries: { types: [secrets.inspectionType], show } });
  const page = await fixture.visit(path);
  const [, file = ''] = /href="([^"]+\/files\/1)"/.exec(page.text) ?? [];
  assert.equal((await fixture.visit(file)).text, secrets.content);
  await service.sql('update file_versions set erased_at = now() where file_id = $1', [fixture.fileId]);
  const after = await fixture.visit(path);
  assert.ok(!after.text.includes(secrets.file) && !after.text.includes('/files/'));
  assert.equal((await fixture.visit(file)).status, 404);
  await service.sql('update file_versions set erased_at = null where file_id = $1', [fixture.fileId]);
  assert.equal((await fixture.visit(file)).status, 200);
  const { json: other } = await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Other' } });
  await service.sql('update files set vault_id = $2 where id = $1', [fixture.fileId, other.id]);
  assert.equal((await fixture.visit(file)).status, 404, 'the content belongs to somebody else now');
  await service.sql('update files set vault_id = $2 where id = $1', [fixture.fileId, fixture.vault.id]);
});

test('an address asks too often, and is told so', async () => {
  const path = await fixture.published({ show: ['name'] });
  const asked = await Promise.all(
    Array.from({ length: 20 }, () => Promise.all(Array.from({ length: 15 }, () => fixture.visit(path)))),
  );
  const statuses = new Set(asked.flat().map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), [200, 429]);
});

test('a transfer ends the pages of the owner before, for good', async () => {
  const digitalLink = { gtin, serial: 'SOLD' };
  const { json: made } = await fixture.publish({ show: ['name'], digitalLink });
  const vaults = '/api-v1/platform/vaults';
  const { json: buyer } = await service.call('POST', vaults, { body: { name: 'Buyer' } });
  const transfer = async (to: string) => {
    const url = `/api-v1/damc/assets/${fixture.assetId}/`;
    const body = { destinationVaultAddress: to };
    assert.equal((await service.call('POST', `${url}transfer/`, { body })).status, 202);
    await waitUntil(async () => (await service.call('GET', url)).json.vaultAddress === to);
  };
  await transfer(buyer.address);
  const { rows } = await service.sql('select 1 from published_pages');
  assert.equal(rows.length, 0);
  await transfer(fixture.vault.address);
  const { rows: events } = await service.sql(
    `select envelope::json -> 'data' ->> 'cause' as cause from events where type = 'asset.page.ended' and envelope like $1`,
    [`%${made.id}%`],
  );
  assert.deepEqual(events, [{ cause: 'transferred' }]);
  const { rows: audited } = await service.sql(
    `select details -> 'endedPages' as ended from audit_entries where action = 'asset.transfer_complete' order by id limit 1`,
  );
  assert.ok(audited[0].ended.includes(made.id));
  assert.equal((await fixture.publish({ digitalLink })).status, 201, 'the address is free');
});
