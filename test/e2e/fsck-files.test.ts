/** The check of files on rows in which all is right, and on the same with one thing broken at a time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { announcedKinds } from '../../src/anchoring/anchored.check.ts';
import { announcementsCheck } from '../../src/anchoring/announcements.check.ts';
import { confirmedEvents } from '../../src/anchoring/confirmed-event.ts';
import { type Database, type Db, openDatabase } from '../../src/db/database.ts';
import { insertAll } from '../../src/db/writes.ts';
import { transferableFile } from '../../src/holdings/files/file-transfer.ts';
import { filesCheck } from '../../src/holdings/files/files.check.ts';
import { announcedTransfers } from '../../src/holdings/transfers/transfers.check.ts';
import { confirmTransfers } from '../../src/holdings/transfers/transfers.ts';
import { type CheckReport, runEach } from '../../src/runtime/check.ts';
import { sendForm } from '../support/clients/upload.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';

let service: Service;
let database: Database;

/** A stored file that was handed on and has a version since, all of it confirmed; and one of which only a hash is known. */
before(async () => {
  service = await startService({ runLoops: false });
  database = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
  });
  const newVault = async () =>
    (await service.call('POST', `${platform}/vaults`, { body: { name: 'Vault' } })).json;
  const [one, two] = [await newVault(), await newVault()];
  const { id } = (
    await sendForm(service, `${platform}/files`, {
      parts: [
        ['vaultAddress', one.address],
        ['file', new File(['bytes'], 'a.txt')],
      ],
    })
  ).json;
  const hashOnly = () => ({ contentHash: `0x${randomBytes(32).toString('hex')}` });
  const post = async (path: string, body: object) => {
    const { status, text } = await service.call('POST', `${platform}/files${path}`, { body });
    assert.equal(status, 202, text);
  };
  await post(`/${id}/transfer`, { destinationVaultAddress: two.address });
  await confirmAll();
  await post(`/${id}/versions`, hashOnly());
  await confirmAll();
  await post('', { vaultAddress: one.address, name: 'b', ...hashOnly() });
});
after(async () => {
  await database.close();
  await service.close();
});

/** What anchoring does with all that is pending, as far as its rows go. */
async function confirmAll(): Promise<void> {
  await database.db.transaction().execute(async (db) => {
    await sql`insert into sender_accounts (address, next_nonce) values (${randomBytes(20)}, 1)`.execute(db);
    const { rows } = await sql<{ id: number }>`
      with sent as (
        insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
        select address, 0, 'anchor', address, '', 1 from sender_accounts
        where address not in (select account from outgoing_transactions) returning id
      )
      insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number, block_hash, block_time,
        announced, evidence_root, head_path)
      select sha256('root'), pending.size, sent.id, 'finalized', sha256('tx'), 1, sha256('block'), 1, pending.size,
        sha256('e'), ''
      from sent, (select count(*)::integer as size from placed_leaves where batch_id is null) as pending
      returning id`.execute(db);
    const leaves = await sql<{
      workspace_id: string;
      kind: string;
      subject_id: string;
      version: number;
      vault_id: string;
    }>`
      with placed as (
        insert into anchor_places (first_id, batch_id, places)
        select id, ${rows[0]?.id}, array[row_number() over (order by id) - 1] from placed_leaves where batch_id is null
        returning first_id
      )
      select l.workspace_id, l.kind, l.subject_id, l.version, l.vault_id
      from placed p join anchor_leaves l on l.id = p.first_id`.execute(db);
    const confirmed = leaves.rows.map((row) => ({
      workspaceId: row.workspace_id,
      kind: row.kind,
      subjectId: row.subject_id,
      version: row.version,
      vaultId: row.vault_id,
      claims: null,
      announcedBefore: false,
      transactionHash: `0x${'00'.repeat(32)}` as const,
      blockNumber: 1,
      anchoredAt: new Date(),
    }));
    const leavesOf = (wanted: string) => confirmed.filter(({ kind }) => kind === wanted);
    await insertAll(db, [
      ...((await confirmedEvents().file?.(db, leavesOf('file'))) ?? []),
      ...(await confirmTransfers(transferableFile)(db, leavesOf('transfer'))),
    ]);
  });
}

