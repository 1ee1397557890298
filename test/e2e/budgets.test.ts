/** Budgets of workspaces: what is over them is refused as a whole, and the figures are what a recount gives. */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openUpload, sendForm } from '../support/clients/upload.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { webhookSettings } from '../support/openapi/openapi-operations.ts';
import { command } from '../support/service/commands.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const api = '/api-v1/platform';

let service: Service;
before(async () => {
  service = await startService({ env: webhookSettings });
});
after(() => service.close());

interface Tenant {
  key: string;
  workspaceId: string;
  vaultAddress: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  limit(limits: Record<string, number | null>): Promise<void>;
  used(name: string): Promise<number>;
  record(data: object): Promise<Answer>;
  upload(content: string): Promise<Answer>;
}

async function newTenant(): Promise<Tenant> {
  const key = await service.makeKey({ newWorkspace: true });
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, `${api}${path}`, { key, ...(body !== undefined && { body }) });
  const { json: vault } = await call('POST', '/vaults', { name: 'v' });
  const { rows } = await service.sql('select workspace_id from vaults where id = $1', [vault.id]);
  const { workspace_id: workspaceId } = rows[0];
  const vaultAddress = vault.address;
  return {
    key,
    workspaceId,
    vaultAddress,
    call,
    async limit(limits) {
      await service.sql('update workspaces set limits = $2 where id = $1', [workspaceId, limits]);
    },
    async used(name) {
      const { json } = await call('GET', '/usage');
      return json.budgets.find((budget: { name: string }) => budget.name === name).used;
    },
    record: (data) => call('POST', '/records', { vaultAddress, data }),
    upload: (content) =>
      sendForm(service, `${api}/files`, {
        key,
        parts: [
          ['vaultAddress', vaultAddress],
          ['file', new File([content], 'a.txt')],
        ],
      }),
  };
}

/** As the tables have it that the figures are of. */
async function recount({ workspaceId }: Tenant): Promise<{ bytes: number; anchors: number }> {
  const { rows } = await service.sql(
    `select (select coalesce(sum(bytes), 0) from (
         select size as bytes from blobs where workspace_id = $1 and erased_at is null
         union all select octet_length(data) from records where workspace_id = $1
         union all select octet_length(document) from asset_versions where workspace_id = $1
         union all select octet_length(entry) from maintenances where workspace_id = $1
         union all select octet_length(document) from signoffs where workspace_id = $1
       ) as stored) as bytes,
       (select count(*) from (
         select created_at from anchor_leaves where workspace_id = $1 and kind <> 'validation'
         union all select created_at from file_validations where workspace_id = $1
       ) as asked where (created_at at time zone 'UTC')::date = (now() at time zone 'UTC')::date) as anchors`,
    [workspaceId],
  );
  return { bytes: Number(rows[0].bytes), anchors: Number(rows[0].anchors) };
}

async function figures(tenant: Tenant) {
  return { bytes: await tenant.used('stored_bytes'), anchors: await tenant.used('anchors_per_day') };
}

