/** Files over HTTP: created, versioned and listed, and refused with nothing stored. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { timeOf } from '../../src/runtime/ids.ts';
import { type FormParts, sendForm } from '../support/clients/upload.ts';
import {
  type FileFixture,
  type FixtureVault,
  openFileFixture,
  someHash,
  files as url,
  vaults,
} from '../support/fixtures/file-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type CallOptions, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: FileFixture;
let vault: FixtureVault;
/** A key of another workspace. */
let stranger: string;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openFileFixture(service);
  ({ vault, stranger } = fixture);
});
after(() => service.close());

test('accepts a file by its hash alone as pending, and finds it again', async () => {
  const contentHash = someHash();
  const answer = await fixture.create({ contentHash: contentHash.toUpperCase().replace('0X', '0x') });
  assert.equal(answer.status, 202);
  const { id, createdAt } = answer.json;
  assert.match(id, /^fil_[0-9A-Z]{26}$/);
  assert.equal(createdAt, timeOf(id).toISOString());
  assert.deepEqual(answer.json, {
    id,
    vaultId: vault.id,
    vaultAddress: vault.address,
    name: 'deed.pdf',
    version: 1,
    contentHash,
    size: null,
    mediaType: 'application/octet-stream',
    status: 'pending',
    expirationDate: null,
    expired: false,
    erased: false,
    createdAt,
    anchor: null,
  });
  assert.deepEqual((await service.call('GET', `${url}/${id}/`)).json, answer.json);
  assertError(await service.call('GET', `${url}/${id}`, { key: stranger }), 'resource_not_found');
  assertError(await service.call('GET', `${url}/fil_none`), 'resource_not_found');
  assertError(await service.call('GET', `${url}/${id}/proof`), 'conflict', /not confirmed/);
  assertError(await service.call('GET', `${url}/${id}/proof?version=2`), 'resource_not_found');
});

test('commits a leaf with the name among its salted claims, and one audit entry', async () => {
  const bytes = randomBytes(1000);
  const { id } = await fixture.upload(bytes);
  const { rows: leaves } = await service.sql(
    'select kind, version, vault_id, digest, claims from anchor_leaves where subject_id = $1',
    [id],
  );
  assert.equal(leaves.length, 1);
  const [{ claims, digest, ...leaf }] = leaves;
  assert.deepEqual(leaf, { kind: 'file', version: 1, vault_id: vault.id });
  assert.ok(digest.equals(createHash('sha256').update(bytes).digest()));
  const { salt, ...said } = JSON.parse(claims);
  assert.match(salt, /^0x[0-9a-f]{64}$/);
  assert.deepEqual(said, { name: 'photo.jpg', mediaType: 'image/jpeg', size: 1000, expirationDate: null });
  const { rows: entries } = await service.sql('select action from audit_entries where target_id = $1', [id]);
  assert.deepEqual(entries, [{ action: 'file.create' }]);
});

test('stores nothing of a refused request', async () => {
  const before = await fixture.stored();
  const foreign = await fixture.newVault({ key: stranger });
  const asleep = await fixture.deactivated();
  const refusals: [object, Parameters<typeof assertError>[1], RegExp?][] = [
    [{ contentHash: 'abcd' }, 'invalid_request', /contentHash must be a hash/],
    [{ contentHash: `0x${'g'.repeat(64)}` }, 'invalid_request', /contentHash/],
    [{ contentHash: undefined }, 'invalid_request', /contentHash is required/],
    [{ name: undefined }, 'invalid_request', /name is required/],
    [{ name: '' }, 'invalid_request', /name must not be empty/],
    [{ name: '../deed' }, 'invalid_request', /not a path/],
    [{ name: '\u200b\u3164' }, 'invalid_request', /name must not be blank/],
    [{ name: 'a\nb' }, 'invalid_request', /control/],
    [{ mediaType: 'pdf' }, 'invalid_request', /mediaType/],
    [{ canonicalization: 'jcs' }, 'invalid_request', /canonicalization/],
    [{ expirationDate: '2031-02-30' }, 'invalid_request', /expirationDate/],
    [{ expirationDate: '2031-02-28T25:00:00Z' }, 'invalid_request', /expirationDate/],
    [{ expirationDate: '2001-01-01T00:00:00Z' }, 'invalid_request', /past/],
    [{ size: 5 }, 'invalid_request', /"size" is not a known field/],
    [{ vaultAddress: '0x12' }, 'invalid_address'],
    [{ vaultAddress: foreign.address }, 'resource_not_found'],
    [{ vaultAddress: asleep.address }, 'vault_deactivated'],
  ];
  for (const [body, code, message] of refusals) assertError(await fixture.create(body), code, message);
  const reader = await service.makeKey({ scopes: ['files:read'] });
  assertError(await fixture.create({}, { key: reader }), 'forbidden');
  assert.deepEqual(await fixture.stored(), before);
});