function look(db: Db): Promise<CheckReport[]> {
  const announcements = announcementsCheck(db, [...announcedKinds(), announcedTransfers('file')]);
  return runEach([filesCheck(db), announcements], { settleMs: 0 });
}

const rulesOf = (reports: CheckReport[]) =>
  reports.flatMap(({ findings }) => findings.map(({ rule }) => rule)).sort();

test('finds nothing in correct data, and checks everything', async () => {
  const [rows, announcements] = await look(database.db);
  assert.deepEqual(rows?.findings, []);
  assert.deepEqual(announcements?.findings, []);
  // Three versions, two files and a transfer at least; and as many leaves as versions and transfers.
  assert.ok(rows && rows.checked >= 6, `${rows?.checked} rows`);
  assert.ok(announcements && announcements.checked >= 4, `${announcements?.checked} rows`);
});

const cases: [name: string, statements: RawBuilder<unknown>[], rules: string[]][] = [
  [
    'a changed hash',
    [sql`update file_versions set content_hash = sha256('x') where version = 2`],
    ['file_leaf_differs'],
  ],
  [
    'a version without a leaf',
    [
      sql`delete from anchor_leaves where id in (select id from placed_leaves where kind = 'file' and batch_id is null)`,
    ],
    ['file_last_leaf', 'file_without_leaf'],
  ],
  [
    'a missing version',
    [sql`delete from file_versions where version = 1 and blob_id is not null`],
    ['file_transfer_leaf_differs', 'file_version_gap', 'leaf_without_file'],
  ],
  [
    'a version that wrongly counts as the newest',
    [sql`update file_versions set current = true where version = 1`],
    ['file_current'],
  ],
  ['a blob that is gone', [sql`delete from blobs`], ['file_without_blob']],
  [
    'a blob that was erased although a version needs it',
    [sql`update blobs set erased_at = now()`],
    ['file_without_blob'],
  ],
  [
    'a missing file',
    [sql`delete from files where version = 2`],
    ['file_version_without_file', 'file_version_without_file'],
  ],
  [
    'an owner that no transfer names',
    [sql`update files set vault_id = (select from_vault_id from transfers) where version = 2`],
    ['file_owner'],
  ],
  [
    'a transfer that was announced but not completed',
    [sql`update transfers set completed_at = null`],
    ['file_owner', 'file_transfer_incomplete', 'file_transfer_open'],
  ],
  [
    'a transfer that never ends',
    [sql`update files set transfer_id = 'trf_x' where version = 2`],
    ['file_transfer_open'],
  ],
  [
    'a missing transfer',
    [sql`delete from transfers`],
    ['announced_unknown', 'file_owner', 'file_transfer_unannounced', 'leaf_without_file_transfer'],
  ],
  [
    'a transfer without a leaf',
    [sql`delete from anchor_leaves where kind = 'transfer'`],
    ['announced_unknown', 'file_transfer_without_leaf'],
  ],
  [
    'a newest leaf that is not the newest',
    [sql`update files set last_leaf = sha256('x') where version = 2`],
    ['file_last_leaf'],
  ],
  [
    'a confirmed version that was not announced',
    [sql`delete from events where type = 'file.anchor.confirmed' and envelope like '%"version":2%'`],
    ['file_unannounced'],
  ],
  [
    'a confirmed transfer that was not announced',
    [sql`delete from events where type = 'file.transfer.completed'`],
    ['file_transfer_unannounced'],
  ],
];

for (const [name, statements, rules] of cases) {
  test(`finds ${name}`, async () => {
    const takeBack = new Error('taken back');
    let found: string[] = [];
    await database.db
      .transaction()
      .execute(async (db) => {
        for (const statement of statements) await statement.execute(db);
        found = rulesOf(await look(db));
        throw takeBack;
      })
      .catch((error) => {
        if (error !== takeBack) throw error;
      });
    assert.deepEqual(found, rules);
  });
}
