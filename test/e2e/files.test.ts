/** Files over HTTP: created, versioned, listed, handed on and erased, and refused with nothing stored. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { QueryResult } from 'pg';
import { openDatabase } from '../../src/db/database.ts';
import { insertAll } from '../../src/db/writes.ts';
import { transferableFile } from '../../src/holdings/files/file-transfer.ts';
import { confirmTransfers } from '../../src/holdings/transfers/transfers.ts';
import { timeOf } from '../../src/runtime/ids.ts';
import { type FormParts, sendForm } from '../support/clients/upload.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type CallOptions, type Service, startService } from '../support/service/service.ts';

const url = '/api-v1/platform/files';
const vaults = '/api-v1/platform/vaults';

let service: Service;
let vault: { id: string; address: string };
/** A key of another workspace. */
let stranger: string;

before(async () => {
  service = await startService({ runLoops: false });
  vault = await newVault();
  stranger = await service.makeKey({ newWorkspace: true });
});
after(() => service.close());

async function newVault(options: CallOptions = {}): Promise<{ id: string; address: string }> {
  return (await service.call('POST', vaults, { body: { name: 'Archive' }, ...options })).json;
}

async function deactivated(): Promise<{ id: string; address: string }> {
  const made = await newVault();
  await service.call('PATCH', `${vaults}/${made.address}/deactivate`);
  return made;
}

const someHash = () => `0x${randomBytes(32).toString('hex')}`;

function create(body: object = {}, options: CallOptions = {}): Promise<Answer> {
  const usual = { vaultAddress: vault.address, name: 'deed.pdf', contentHash: someHash() };
  return service.call('POST', url, { body: { ...usual, ...body }, ...options });
}

async function made(body: object = {}): Promise<{ id: string; contentHash: string; name: string }> {
  const answer = await create(body);
  assert.equal(answer.status, 202, answer.text);
  return answer.json;
}

async function upload(bytes: Buffer, { to = vault, path = url } = {}) {
  const parts: FormParts['parts'] = [
    ['vaultAddress', to.address],
    ['file', new File([bytes as never], 'photo.jpg', { type: 'image/jpeg' })],
  ];
  const { status, json, text } = await sendForm(service, path, { parts });
  assert.equal(status, 202, text);
  return json;
}

function sql(text: string, values: unknown[] = []): Promise<QueryResult> {
  return withClient({ connectionString: service.databaseUrl }, (client) => client.query(text, values));
}

async function stored(): Promise<number[]> {
  const { rows } = await sql(`
    select (select count(*) from files)::int as files, (select count(*) from file_versions)::int as versions,
      (select count(*) from transfers)::int as transfers, (select count(*) from blobs)::int as blobs,
      (select count(*) from anchor_leaves)::int as leaves,
      (select count(*) from audit_entries where action like 'file.%')::int as entries`);
  return Object.values(rows[0]);
}

/** As the announcer does when the chain has them. */
async function confirm(fileId: string, number: number): Promise<void> {
  const { rows } = await sql(
    "select workspace_id, vault_id, claims from anchor_leaves where subject_id = $1 and kind = 'transfer' and version = $2",
    [fileId, number],
  );
  const { db, close } = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
  });
  await db.transaction().execute(async (db) => {
    const writes = await confirmTransfers(transferableFile)(db, [
      {
        workspaceId: rows[0].workspace_id,
        kind: 'transfer',
        subjectId: fileId,
        version: number,
        vaultId: rows[0].vault_id,
        claims: rows[0].claims,
        transactionHash: `0x${'ab'.repeat(32)}`,
        blockNumber: 7,
        anchoredAt: new Date('2026-11-15T12:00:00Z'),
      },
    ]);
    await insertAll(db, writes);
  });
  await close();
}

const transfer = (fileId: string, to: { address: string }, options: CallOptions = {}) =>
  service.call('POST', `${url}/${fileId}/transfer`, {
    body: { destinationVaultAddress: to.address },
    ...options,
  });

