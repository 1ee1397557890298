/** The check of announcements on what assets have: entries and transfers that are confirmed, told of, and then are not. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { announcedKinds } from '../../src/anchoring/anchored.check.ts';
import { announcementsCheck } from '../../src/anchoring/announcements.check.ts';
import type { AnchoredLeaf } from '../../src/anchoring/announcer.ts';
import { confirmedEvents } from '../../src/anchoring/confirmed-event.ts';
import type { Database, Db } from '../../src/db/database.ts';
import { insertAll } from '../../src/db/writes.ts';
import { announcedTransfers } from '../../src/holdings/transfers/transfers.check.ts';
import { confirmTransfers } from '../../src/holdings/transfers/transfers.ts';
import { transferableAsset } from '../../src/maintenance/assets/asset-transfer.ts';
import { runEach } from '../../src/runtime/check.ts';
import { openTestDatabase } from '../support/service/database.ts';

let database: Database;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const rows = [
    sql`insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')`,
    sql`insert into vaults (workspace_id, id, name, description, address)
        select 'ws_1', 'vlt_' || n, '', '', '0x' || repeat(n::text, 40) from generate_series(1, 3) n`,
    sql`insert into assets (workspace_id, asset_id, vault_id, name, last_leaf)
        values ('ws_1', 'pump', 'vlt_1', '', sha256('t2'))`,
    sql`insert into transfers (workspace_id, id, subject_kind, subject_id, number, subject_version, from_vault_id,
          to_vault_id, completed_at)
        values ('ws_1', 'trf_1', 'asset', 'pump', 1, 1, 'vlt_1', 'vlt_2', now()),
               ('ws_1', 'trf_2', 'asset', 'pump', 2, 1, 'vlt_2', 'vlt_3', null)`,
    sql`insert into maintenances (workspace_id, id, asset_id, vault_id, worker_id, worker_address, worker_name, type,
          summary, performed_at, entry, salt, hash, number)
        values ('ws_1', 'mnt_1', 'pump', 'vlt_1', 'wrk_1', '', '', 'repair', '', now(), '{}', sha256('s'), sha256('h'), 1)`,
    sql`insert into sender_accounts (address, next_nonce) values (substr(sha256('a'), 1, 20), 1)`,
    sql`insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
        select address, 0, 'anchor', address, '', 1 from sender_accounts`,
    sql`insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number, block_hash,
          block_time, announced, evidence_root, head_path)
        select sha256('r'), 3, id, 'confirmed', sha256('t'), 7, sha256('b'), 1800000000, 3, sha256('e'), ''
        from outgoing_transactions`,
  ];
  for (const row of rows) await row.execute(db);
  const leaves = [
    { kind: 'maintenance', subjectId: 'mnt_1', version: 1, claims: '{"assetId":"pump"}' },
    { kind: 'transfer', subjectId: 'pump', version: 1, claims: null },
    { kind: 'transfer', subjectId: 'pump', version: 2, claims: null },
  ].map(
    (one): AnchoredLeaf => ({
      ...one,
      workspaceId: 'ws_1',
      vaultId: 'vlt_1',
      announcedBefore: false,
      transactionHash: '0x01',
      blockNumber: 7,
      anchoredAt: new Date(),
    }),
  );
  for (const [place, { kind, subjectId, version }] of leaves.entries()) {
    await sql`
      with leaf as (
        insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, canonicalization,
          previous_leaf, claims_hash, leaf)
        values ('ws_1', ${kind}, ${subjectId}, ${version}, 'vlt_1', sha256('d'), 'jcs', sha256('p'), sha256('c'),
          sha256(${`${kind} ${version}`}::bytea)) returning id
      )
      insert into anchor_places (first_id, batch_id, places)
      select leaf.id, b.id, array[${place}::integer] from leaf, anchor_batches b`.execute(db);
  }
  const leavesOf = (wanted: string) => leaves.filter(({ kind }) => kind === wanted);
  await db.transaction().execute(async (db) => {
    await insertAll(db, [
      ...((await confirmedEvents().maintenance?.(db, leavesOf('maintenance'))) ?? []),
      ...(await confirmTransfers(transferableAsset)(db, leavesOf('transfer'))),
    ]);
  });
});
after(() => database.close());

async function rulesOn(db: Db): Promise<string[]> {
  const check = announcementsCheck(db, [...announcedKinds(), announcedTransfers('asset')]);
  const [report] = await runEach([check], { settleMs: 0 });
  // Three leaves and three events.
  assert.ok(report && report.checked >= 4, `${report?.checked} rows`);
  return report.findings.map(({ rule }) => rule).sort();
}

test('finds nothing if everything was announced', async () => {
  assert.deepEqual(await rulesOn(database.db), []);
});

const cases: [name: string, statement: RawBuilder<unknown>, rules: string[]][] = [
  [
    'a confirmed entry that was not announced',
    sql`delete from events where type = 'maintenance.anchor.confirmed'`,
    ['maintenance_unannounced'],
  ],
  [
    'a confirmed transfer that was not announced, although another of the same asset was',
    sql`delete from events where type = 'asset.transfer.completed' and envelope like '%"to_vault_id":"vlt_3"%'`,
    ['asset_transfer_unannounced'],
  ],
  [
    'an entry that was confirmed with an earlier anchor and not announced, although it is pending now',
    sql`with told as (delete from events where type = 'maintenance.anchor.confirmed'),
        placed as (
          delete from anchor_places where first_id = (select id from anchor_leaves where kind = 'maintenance')
        )
        update anchor_leaves set announced_before = true where kind = 'maintenance'`,
    ['maintenance_unannounced'],
  ],
  ['a missing entry', sql`delete from maintenances`, ['leaf_without_maintenance']],
  [
    'a missing transfer',
    sql`delete from transfers where number = 1`,
    ['announced_unknown', 'asset_transfer_unannounced', 'leaf_without_asset_transfer'],
  ],
  [
    'an announced entry without a leaf',
    sql`delete from anchor_leaves where kind = 'maintenance'`,
    ['announced_unknown'],
  ],
];

for (const [name, statement, rules] of cases) {
  test(`finds ${name}`, async () => {
    const takeBack = new Error('taken back');
    await assert.rejects(
      database.db.transaction().execute(async (db) => {
        await statement.execute(db);
        assert.deepEqual(await rulesOn(db), rules);
        throw takeBack;
      }),
      takeBack,
    );
  });
}
