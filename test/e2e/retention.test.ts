/** Retention of vaults: what is older is erased, in steps, with figures; what is held or newer is kept. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createArchive } from '../../src/anchoring/archive/archive.ts';
import { createBlobs } from '../../src/blobs/blobs.ts';
import { openBlobStore } from '../../src/blobs/open-blob-store.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createErasureJournal } from '../../src/holdings/holds/erasures.ts';
import { createRetentionWork, type RetentionWork } from '../../src/holdings/retention/retention.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { sendForm } from '../support/clients/upload.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const records = `${platform}/records`;
const dayMs = 24 * 60 * 60 * 1000;

let service: Service;
let work: RetentionWork;
let daysLater = 0;
const stack = new AsyncDisposableStack();

before(async () => {
  service = await startService({ runLoops: false });
  stack.defer(() => service.close());
  const database = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
  });
  stack.defer(() => database.close());
  const { db } = database;
  const store = await openBlobStore(service.config.blobs);
  stack.defer(() => store.close());
  const keyring = await openKeyring({ db, source: service.config.masterKey });
  stack.defer(() => keyring.close());
  const blobs = createBlobs({ db, keyring, store });
  work = createRetentionWork({
    ...{ db, blobs, archive: createArchive({ db, blobs }) },
    journal: createErasureJournal({ db, store, keyring, log: { warn() {} } }),
    atOnce: 2,
    now: () => new Date(Date.now() + daysLater * dayMs),
  });
});
after(() => stack.disposeAsync());

async function newVault(): Promise<string> {
  return (await service.call('POST', `${platform}/vaults`, { body: { name: 'Room' } })).json.address;
}

async function newRecord(vaultAddress: string, data: object = { n: 1 }): Promise<string> {
  return (await service.call('POST', records, { body: { vaultAddress, data } })).json.id;
}

const retention = (vault: string, body?: object) =>
  service.call(body ? 'PUT' : 'GET', `${platform}/vaults/${vault}/retention`, body ? { body } : {});
const preview = (vault: string, days: Record<string, number>) => {
  const query = Object.entries(days).map((pair) => pair.join('='));
  return service.call('GET', `${platform}/vaults/${vault}/retention/preview?${query.join('&')}`);
};
const isErased = async (id: string): Promise<boolean> =>
  (await service.call('GET', `${records}/${id}`)).json.erased;

/** All steps that are due so many days from now. */
async function runAfter(days: number): Promise<void> {
  daysLater = days;
  while ((await work.step()) === true);
}

async function hold(subject: object, held: boolean): Promise<void> {
  const body = { ...subject, held, ...(held && { reason: 'Audit' }) };
  assert.equal((await service.call('PUT', `${platform}/holds`, { body })).status, 200);
}

test('what is older is erased in steps, counted and journalled; other vaults keep theirs', async () => {
  const [vault, other] = [await newVault(), await newVault()];
  const ids: string[] = [];
  for (let number = 0; number < 5; number += 1) ids.push(await newRecord(vault, { n: number }));
  const elsewhere = await newRecord(other);
  const file = await sendForm(service, `${platform}/files`, {
    parts: [
      ['vaultAddress', vault],
      ['file', new File(['twelve bytes'], 'a.txt')],
    ],
  });
  const set = await retention(vault, { recordDays: 10, fileDays: 20 });
  assert.deepEqual(set.json, { recordDays: 10, fileDays: 20, erased: 0, erasedBytes: 0 });

  await runAfter(9);
  assert.deepEqual(
    await Promise.all(ids.map(isErased)),
    ids.map(() => false),
  );
  await runAfter(11);
  assert.deepEqual(
    await Promise.all(ids.map(isErased)),
    ids.map(() => true),
  );
  assert.equal(await isErased(elsewhere), false);
  assert.equal((await retention(vault)).json.erasedBytes, 5 * '{"n":1}'.length);
  const content = `${platform}/files/${file.json.id}/content`;
  assert.equal((await service.call('GET', content)).status, 200);
  await runAfter(21);
  assert.equal((await service.call('GET', content)).status, 404);
  assert.deepEqual((await retention(vault)).json, {
    ...{ recordDays: 10, fileDays: 20 },
    ...{ erased: 6, erasedBytes: 5 * 7 + 12 },
  });

  const { json: erasures } = await service.call('GET', `${platform}/erasures?subjectId=${ids[0]}`);
  assert.deepEqual(
    erasures.map(({ bytes, byRetention }: { bytes: number; byRetention: boolean }) => ({
      bytes,
      byRetention,
    })),
    [{ bytes: 7, byRetention: true }],
  );
  const { rows } = await service.sql(
    `select actor_kind, actor_id from audit_entries where target_id = $1 and action = 'record.erase_data'`,
    [ids[0]],
  );
  assert.deepEqual(rows, [{ actor_kind: 'system', actor_id: 'retention' }]);
  assert.equal((await service.sql('select 1 from erasures where not journalled')).rows.length, 0);
});