test('a file of which only the hash is given is accepted as pending, and found again', async () => {
  const contentHash = someHash();
  const answer = await create({ contentHash: contentHash.toUpperCase().replace('0X', '0x') });
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

test('a leaf with the name among its salted claims and one audit entry are committed with it', async () => {
  const bytes = randomBytes(1000);
  const { id } = await upload(bytes);
  const { rows: leaves } = await sql(
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
  const { rows: entries } = await sql('select action from audit_entries where target_id = $1', [id]);
  assert.deepEqual(entries, [{ action: 'file.create' }]);
});

test('what is refused stores nothing', async () => {
  const before = await stored();
  const foreign = await newVault({ key: stranger });
  const asleep = await deactivated();
  const refusals: [object, Parameters<typeof assertError>[1], RegExp?][] = [
    [{ contentHash: 'abcd' }, 'invalid_request', /contentHash must be a hash/],
    [{ contentHash: `0x${'g'.repeat(64)}` }, 'invalid_request', /contentHash/],
    [{ contentHash: undefined }, 'invalid_request', /contentHash is required/],
    [{ name: undefined }, 'invalid_request', /name is required/],
    [{ name: '' }, 'invalid_request', /name must not be empty/],
    [{ name: '../deed' }, 'invalid_request', /not a path/],
    [{ name: '\u200b\u3164' }, 'invalid_request', /visible character/],
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
  for (const [body, code, message] of refusals) assertError(await create(body), code, message);
  const reader = await service.makeKey({ scopes: ['files:read'] });
  assertError(await create({}, { key: reader }), 'forbidden');
  assert.deepEqual(await stored(), before);
});

test('a vault that is deactivated while a file is on its way takes it no more', async () => {
  const { address } = await newVault();
  const before = await stored();
  await withClient({ connectionString: service.databaseUrl }, async (client) => {
    await client.query('begin');
    await client.query("update vaults set status = 'inactive' where address = $1", [address]);
    const creating = create({ vaultAddress: address });
    // It waits for the vault: nothing is decided while that is.
    await waitUntil(async () => {
      const { rows } = await sql(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    await client.query('commit');
    assertError(await creating, 'vault_deactivated');
  });
  assert.deepEqual(await stored(), before);
});

test('expiry is given back as it was given, a day lasts to its end, and what is over is said to be', async () => {
  const asGiven = async (expirationDate: string) => {
    const { id } = await made({ expirationDate });
    const { json } = await service.call('GET', `${url}/${id}`);
    assert.deepEqual([json.expirationDate, json.expired], [expirationDate, false]);
    await sql("update file_versions set expires_at = now() - interval '1 second' where file_id = $1", [id]);
    assert.equal((await service.call('GET', `${url}/${id}`)).json.expired, true);
  };
  await withinOneDay(asGiven);
  for (const expirationDate of ['2040-02-29', '2040-01-01T00:00:00.5+02:00']) await asGiven(expirationDate);
  const { id } = await made({ expirationDate: '2040-02-29' });
  const { rows } = await sql('select expires_at from file_versions where file_id = $1', [id]);
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

test('a new version follows the one before, which stays as it was', async () => {
  const first = await upload(randomBytes(10));
  const path = `${url}/${first.id}/versions`;
  const contentHash = someHash();
  const second = await service.call('POST', path, { body: { contentHash } });
  assert.equal(second.status, 202, second.text);
  const { createdAt, ...rest } = second.json;
  const { createdAt: _, ...before } = first;
  assert.deepEqual(rest, { ...before, version: 2, contentHash, size: null });
  const third = await upload(randomBytes(20), { path });
  assert.deepEqual([third.version, third.size], [3, 20]);
  const listed = await service.call('GET', `${path}?limit=2`);
  assert.deepEqual(listed.json, [third, second.json]);
  const next = await service.call('GET', `${path}?limit=2&cursor=${listed.headers.get('x-next-cursor')}`);
  assert.deepEqual(next.json, [first]);
  assert.deepEqual((await service.call('GET', `${url}/${first.id}`)).json, third);
  const { rows } = await sql(
    "select leaf, previous_leaf from anchor_leaves where subject_id = $1 and kind = 'file' order by version",
    [first.id],
  );
  assert.ok(rows[1].previous_leaf.equals(rows[0].leaf) && rows[2].previous_leaf.equals(rows[1].leaf));
});

test('versions that come at once are numbered without a gap', async () => {
  const { id } = await made();
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
  const { rows } = await sql('select count(*)::int as n from file_versions where file_id = $1 and current', [
    id,
  ]);
  assert.equal(rows[0].n, 1);
});

test('a version is refused for a strange file, in a deactivated vault, and for a vault that does not own it', async () => {
  const { id } = await made();
  const add = (body: object = {}, options: CallOptions = {}) =>
    service.call('POST', `${url}/${id}/versions`, { body: { contentHash: someHash(), ...body }, ...options });
  assertError(await add({}, { key: stranger }), 'resource_not_found');
  assertError(await add({ vaultAddress: (await newVault()).address }), 'conflict', /belongs to/);
  assert.equal((await add({ vaultAddress: vault.address })).status, 202);
  const other = await newVault();
  const file = await made({ vaultAddress: other.address });
  await service.call('PATCH', `${vaults}/${other.address}/deactivate`);
  const path = `${url}/${file.id}/versions`;
  assertError(await service.call('POST', path, { body: { contentHash: someHash() } }), 'vault_deactivated');
  const parts: FormParts['parts'] = [['file', new File(['x'], 'x')]];
  assertError(await sendForm(service, path, { parts }), 'vault_deactivated');
  assertError(await sendForm(service, `${url}/fil_none/versions`, { parts }), 'resource_not_found');
});

test('a key repeats a creation, a version and a transfer, and each is done once', async () => {
  const { id } = await made();
  const to = await newVault();
  const requests: [string, object][] = [
    [url, { vaultAddress: vault.address, name: 'x', contentHash: someHash() }],
    [`${url}/${id}/versions`, { contentHash: someHash() }],
    [`${url}/${id}/transfer`, { destinationVaultAddress: to.address }],
  ];
  for (const [path, body] of requests) {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await service.call('POST', path, { body, headers });
    const before = await stored();
    const repeat = await service.call('POST', path, { body, headers });
    assert.deepEqual([repeat.status, repeat.text], [202, first.text]);
    assert.deepEqual(await stored(), before);
  }
});

test('a version that was taken is answered again to the same key, also once no other one would be', async () => {
  const { id } = await made();
  const taker = await newVault();
  const path = `${url}/${id}/versions`;
  const [plain, form] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }];
  const body = { contentHash: someHash() };
  const sends = [
    () => service.call('POST', path, { body, headers: plain }),
    () => sendForm(service, path, { parts: [['file', new File(['x'], 'x')]], headers: form }),
  ];
  const firsts: string[] = [];
  for (const send of sends) firsts.push((await send()).text);
  const before = await stored();
  assert.equal((await transfer(id, taker)).status, 202);
  for (const [place, send] of sends.entries()) assert.equal((await send()).text, firsts[place]);
  await confirm(id, 1);
  await service.call('PATCH', `${vaults}/${taker.address}/deactivate`);
  for (const [place, send] of sends.entries()) assert.equal((await send()).text, firsts[place]);
  assert.equal((await stored())[1], before[1]);
});

test('lists filter by vault, name and status, and go on where they stopped', async () => {
  const own = await newVault();
  const ids: string[] = [];
  for (const name of ['a', 'b', 'a', 'b', 'a']) {
    ids.unshift((await made({ vaultAddress: own.address, name })).id);
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

test('of two transfers at once one wins, and the file belongs to its old vault until that is confirmed', async () => {
  const { id, contentHash } = await made();
  const takers = [await newVault(), await newVault()];
  const answers = await Promise.all(takers.map((to) => transfer(id, to)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409]);
  const won = answers.findIndex(({ status }) => status === 202);
  const [winner, taker] = [answers[won]?.json, takers[won]];
  assert.deepEqual(winner, {
    id: winner.id,
    fileId: id,
    fromVaultAddress: vault.address,
    toVaultAddress: taker?.address,
    status: 'pending',
    anchor: null,
  });
  assert.match(winner.id, /^trf_/);
  assert.equal((await service.call('GET', `${url}/${id}`)).json.vaultId, vault.id);
  const version = () => service.call('POST', `${url}/${id}/versions`, { body: { contentHash: someHash() } });
  assertError(await version(), 'conflict', /is being transferred/);

  await confirm(id, 1);
  const owned = (await service.call('GET', `${url}/${id}`)).json;
  assert.deepEqual(
    [owned.vaultId, owned.vaultAddress, owned.contentHash],
    [taker?.id, taker?.address, contentHash],
  );
  assert.equal((await version()).json.vaultId, taker?.id);
  const { json: versions } = await service.call('GET', `${url}/${id}/versions`);
  assert.deepEqual(
    versions.map(({ vaultId }: { vaultId: string }) => vaultId),
    [taker?.id, vault.id],
  );
  const { rows } = await sql(
    'select kind, version, vault_id, leaf, previous_leaf, digest from anchor_leaves where subject_id = $1 order by id',
    [id],
  );
  assert.deepEqual(
    rows.map(({ kind, version, vault_id }) => [kind, version, vault_id]),
    [
      ['file', 1, vault.id],
      ['transfer', 1, vault.id],
      ['file', 2, taker?.id],
    ],
  );
  assert.ok(rows[1].previous_leaf.equals(rows[0].leaf) && rows[2].previous_leaf.equals(rows[1].leaf));
  assert.equal(`0x${rows[1].digest.toString('hex')}`, contentHash);
});

test('a transfer that is confirmed a second time moves nothing, and is told of again', async () => {
  const { id } = await made();
  const [second, third] = [await newVault(), await newVault()];
  assert.equal((await transfer(id, second)).status, 202);
  await confirm(id, 1);
  const back = await transfer(id, third);
  assert.equal(back.status, 202, back.text);
  // As after a reorg, while another one is under way.
  await confirm(id, 1);
  assertError(await transfer(id, vault), 'conflict', /is being transferred/);
  await confirm(id, 2);
  assert.equal((await service.call('GET', `${url}/${id}`)).json.vaultId, third.id);
  const { rows } = await sql(
    "select envelope from events where type = 'file.transfer.completed' order by id",
  );
  const told = rows.map(({ envelope }) => JSON.parse(envelope).data).filter(({ file_id }) => file_id === id);
  const common = {
    file_id: id,
    version: 1,
    tx_hash: `0x${'ab'.repeat(32)}`,
    block_number: 7,
    transferred_at: '2026-11-15T12:00:00.000Z',
  };
  const first = { ...common, from_vault_id: vault.id, to_vault_id: second.id };
  assert.deepEqual(told, [first, first, { ...common, from_vault_id: second.id, to_vault_id: third.id }]);
});

test('a transfer is refused to who has it, to a deactivated or strange vault, and of a strange file', async () => {
  const { id } = await made();
  const before = await stored();
  assertError(await transfer(id, vault), 'conflict', /already/);
  assertError(await transfer(id, await deactivated()), 'vault_deactivated');
  assertError(await transfer(id, await newVault({ key: stranger })), 'resource_not_found');
  assertError(await transfer(id, vault, { key: stranger }), 'resource_not_found');
  assert.deepEqual(await stored(), before);
  const from = await newVault();
  const file = await made({ vaultAddress: from.address });
  await service.call('PATCH', `${vaults}/${from.address}/deactivate`);
  assert.equal((await transfer(file.id, vault)).status, 202);
});

test('erased content is gone for good unless another file has it, and its hash stays', async () => {
  const bytes = randomBytes(5000);
  const [one, other] = [await upload(bytes), await upload(bytes)];
  const { rows } = await sql('select blob_id from file_versions where file_id = $1', [one.id]);
  const blobId = String(rows[0].blob_id);
  const keys = async () =>
    (await sql("select 1 from secrets where purpose = 'blob' and id = $1", [blobId])).rows.length;
  const object = async () =>
    (await readdir(service.config.dataDir, { recursive: true })).filter((name) => name.includes(blobId))
      .length;
  const erase = (id: string, query = '') => service.call('DELETE', `${url}/${id}/content${query}`);

  assertError(
    await service.call('DELETE', `${url}/${one.id}/content`, { key: stranger }),
    'resource_not_found',
  );
  assertError(await erase(one.id, '?version=2'), 'resource_not_found', /version 2/);
  const first = await erase(one.id);
  assert.deepEqual([first.status, first.json.keptVersions], [200, [1]]);
  assert.match(first.json.message, /another file of the vault has the same/);
  assert.deepEqual((await erase(one.id)).json, first.json, 'a repeat answers the same');
  assert.equal((await service.call('GET', `${url}/${one.id}`)).json.erased, true);
  assert.equal((await service.call('GET', `${url}/${other.id}/versions`)).json[0].erased, false);
  assert.deepEqual([await keys(), await object()], [1, 1], 'the other file needs it');
  assertError(await service.call('GET', `${url}/${one.id}/content`), 'resource_not_found', /erased/);
  assert.equal((await erase(other.id, '?version=1')).status, 204);
  assert.deepEqual([await keys(), await object()], [0, 0]);
  assert.equal((await erase(other.id)).status, 204);
  assert.equal((await erase(one.id)).status, 204, 'now they are gone for both');
  assert.equal((await service.call('GET', `${url}/${other.id}`)).json.contentHash, other.contentHash);
  const { rows: entries } = await sql(
    "select target_id, details from audit_entries where action = 'file.erase_content' order by id",
  );
  assert.deepEqual(entries, [
    { target_id: one.id, details: { versions: [1], erasedBlobs: [] } },
    { target_id: other.id, details: { versions: [1], erasedBlobs: [blobId] } },
  ]);
  // The same bytes can be stored anew.
  const again = await upload(bytes);
  const stored = await sql('select blob_id from file_versions where file_id = $1', [again.id]);
  assert.notEqual(stored.rows[0].blob_id, blobId);
  assertError(await erase((await made()).id), 'resource_not_found', /only its hash/);
});

test('the history has every version, transfer and validation in order, page by page', async () => {
  const { id, contentHash } = await made();
  await service.call('POST', `${url}/${id}/validate`, { body: { contentHash } });
  const to = await newVault();
  await transfer(id, to);
  const path = `${url}/${id}/history`;
  const { json } = await service.call('GET', path);
  assert.deepEqual(
    json.map(({ type, version, status }: Record<string, unknown>) => [type, version, status]),
    [
      ['version', 1, 'pending'],
      ['validation', 1, 'pending'],
      ['transfer', 1, 'pending'],
    ],
  );
  assert.deepEqual([json[2].vaultAddress, json[2].toVaultAddress], [vault.address, to.address]);
  const seen: unknown[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Answer = await service.call('GET', `${path}?limit=1${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.json);
    cursor = page.headers.get('x-next-cursor');
  }
  assert.deepEqual(seen, json);
  assertError(await service.call('GET', path, { key: stranger }), 'resource_not_found');
  assertError(await service.call('GET', `${path}?format=proof`), 'conflict');
  assertError(await service.call('GET', `${path}?format=proof`, { key: stranger }), 'resource_not_found');
});
