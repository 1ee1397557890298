/** Erasing the data of records over HTTP, and legal holds, which stand against every way of erasing. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sendForm } from '../support/clients/upload.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Answer, type CallOptions, type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const records = `${platform}/records`;
const canary = 'canary-4f1d';

let service: Service;
let vaultAddress: string;
let vaultId: string;
let stranger: string;

before(async () => {
  service = await startService({ runLoops: false });
  const { json } = await service.call('POST', `${platform}/vaults`, { body: { name: 'Cold room' } });
  ({ address: vaultAddress, id: vaultId } = json);
  stranger = await service.makeKey({ newWorkspace: true });
});
after(() => service.close());

async function newRecord(data: object = { canary }, options: CallOptions = {}): Promise<string> {
  const answer = await service.call('POST', records, {
    body: { vaultAddress, data, externalId: 'DN-1' },
    ...options,
  });
  assert.equal(answer.status, 202, answer.text);
  return answer.json.id;
}

const erase = (id: string, options: CallOptions & { version?: number } = {}): Promise<Answer> =>
  service.call(
    'DELETE',
    `${records}/${id}/data${options.version === undefined ? '' : `?version=${options.version}`}`,
    options,
  );

const hold = (subject: object, held: boolean, options: CallOptions = {}): Promise<Answer> =>
  service.call('PUT', `${platform}/holds`, {
    body: { ...subject, held, ...(held && { reason: 'Dispute 14' }) },
    ...options,
  });

async function storedBytes(): Promise<number> {
  const { rows } = await service.sql(
    `select (select used from budget_use(v.workspace_id, 'stored_bytes', 'epoch'))::int as used
     from vaults v where v.id = $1`,
    [vaultId],
  );
  return rows[0].used;
}

async function actions(targetId: string): Promise<string[]> {
  const { rows } = await service.sql('select action from audit_entries where target_id = $1 order by id', [
    targetId,
  ]);
  return rows.map(({ action }) => action);
}

test('erased data is gone, its hash stays, and the bytes are given back', async () => {
  const before = await storedBytes();
  const id = await newRecord();
  const { json: whole } = await service.call('GET', `${records}/${id}`);
  assert.equal(whole.erased, false);
  const data = JSON.stringify({ canary });
  assert.equal(await storedBytes(), before + data.length);

  const answer = await erase(id);
  assert.equal(answer.status, 200, answer.text);
  const { recordId, versions, bytes, erasedAt, goneFromBackupsAt } = answer.json;
  assert.deepEqual({ recordId, versions, bytes }, { recordId: id, versions: [1], bytes: data.length });
  assert.equal(Date.parse(goneFromBackupsAt) - Date.parse(erasedAt), 30 * 24 * 60 * 60 * 1000);
  assert.equal(await storedBytes(), before);

  const { json: erased } = await service.call('GET', `${records}/${id}`);
  assert.deepEqual(erased, { ...whole, erased: true, data: {} });
  const { rows } = await service.sql(
    'select data, salt, claims, digest, external_id from anchor_leaves where subject_id = $1',
    [id],
  );
  assert.deepEqual(rows, [
    {
      data: null,
      salt: null,
      claims: null,
      digest: Buffer.from(whole.dataHash.slice(2), 'hex'),
      external_id: 'DN-1',
    },
  ]);
  assert.deepEqual(await actions(id), ['record.create', 'record.erase_data']);
  const list = await service.call('GET', `${records}?externalId=DN-1&limit=1`);
  assert.equal(list.json[0].erased, true);
});

test('a repeat erases nothing, logs nothing, and tells the same time', async () => {
  const id = await newRecord();
  const first = await erase(id);
  const again = await erase(id);
  assert.deepEqual(again.json, { ...first.json, bytes: 0 });
  assert.deepEqual(await actions(id), ['record.create', 'record.erase_data']);
});

test('one version is erased alone, and a later one can be added', async () => {
  const id = await newRecord();
  const add = () => service.call('POST', `${records}/${id}/versions`, { body: { data: { next: canary } } });
  assert.equal((await add()).status, 202);
  assert.deepEqual((await erase(id, { version: 1 })).json.versions, [1]);
  assert.deepEqual((await service.call('GET', `${records}/${id}?version=1`)).json.data, {});
  assert.deepEqual((await service.call('GET', `${records}/${id}`)).json.data, { next: canary });
  assertError(await erase(id, { version: 9 }), 'resource_not_found');
  assert.deepEqual((await erase(id)).json.versions, [1, 2]);
  assert.equal((await add()).status, 202);
  assert.deepEqual((await service.call('GET', `${records}/${id}`)).json.data, { next: canary });
});

test('a repeated creation of an erased record gets the first answer, without its data', async () => {
  const headers = { 'idempotency-key': 'creation-1' };
  const first = await service.call('POST', records, { body: { vaultAddress, data: { canary } }, headers });
  await erase(first.json.id);
  const again = await service.call('POST', records, { body: { vaultAddress, data: { canary } }, headers });
  assert.equal(again.text, first.text);
  assert.ok(!again.text.includes(canary));
  assert.deepEqual((await service.call('GET', `${records}/${first.json.id}`)).json.data, {});
});

test('another workspace can neither erase nor hold', async () => {
  const id = await newRecord();
  assertError(await erase(id, { key: stranger }), 'resource_not_found');
  assertError(await hold({ recordId: id }, true, { key: stranger }), 'resource_not_found');
  assertError(await hold({ vaultAddress }, true, { key: stranger }), 'resource_not_found');
  assert.deepEqual((await service.call('GET', `${records}/${id}`)).json.data, { canary });
  const reader = await service.makeKey({ scopes: ['records:read', 'vaults:read'] });
  assertError(await erase(id, { key: reader }), 'forbidden');
  assertError(await hold({ recordId: id }, true, { key: reader }), 'forbidden');
});

test('what is held is not erased: the record itself, or its vault', async () => {
  const id = await newRecord();
  for (const subject of [{ recordId: id }, { vaultAddress }]) {
    const placed = await hold(subject, true);
    assert.equal(placed.status, 200, placed.text);
    assert.deepEqual((await hold(subject, true)).json, placed.json);
    const refused = await erase(id);
    assertError(refused, 'on_hold');
    assert.match(refused.json.message, /Dispute 14/);
    assert.deepEqual((await service.call('GET', `${platform}/holds`)).json, [placed.json]);
    assert.deepEqual((await service.call('GET', `${records}/${id}`)).json.data, { canary });
    assert.equal((await hold(subject, false)).json.held, false);
  }
  assert.deepEqual(await actions(id), ['record.create', 'hold.place', 'hold.release']);
  assert.equal((await erase(id)).status, 200);
});

test('the content of a held file is not erased', async () => {
  const uploaded = await sendForm(service, `${platform}/files`, {
    parts: [
      ['vaultAddress', vaultAddress],
      ['file', new File([canary], 'note.txt')],
    ],
  });
  const fileId = uploaded.json.id;
  const eraseFile = () => service.call('DELETE', `${platform}/files/${fileId}/content`);
  for (const subject of [{ fileId }, { vaultAddress }]) {
    await hold(subject, true);
    assertError(await eraseFile(), 'on_hold');
    assert.equal((await service.call('GET', `${platform}/files/${fileId}/content`)).text, canary);
    await hold(subject, false);
  }
  assert.equal((await eraseFile()).status, 204);
});

test('a hold names one thing, and its reason', async () => {
  const put = (body: object) => service.call('PUT', `${platform}/holds`, { body });
  assertError(await put({ held: true, reason: 'x' }), 'invalid_request');
  assertError(await put({ vaultAddress, recordId: 'rec_1', held: true, reason: 'x' }), 'invalid_request');
  assertError(await put({ vaultAddress, held: true }), 'invalid_request');
  assertError(await put({ recordId: 'rec_none', held: true, reason: 'x' }), 'resource_not_found');
});

test('holds that race with erasures stand or come too late, never both', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = await newRecord();
    const [held, erased] = await Promise.all([hold({ recordId: id }, true), erase(id)]);
    assert.equal(held.status, 200);
    const { json } = await service.call('GET', `${records}/${id}`);
    assert.equal(json.erased, erased.status === 200);
    if (erased.status !== 200) assertError(erased, 'on_hold');
    // The later of the two audit entries is that of the hold, unless the erasure was refused.
    const done = await actions(id);
    assert.deepEqual(
      done.toSorted(),
      erased.status === 200
        ? ['hold.place', 'record.create', 'record.erase_data']
        : ['hold.place', 'record.create'],
    );
  }
});

test('each erasure is listed, and journalled beside the blobs without its content', async () => {
  const id = await newRecord();
  const { erasedAt } = (await erase(id)).json;
  const { json } = await service.call('GET', `${platform}/erasures?subjectId=${id}`);
  assert.equal(json.length, 1);
  const { kind, subjectId, versions, byRetention } = json[0];
  assert.deepEqual(
    { kind, subjectId, versions, byRetention },
    { kind: 'record', subjectId: id, versions: [1], byRetention: false },
  );
  assert.equal(json[0].erasedAt, erasedAt);
  const { rows } = await service.sql('select journalled from erasures where subject_id = $1', [id]);
  assert.deepEqual(rows, [{ journalled: true }]);
  const { blobs } = service.config;
  assert.equal(blobs.kind, 'disk');
  const folder = join(blobs.kind === 'disk' ? blobs.dir : '', 'erasures');
  const texts = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
  );
  assert.equal(texts.filter((text) => text.includes(id)).length, 1);
  assert.ok(!texts.some((text) => text.includes(canary)));
});