test('a hold keeps what is due, and its release lets it go with the next round', async () => {
  daysLater = 0;
  const vault = await newVault();
  const [first, held, last] = [await newRecord(vault), await newRecord(vault), await newRecord(vault)];
  await hold({ recordId: held }, true);
  await retention(vault, { recordDays: 1, fileDays: null });
  await runAfter(2);
  assert.deepEqual(await Promise.all([first, held, last].map(isErased)), [true, false, true]);
  await hold({ recordId: held }, false);
  await runAfter(2.1);
  assert.equal(await isErased(held), true);

  const later = await newRecord(vault);
  await hold({ vaultAddress: vault }, true);
  await runAfter(4);
  assert.equal(await isErased(later), false);
  await hold({ vaultAddress: vault }, false);
  await runAfter(4.1);
  assert.equal(await isErased(later), true);
});

test('a record is kept until its newest version is old', async () => {
  daysLater = 0;
  const vault = await newVault();
  const [id, next] = [await newRecord(vault), await newRecord(vault)];
  await service.sql(
    `update anchor_leaves set created_at = created_at + interval '5 days' where subject_id = $1`,
    [id],
  );
  await retention(vault, { recordDays: 1, fileDays: null });
  await runAfter(2);
  assert.deepEqual([await isErased(id), await isErased(next)], [false, true]);
  await runAfter(7);
  assert.equal(await isErased(id), true);
});

test('a preview counts what would go, and erases nothing', async () => {
  daysLater = 0;
  const vault = await newVault();
  const id = await newRecord(vault);
  assert.deepEqual((await preview(vault, { recordDays: 1, fileDays: 1 })).json, {
    ...{ records: 0, files: 0, bytes: 0, held: 0, more: false },
  });
  const old = 'rec_01BX5ZZKBKACTAV9WEVGEMMVRZ';
  await service.sql(
    `update anchor_leaves set subject_id = $1, created_at = now() - interval '3 days' where subject_id = $2`,
    [old, id],
  );
  assert.deepEqual((await preview(vault, { recordDays: 1 })).json, {
    ...{ records: 1, files: 0, bytes: 7, held: 0, more: false },
  });
  await hold({ recordId: old }, true);
  const { records: due, held } = (await preview(vault, { recordDays: 1 })).json;
  assert.deepEqual([due, held], [0, 1]);
  assert.equal(await isErased(old), false);
});

test('files that a release holds are left out, and their release is seen at the last moment', async () => {
  daysLater = 0;
  const vault = await newVault();
  const upload = async (text: string): Promise<string> => {
    const parts: [string, string | File][] = [
      ['vaultAddress', vault],
      ['file', new File([text], 'a.txt')],
    ];
    return (await sendForm(service, `${platform}/files`, { parts })).json.id;
  };
  const [released, loose] = [await upload('released'), await upload('loose')];
  // As the trigger of the certifying sign-off writes it; release-holds.test.ts has the whole way.
  await service.sql(
    `insert into release_holds (workspace_id, file_id, version, maintenance_id, asset_id)
     select workspace_id, id, 1, 'mnt_1', 'Pump' from files where id = $1`,
    [released],
  );
  await retention(vault, { recordDays: null, fileDays: 1 });
  await runAfter(2);
  const contents = [released, loose].map((id) => service.call('GET', `${platform}/files/${id}/content`));
  assert.deepEqual(
    (await Promise.all(contents)).map(({ status }) => status),
    [200, 404],
  );
  await service.sql('delete from release_holds where file_id = $1', [released]);
  await runAfter(2.1);
  assert.equal((await service.call('GET', `${platform}/files/${released}/content`)).status, 404);
});

test('the retention of a vault is for its own workspace alone, and logged', async () => {
  const vault = await newVault();
  const stranger = await service.makeKey({ newWorkspace: true });
  const path = `${platform}/vaults/${vault}/retention`;
  assertError(await service.call('GET', path, { key: stranger }), 'resource_not_found');
  const body = { recordDays: 1, fileDays: null };
  assertError(await service.call('PUT', path, { key: stranger, body }), 'resource_not_found');
  assertError(
    await service.call('PUT', path, { body: { recordDays: 0, fileDays: null } }),
    'invalid_request',
  );
  await retention(vault, body);
  await retention(vault, body);
  const { rows } = await service.sql(
    `select details from audit_entries where action = 'vault.set_retention'
    and target_id = (select id from vaults where address = $1)`,
    [vault],
  );
  assert.deepEqual(rows, [{ details: body }]);
});