test('refuses a file whose vault is deactivated while it is on its way', async () => {
  const { address } = await fixture.newVault();
  const before = await fixture.stored();
  await withClient({ connectionString: service.databaseUrl }, async (client) => {
    await client.query('begin');
    await client.query("update vaults set status = 'inactive' where address = $1", [address]);
    const creating = fixture.create({ vaultAddress: address });
    // It waits for the vault: nothing is decided while that is.
    await waitUntil(async () => {
      const { rows } = await service.sql(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    await client.query('commit');
    assertError(await creating, 'vault_deactivated');
  });
  assert.deepEqual(await fixture.stored(), before);
});

test('returns the expiry as given, lets a day last to its end, and marks what has expired', async () => {
  const asGiven = async (expirationDate: string) => {
    const { id } = await fixture.made({ expirationDate });
    const { json } = await service.call('GET', `${url}/${id}`);
    assert.deepEqual([json.expirationDate, json.expired], [expirationDate, false]);
    await service.sql(
      "update file_versions set expires_at = now() - interval '1 second' where file_id = $1",
      [id],
    );
    assert.equal((await service.call('GET', `${url}/${id}`)).json.expired, true);
  };
  await withinOneDay(asGiven);
  for (const expirationDate of ['2040-02-29', '2040-01-01T00:00:00.5+02:00']) await asGiven(expirationDate);
  const { id } = await fixture.made({ expirationDate: '2040-02-29' });
  const { rows } = await service.sql('select expires_at from file_versions where file_id = $1', [id]);
  assert.equal(rows[0].expires_at.toISOString(), '2040-02-29T23:59:59.999Z');
});

/** What holds of today has to be asked before it is over: when midnight comes meanwhile, once more. */
async function withinOneDay(work: (today: string) => Promise<void>): Promise<void> {
  const dayNow = () => new Date().toISOString().slice(0, 10);
  const today = dayNow();
  try {
    await work(today);
  } catch (error) {
    if (dayNow() === today) throw error;
    await work(dayNow());
  }
}

test('a new version follows the previous one, which stays unchanged', async () => {
  const first = await fixture.upload(randomBytes(10));
  const path = `${url}/${first.id}/versions`;
  const contentHash = someHash();
  const second = await service.call('POST', path, { body: { contentHash } });
  assert.equal(second.status, 202, second.text);
  const { createdAt, ...rest } = second.json;
  const { createdAt: _, ...before } = first;
  assert.deepEqual(rest, { ...before, version: 2, contentHash, size: null });
  const third = await fixture.upload(randomBytes(20), { path });
  assert.deepEqual([third.version, third.size], [3, 20]);
  const listed = await service.call('GET', `${path}?limit=2`);
  assert.deepEqual(listed.json, [third, second.json]);
  const next = await service.call('GET', `${path}?limit=2&cursor=${listed.headers.get('x-next-cursor')}`);
  assert.deepEqual(next.json, [first]);
  assert.deepEqual((await service.call('GET', `${url}/${first.id}`)).json, third);
  const { rows } = await service.sql(
    "select leaf, previous_leaf from anchor_leaves where subject_id = $1 and kind = 'file' order by version",
    [first.id],
  );
  assert.ok(rows[1].previous_leaf.equals(rows[0].leaf) && rows[2].previous_leaf.equals(rows[1].leaf));
});

test('numbers concurrent versions without a gap', async () => {
  const { id } = await fixture.made();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      service.call('POST', `${url}/${id}/versions`, { body: { contentHash: someHash() } }),
    ),
  );
  const versions = answers.map(({ json }) => json.version).sort((a, b) => a - b);
  assert.deepEqual(
    versions,
    Array.from({ length: 12 }, (_, n) => n + 2),
  );
  const { rows } = await service.sql(
    'select count(*)::int as n from file_versions where file_id = $1 and current',
    [id],
  );
  assert.equal(rows[0].n, 1);
});

test('refuses a version of a foreign file, in a deactivated vault, or for a vault that is not its owner', async () => {
  const { id } = await fixture.made();
  const add = (body: object = {}, options: CallOptions = {}) =>
    service.call('POST', `${url}/${id}/versions`, { body: { contentHash: someHash(), ...body }, ...options });
  assertError(await add({}, { key: stranger }), 'resource_not_found');
  assertError(await add({ vaultAddress: (await fixture.newVault()).address }), 'conflict', /belongs to/);
  assert.equal((await add({ vaultAddress: vault.address })).status, 202);
  const other = await fixture.newVault();
  const file = await fixture.made({ vaultAddress: other.address });
  await service.call('PATCH', `${vaults}/${other.address}/deactivate`);
  const path = `${url}/${file.id}/versions`;
  assertError(await service.call('POST', path, { body: { contentHash: someHash() } }), 'vault_deactivated');
  const parts: FormParts['parts'] = [['file', new File(['x'], 'x')]];
  assertError(await sendForm(service, path, { parts }), 'vault_deactivated');
  assertError(await sendForm(service, `${url}/fil_none/versions`, { parts }), 'resource_not_found');
});

test('lists filter by vault, name and status, and continue where they stopped', async () => {
  const own = await fixture.newVault();
  const ids: string[] = [];
  for (const name of ['a', 'b', 'a', 'b', 'a']) {
    ids.unshift((await fixture.made({ vaultAddress: own.address, name })).id);
  }
  const idsOf = async (query: string, key = service.key) =>
    (await service.call('GET', `${url}?${query}`, { key })).json.map(({ id }: { id: string }) => id);
  const within = `vaultAddress=${own.address.toLowerCase()}`;
  assert.deepEqual(await idsOf(within), ids);
  assert.deepEqual(await idsOf(`${within}&name=b`), [ids[1], ids[3]]);
  assert.deepEqual(await idsOf(`${within}&status=pending&name=a`), [ids[0], ids[2], ids[4]]);
  assert.deepEqual(await idsOf(`${within}&status=confirmed`), []);
  assert.deepEqual(await idsOf('', stranger), []);
  assertError(await service.call('GET', `${url}?${within}`, { key: stranger }), 'resource_not_found');
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Answer = await service.call(
      'GET',
      `${url}?${within}&limit=2${cursor && `&cursor=${cursor}`}`,
    );
    seen.push(...page.json.map(({ id }: { id: string }) => id));
    cursor = page.headers.get('x-next-cursor');
  }
  assert.deepEqual(seen, ids);
  await service.call('POST', `${url}/${ids[0]}/versions`, { body: { contentHash: someHash(), name: 'c' } });
  assert.deepEqual(await idsOf(`${within}&name=a`), [ids[2], ids[4]]);
});
