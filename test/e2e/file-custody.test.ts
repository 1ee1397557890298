/** What becomes of a file over HTTP: handed on from vault to vault, asked for twice, erased, and told in its history. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { insertAll } from '../../src/db/writes.ts';
import { transferableFile } from '../../src/holdings/files/file-transfer.ts';
import { confirmTransfers } from '../../src/holdings/transfers/transfers.ts';
import { sendForm } from '../support/clients/upload.ts';
import {
  type FileFixture,
  type FixtureVault,
  openFileFixture,
  someHash,
  files as url,
  vaults,
} from '../support/fixtures/file-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
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

/** As the announcer does when the chain has them. */
async function confirm(fileId: string, number: number): Promise<void> {
  const { rows } = await service.sql(
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
        announcedBefore: false,
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

test('a repeat with the same Idempotency-Key creates, versions or transfers only once', async () => {
  const { id } = await fixture.made();
  const to = await fixture.newVault();
  const requests: [string, object][] = [
    [url, { vaultAddress: vault.address, name: 'x', contentHash: someHash() }],
    [`${url}/${id}/versions`, { contentHash: someHash() }],
    [`${url}/${id}/transfer`, { destinationVaultAddress: to.address }],
  ];
  for (const [path, body] of requests) {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await service.call('POST', path, { body, headers });
    const before = await fixture.stored();
    const repeat = await service.call('POST', path, { body, headers });
    assert.deepEqual([repeat.status, repeat.text], [202, first.text]);
    assert.deepEqual(await fixture.stored(), before);
  }
});

test('answers a repeated version with the same key, even when no new one would be accepted', async () => {
  const { id } = await fixture.made();
  const taker = await fixture.newVault();
  const path = `${url}/${id}/versions`;
  const [plain, form] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }];
  const body = { contentHash: someHash() };
  const sends = [
    () => service.call('POST', path, { body, headers: plain }),
    () => sendForm(service, path, { parts: [['file', new File(['x'], 'x')]], headers: form }),
  ];
  const firsts: string[] = [];
  for (const send of sends) firsts.push((await send()).text);
  const before = await fixture.stored();
  assert.equal((await transfer(id, taker)).status, 202);
  for (const [place, send] of sends.entries()) assert.equal((await send()).text, firsts[place]);
  await confirm(id, 1);
  await service.call('PATCH', `${vaults}/${taker.address}/deactivate`);
  for (const [place, send] of sends.entries()) assert.equal((await send()).text, firsts[place]);
  assert.equal((await fixture.stored())[1], before[1]);
});

test('one of two concurrent transfers wins, and the file keeps its vault until the confirmation', async () => {
  const { id, contentHash } = await fixture.made();
  const takers = [await fixture.newVault(), await fixture.newVault()];
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
  const { rows } = await service.sql(
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

test('a transfer confirmed a second time moves nothing, and is announced again', async () => {
  const { id } = await fixture.made();
  const [second, third] = [await fixture.newVault(), await fixture.newVault()];
  assert.equal((await transfer(id, second)).status, 202);
  await confirm(id, 1);
  const back = await transfer(id, third);
  assert.equal(back.status, 202, back.text);
  // As after a reorg, while another one is under way.
  await confirm(id, 1);
  assertError(await transfer(id, vault), 'conflict', /is being transferred/);
  await confirm(id, 2);
  assert.equal((await service.call('GET', `${url}/${id}`)).json.vaultId, third.id);
  const { rows } = await service.sql(
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

test('refuses a transfer to the owner, to a deactivated or foreign vault, and of a foreign file', async () => {
  const { id } = await fixture.made();
  const before = await fixture.stored();
  assertError(await transfer(id, vault), 'conflict', /already/);
  assertError(await transfer(id, await fixture.deactivated()), 'vault_deactivated');
  assertError(await transfer(id, await fixture.newVault({ key: stranger })), 'resource_not_found');
  assertError(await transfer(id, vault, { key: stranger }), 'resource_not_found');
  assert.deepEqual(await fixture.stored(), before);
  const from = await fixture.newVault();
  const file = await fixture.made({ vaultAddress: from.address });
  await service.call('PATCH', `${vaults}/${from.address}/deactivate`);
  assert.equal((await transfer(file.id, vault)).status, 202);
});

test('erased content is gone for good unless another file has it, and its hash stays', async () => {
  const bytes = randomBytes(5000);
  const [one, other] = [await fixture.upload(bytes), await fixture.upload(bytes)];
  const { rows } = await service.sql('select blob_id from file_versions where file_id = $1', [one.id]);
  const blobId = String(rows[0].blob_id);
  const keys = async () =>
    (await service.sql("select 1 from secrets where purpose = 'blob' and id = $1", [blobId])).rows.length;
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
  const { rows: entries } = await service.sql(
    "select target_id, details from audit_entries where action = 'file.erase_content' order by id",
  );
  assert.deepEqual(entries, [
    { target_id: one.id, details: { versions: [1], bytes: 0, erasedBlobs: [] } },
    { target_id: other.id, details: { versions: [1], bytes: 5000, erasedBlobs: [blobId] } },
  ]);
  // The same bytes can be stored anew.
  const again = await fixture.upload(bytes);
  const stored = await service.sql('select blob_id from file_versions where file_id = $1', [again.id]);
  assert.notEqual(stored.rows[0].blob_id, blobId);
  assertError(await erase((await fixture.made()).id), 'resource_not_found', /only its hash/);
});

test('the history has every version, transfer and validation in order, page by page', async () => {
  const { id, contentHash } = await fixture.made();
  await service.call('POST', `${url}/${id}/validate`, { body: { contentHash } });
  const to = await fixture.newVault();
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