async function bytesOnDisk(): Promise<number> {
  const dir = join(service.config.dataDir, 'blobs');
  const names = await readdir(dir, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(dir, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const insertLeaf = (tenant: Tenant, { kind, storedBytes }: { kind: string; storedBytes: number }) => `
  insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, canonicalization, previous_leaf,
    claims, claims_hash, leaf, stored_bytes)
  select v.workspace_id, '${kind}', 'rec_cut', 1, v.id, sha256('a'), 'jcs', sha256('b'), '{}', sha256('c'), sha256('d'),
    ${storedBytes}
  from vaults v where v.workspace_id = '${tenant.workspaceId}'`;

const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

test('shows every budget with its limit and usage, of one workspace only', async () => {
  const tenant = await newTenant();
  await tenant.record({ a: 1 });
  const { json } = await tenant.call('GET', '/usage');
  const [requests, , , , , , anchors] = json.budgets;
  // On a slow machine a minute may end in between.
  assert.ok(requests.used >= 1 && requests.used <= 3);
  assert.match(anchors.resetsAt, /T00:00:00\.000Z$/);
  assert.ok(Date.parse(anchors.resetsAt) - Date.now() <= 24 * 60 * 60 * 1000);
  assert.deepEqual(json.budgets, [
    { ...requests, name: 'requests_per_minute', limit: null, perNode: true },
    { name: 'stored_bytes', limit: 1024 ** 4, used: 7, resetsAt: null, perNode: false },
    { name: 'endpoints', limit: 500, used: 0, resetsAt: null, perNode: false },
    { name: 'filter_characters', limit: 20_000, used: 0, resetsAt: null, perNode: false },
    { name: 'streams', limit: 100, used: 0, resetsAt: null, perNode: true },
    { name: 'exports', limit: 4, used: 0, resetsAt: null, perNode: true },
    { name: 'anchors_per_day', limit: 100_000_000, used: 1, resetsAt: anchors.resetsAt, perNode: false },
    { name: 'api_keys', limit: 1_000, used: 1, resetsAt: null, perNode: false },
  ]);
  const other = await newTenant();
  assert.equal(await other.used('anchors_per_day'), 0);
  const blind = await service.makeKey({ scopes: ['vaults:read'] });
  assertError(await service.call('GET', `${api}/usage`, { key: blind }), 'forbidden');
});

test('refuses requests over the budget of a workspace, from all its keys, before reading bodies', async () => {
  const tenant = await newTenant();
  const { json: second } = await tenant.call('POST', '/api-keys', { name: 'second' });
  await tenant.limit({ requests_per_minute: 0 });
  for (const key of [tenant.key, second.key]) {
    const refused = await service.call('POST', `${api}/records`, { key, body: '{ no JSON' });
    assertError(refused, 'rate_limited', /budget requests_per_minute.*HOLDFAST_BUDGET_REQUESTS_PER_MINUTE/);
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
    assert.equal(refused.headers.get('x-budget'), 'requests_per_minute');
  }
  assert.equal((await service.call('GET', `${api}/vaults`)).status, 200, 'others go on');
  await tenant.limit({});
  assert.equal((await tenant.call('GET', '/vaults')).status, 200);
});

test('refuses anchors over the daily budget as a whole, even concurrently, until the next day', async () => {
  const tenant = await newTenant();
  const { vaultAddress } = tenant;
  await tenant.limit({ anchors_per_day: 7 });
  const batch = (count: number) =>
    tenant.call('POST', '/records/batch', {
      vaultAddress,
      records: Array.from({ length: count }, (_, n) => ({ data: { n } })),
    });
  const refused = await batch(8);
  assertError(refused, 'budget_exceeded', /7 anchors per day.*midnight UTC.*HOLDFAST_BUDGET_ANCHORS_PER_DAY/);
  assert.equal(refused.headers.get('x-budget'), 'anchors_per_day');
  assert.deepEqual(await figures(tenant), { bytes: 0, anchors: 0 });
  assert.equal((await batch(4)).status, 202);
  // A neighbour whose requests share the commits loses nothing by it.
  const neighbour = await newTenant();
  const [own, others] = await Promise.all([
    Promise.all(Array.from({ length: 6 }, (_, n) => tenant.record({ n }))),
    Promise.all(Array.from({ length: 6 }, (_, n) => neighbour.record({ n }))),
  ]);
  assert.deepEqual(statuses(own), [202, 202, 202, 403, 403, 403]);
  assert.deepEqual(statuses(others), Array(6).fill(202));
  const [record] = own.filter(({ status }) => status === 202);
  const version = await tenant.call('POST', `/records/${record?.json.id}/versions`, { data: { more: 1 } });
  assertError(version, 'budget_exceeded');
  const hashOnly = { vaultAddress, name: 'h', contentHash: `0x${'ab'.repeat(32)}` };
  assertError(await tenant.call('POST', '/files', hashOnly), 'budget_exceeded');
  assert.deepEqual(await figures(tenant), await recount(tenant));
  // As a midnight would.
  await service.sql(
    `update workspace_usage set day = day - 1 where workspace_id = $1 and budget = 'anchors_per_day'`,
    [tenant.workspaceId],
  );
  assert.equal((await tenant.call('POST', '/files', hashOnly)).status, 202);
  assert.equal(await tenant.used('anchors_per_day'), 1);
});

test('a validation counts when it is requested, concurrently too, and not again when it is anchored', async () => {
  const tenant = await newTenant();
  await tenant.limit({ anchors_per_day: 4 });
  const { json: file } = await tenant.upload('validated');
  const answers = await Promise.all(
    Array.from({ length: 6 }, () =>
      tenant.call('POST', `/files/${file.id}/validate`, { contentHash: file.contentHash }),
    ),
  );
  assert.deepEqual(statuses(answers), [202, 202, 202, 403, 403, 403]);
  assertError(answers.find(({ status }) => status === 403) as Answer, 'budget_exceeded', /anchors_per_day/);
  await service.sql(insertLeaf(tenant, { kind: 'validation', storedBytes: 0 }));
  assert.equal(await tenant.used('anchors_per_day'), 4);
  assert.deepEqual(await figures(tenant), await recount(tenant));
});

test('stored bytes never exceed the budget, and erasing frees them', async () => {
  const tenant = await newTenant();
  await tenant.limit({ stored_bytes: 1_000 });
  const uploads = await Promise.all(
    Array.from({ length: 6 }, (_, n) => tenant.upload(String(n).repeat(300))),
  );
  assert.deepEqual(statuses(uploads), [202, 202, 202, 403, 403, 403]);
  const refused = uploads.find(({ status }) => status === 403) as Answer;
  assertError(refused, 'budget_exceeded', /1,000 bytes.*Erase.*HOLDFAST_BUDGET_STORED_BYTES/);
  assert.equal(refused.headers.get('x-budget'), 'stored_bytes');
  assertError(await tenant.record({ text: 'x'.repeat(100) }), 'budget_exceeded', /stored_bytes/);
  // Refused while it is sent, and not kept until then: the store has what is counted, and nothing else.
  const large = openUpload({ url: service.url, key: tenant.key }, `${api}/files`, {
    fields: { vaultAddress: tenant.vaultAddress },
  });
  await large.send(Buffer.alloc(200_000));
  const cut = await large.finish();
  assert.equal(cut.status, 403, cut.text);
  assert.match(cut.text, /"budget_exceeded"/);
  const kept = uploads.filter(({ status }) => status === 202).map(({ json }) => json.id);
  assert.deepEqual(await figures(tenant), await recount(tenant));
  assert.equal((await tenant.call('DELETE', `/files/${kept[0]}/content`)).status, 204);
  assert.equal(await tenant.used('stored_bytes'), 600);
  assert.equal((await tenant.record({ text: 'x'.repeat(100) })).status, 202);
});

test('concurrent uploads together get no more space than is left', async () => {
  const tenant = await newTenant();
  await tenant.limit({ stored_bytes: 5_000_000 });
  const open = () =>
    openUpload({ url: service.url, key: tenant.key }, `${api}/files`, {
      fields: { vaultAddress: tenant.vaultAddress },
    });
  const [first, second] = [open(), open()];
  const before = await bytesOnDisk();
  await first.send(Buffer.alloc(3_000_000, 'a'));
  await waitUntil(async () => (await bytesOnDisk()) - before >= 1_000_000);
  await second.send(Buffer.alloc(3_000_000, 'b'));
  const refused = await second.finish();
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /budget_exceeded/);
  assert.equal((await first.finish()).status, 202, 'and the one that came first is kept');
  assert.equal(await tenant.used('stored_bytes'), 3_000_000);
});

test('the usage equals a recount after uploads, copies, versions, erasures, transfers and failures', async () => {
  const tenant = await newTenant();
  const { vaultAddress, key } = tenant;
  const { json: second } = await tenant.call('POST', '/vaults', { name: 'w' });
  const [one, copy, gone] = await Promise.all(
    ['same', 'same', 'to be erased'].map((text) => tenant.upload(text)),
  );
  const versions = `${api}/files/${one?.json.id}/versions`;
  await sendForm(service, versions, { key, parts: [['file', new File(['next version'], 'b.txt')]] });
  await Promise.all(Array.from({ length: 9 }, (_, n) => tenant.record({ n, ä: 'ö'.repeat(n) })));
  const { json: record } = await tenant.record({ first: true });
  await Promise.all([
    tenant.call('POST', `/records/${record.id}/versions`, { data: { second: true } }),
    tenant.call('POST', `/records/${record.id}/versions`, { data: { third: true } }),
    tenant.call('DELETE', `/files/${gone?.json.id}/content`),
    tenant.call('POST', `/files/${copy?.json.id}/transfer`, { destinationVaultAddress: second.address }),
    // Refused, each for another reason and at another moment.
    tenant.call('POST', '/records', { vaultAddress, data: 'no object' }),
    tenant.call('POST', '/records', { vaultAddress: `0x${'00'.repeat(20)}`, data: {} }),
    sendForm(service, `${api}/files`, { key, parts: [['file', new File(['of no vault'], 'c.txt')]] }),
  ]);
  await tenant.call('PATCH', `/vaults/${vaultAddress}/deactivate`);
  assertError(await tenant.upload('refused at the commit'), 'vault_deactivated');
  const counted = await figures(tenant);
  assert.deepEqual(counted, await recount(tenant));
  assert.ok(counted.bytes > 0 && counted.anchors > 0);
});

test('an interrupted commit counts nothing, and blocks nobody', async () => {
  const tenant = await newTenant();
  await tenant.limit({ anchors_per_day: 3 });
  const leaf = insertLeaf(tenant, { kind: 'record', storedBytes: 50 });
  // Dies before its commit, with the budget in its hands.
  await assert.rejects(service.sql(`begin; ${leaf}; select pg_terminate_backend(pg_backend_pid())`), {
    code: '57P01',
  });
  assert.deepEqual(await figures(tenant), { bytes: 0, anchors: 0 });
  const answers = await Promise.all(Array.from({ length: 4 }, (_, n) => tenant.record({ n })));
  assert.deepEqual(statuses(answers), [202, 202, 202, 403]);
  assert.deepEqual(await figures(tenant), await recount(tenant));
});

test('refuses a dossier over the download budget before it reads anything', async () => {
  const tenant = await newTenant();
  const damc = (method: string, path: string, body?: unknown) =>
    service.call(method, `/api-v1/damc/${path}`, { key: tenant.key, ...(body !== undefined && { body }) });
  const { vaultAddress } = tenant;
  const made = await damc('POST', 'assets/', { assetId: 'A-1', vaultAddress, name: 'Pump' });
  assert.equal(made.status, 201, made.text);
  await tenant.limit({ exports: 0 });
  const refused = await damc('GET', `assets/A-1/dossier/?viewerAddress=${vaultAddress}`);
  assertError(refused, 'budget_exceeded', /0 dossier downloads.*HOLDFAST_BUDGET_EXPORTS/);
  assert.equal(refused.headers.get('x-budget'), 'exports');
  assert.equal(await tenant.used('exports'), 0);
});

test('limits webhook endpoints, and a deleted one makes room', async () => {
  const tenant = await newTenant();
  await tenant.limit({ endpoints: 2 });
  const make = () =>
    tenant.call('POST', '/webhooks/endpoints', {
      url: 'https://127.0.0.1:9/hook',
      eventTypes: ['vault.deactivated'],
    });
  const answers = await Promise.all([make(), make(), make()]);
  assert.deepEqual(statuses(answers), [201, 201, 403]);
  const refused = answers.find(({ status }) => status === 403) as Answer;
  assertError(refused, 'budget_exceeded', /2 webhook endpoints.*Delete one.*HOLDFAST_BUDGET_ENDPOINTS/);
  assert.equal(refused.headers.get('x-budget'), 'endpoints');
  assert.equal(await tenant.used('endpoints'), 2);
  const made = answers.find(({ status }) => status === 201);
  assert.equal((await tenant.call('DELETE', `/webhooks/endpoints/${made?.json.id}`)).status, 204);
  assert.equal((await make()).status, 201);
});

test('limits the filters of all endpoints together, also by changes; a shorter one is always accepted', async () => {
  const tenant = await newTenant();
  const filter = (length: number) => 'data.version > 1 or data.version > 1'.padEnd(length);
  const make = (length: number) =>
    tenant.call('POST', '/webhooks/endpoints', {
      ...{ url: 'https://127.0.0.1:9/hook', eventTypes: ['vault.deactivated'], enabled: false },
      filter: filter(length),
    });
  const first = await make(2000);
  assert.equal(first.status, 201, first.text);
  await tenant.limit({ filter_characters: 3500 });
  assert.deepEqual(statuses(await Promise.all([make(1000), make(1000), make(600)])), [201, 403, 403]);
  const refused = await make(2000);
  assertError(refused, 'budget_exceeded', /3,500 characters.*Shorten.*HOLDFAST_BUDGET_FILTER_CHARACTERS/);
  assert.equal(refused.headers.get('x-budget'), 'filter_characters');
  const used = await tenant.used('filter_characters');
  const other = await make(100);
  assert.equal(other.status, 201, other.text);
  assert.equal(await tenant.used('filter_characters'), used + 100);
  const change = (id: string, text: string | null) =>
    tenant.call('PATCH', `/webhooks/endpoints/${id}`, { filter: text });
  assertError(await change(other.json.id, filter(2000)), 'budget_exceeded');
  await tenant.limit({ filter_characters: 50 });
  assert.equal((await change(first.json.id, filter(1999))).status, 200);
  assert.equal((await change(other.json.id, null)).status, 200);
  assertError(await change(other.json.id, filter(51)), 'budget_exceeded');
});

test('the command line shows, changes and resets the limits of a workspace', async () => {
  const tenant = await newTenant();
  const settings = { DATABASE_URL: service.databaseUrl, HOLDFAST_DATA_DIR: service.config.dataDir };
  const limits = async (...changes: string[]) => {
    const { code, stdout, stderr } = await command(
      settings,
      'workspaces',
      'limits',
      tenant.workspaceId,
      ...changes,
      '--json',
    );
    assert.equal(code, 0, stderr);
    const all = JSON.parse(stdout) as {
      name: string;
      limit: number | null;
      own: boolean;
      used: number | null;
    }[];
    return new Map(all.map((budget) => [budget.name, budget]));
  };
  const changed = await limits('anchors_per_day=0', 'stored_bytes=off');
  assert.deepEqual([changed.get('anchors_per_day')?.limit, changed.get('anchors_per_day')?.own], [0, true]);
  assert.deepEqual([changed.get('stored_bytes')?.limit, changed.get('stored_bytes')?.own], [null, true]);
  assert.deepEqual([changed.get('endpoints')?.limit, changed.get('endpoints')?.own], [500, false]);
  assertError(await tenant.record({ a: 1 }), 'budget_exceeded');
  const back = await limits('anchors_per_day=default');
  assert.equal(back.get('anchors_per_day')?.limit, 100_000_000);
  assert.equal(back.get('stored_bytes')?.limit, null, 'the other one stays');
  await waitUntil(async () => (await tenant.record({ a: 1 })).status === 202);
  assert.equal((await limits()).get('anchors_per_day')?.used, 1);
  const wrong = await command(settings, 'workspaces', 'limits', tenant.workspaceId, 'gold=1');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /gold=1.*stored_bytes/);
  const { json: log } = await tenant.call('GET', '/audit-log?action=workspace.change_limits');
  assert.deepEqual(log.at(-1).details, { anchors_per_day: 0, stored_bytes: null });
});
