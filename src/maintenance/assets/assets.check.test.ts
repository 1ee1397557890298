/** The check of assets on sound data, and with one fault at a time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  caller,
  openAssetFixture,
  transferLeaf,
  vaultAddresses,
} from '../../../test/support/fixtures/stored-assets-fixture.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database, Db } from '../../db/database.ts';
import { type CheckReport, runEach } from '../../runtime/check.ts';
import { assetsCheck } from './assets.check.ts';

let database: Database;
before(async () => {
  database = await openTestDatabase();
  const { assets, startTransfer, installs, confirm } = await openAssetFixture(database);
  const [one = '', two = ''] = vaultAddresses;
  const none = () => [];
  for (const assetId of ['pump', 'engine', 'aircraft']) {
    await assets.create(caller, { vaultAddress: one, name: assetId, assetId }, none);
  }
  await assets.update(caller, 'pump', { change: { name: 'Fuel pump' }, seen: undefined });
  await installs.install(caller, { assetId: 'pump', parentAssetId: 'engine', at: new Date() }, none);
  await installs.install(caller, { assetId: 'engine', parentAssetId: 'aircraft', at: new Date() }, none);
  await startTransfer('pump', two);
  await confirm(transferLeaf('pump', 1));
  await assets.update(caller, 'pump', { change: { name: 'Main fuel pump' }, seen: undefined });
  await startTransfer('aircraft', two);
});
after(() => database.close());

async function rulesOf(db: Db): Promise<string[]> {
  const reports: CheckReport[] = await runEach([assetsCheck(db)], { settleMs: 0 });
  assert.deepEqual(
    reports.flatMap(({ skipped }) => skipped),
    [],
  );
  return [...new Set(reports.flatMap(({ findings }) => findings.map(({ rule }) => rule)))].sort();
}

test('finds nothing in correct data, and checks every row', async () => {
  const [report] = await runEach([assetsCheck(database.db)], { settleMs: 0 });
  assert.deepEqual(report?.findings, []);
  assert.equal(report?.checked, 3 + 7 + 3 + 2);
});

const cases: [name: string, statement: string, rules: string[]][] = [
  ['another owner', "update assets set vault_id = 'vlt_3' where asset_id = 'pump'", ['asset_owner']],
  [
    'a transfer that was taken back',
    "update transfers set completed_at = null where subject_id = 'pump'",
    ['asset_owner', 'asset_transfer_open'],
  ],
  [
    'a transfer in progress that the asset does not name',
    "update assets set transfer_id = null where asset_id = 'aircraft'",
    ['asset_transfer_open'],
  ],
  [
    'a changed document',
    `update asset_versions set document = replace(document, 'Main', 'Old')`,
    ['asset_changed'],
  ],
  [
    'a version without a leaf',
    "delete from anchor_leaves where kind = 'asset' and subject_id = 'pump' and version = 2",
    ['asset_without_leaf'],
  ],
  [
    'a leaf of another vault',
    "update anchor_leaves set vault_id = 'vlt_3' where kind = 'asset' and version = 2",
    ['asset_leaf_differs'],
  ],
  [
    'a missing version',
    "delete from asset_versions where asset_id = 'pump' and version = 2",
    ['asset_versions'],
  ],
  [
    'a leaf that the next one would not follow',
    "update assets set last_leaf = sha256('x') where asset_id = 'engine'",
    ['asset_last_leaf'],
  ],
  [
    'a cycle of parents',
    `with moved as (update assets set parent_asset_id = 'pump' where asset_id = 'aircraft' returning 1)
     insert into asset_installations (workspace_id, asset_id, number, parent_asset_id, installed_at)
     select 'ws_1', 'aircraft', 1, 'pump', now() from moved`,
    ['asset_circle'],
  ],
  [
    'a parent without an installation',
    "update asset_installations set removed_at = installed_at where asset_id = 'pump'",
    ['asset_parent'],
  ],
  [
    'a transfer without a leaf',
    "delete from anchor_leaves where kind = 'transfer' and subject_id = 'pump'",
    ['asset_transfer_without_leaf'],
  ],
  [
    'a transfer sealed by somebody else',
    "update anchor_leaves set vault_id = 'vlt_3' where kind = 'transfer' and subject_id = 'pump'",
    ['asset_transfer_leaf_differs'],
  ],
  [
    'a confirmed transfer that did not change the owner',
    `with account as (
       insert into sender_accounts (address, next_nonce) values (substr(sha256('a'), 1, 20), 1) returning address
     ), sent as (
       insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
       select address, 0, 'anchor', address, '', 1 from account returning id
     ), made as (
       insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number, block_hash, block_time, announced,
         evidence_root, head_path)
       select sha256('r'), 1, id, 'confirmed', sha256('t'), 7, sha256('b'), 1800000000, 1, sha256(''), '' from sent
       returning id
     )
     insert into anchor_places (first_id, batch_id, places)
     select l.id, made.id, '{0}' from made, anchor_leaves l where kind = 'transfer' and subject_id = 'aircraft'`,
    ['asset_transfer_incomplete'],
  ],
];

for (const [name, statement, rules] of cases) {
  test(`finds ${name}`, async () => {
    const takeBack = new Error('taken back');
    await assert.rejects(
      database.db.transaction().execute(async (db) => {
        await sql.raw(statement).execute(db);
        assert.deepEqual(await rulesOf(db), rules);
        throw takeBack;
      }),
      takeBack,
    );
  });
}
