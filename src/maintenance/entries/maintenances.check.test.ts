/** The check of entries and sign-offs: silent on sound data, and each rule is reported when a row was changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database, Db } from '../../db/database.ts';
import { runEach } from '../../runtime/check.ts';
import { followCorrections } from '../intervals/asset-intervals.ts';
import { createSignoffs } from '../signoffs/signoffs.ts';
import { createMaintenanceCreator } from './maintenance-creation.ts';
import { maintenancesCheck } from './maintenances.check.ts';

const account = privateKeyToAccount(generatePrivateKey());
const caller = {
  workspaceId: 'ws_1',
  actor: { kind: 'api_key', id: 'test' } as const,
  scopes: ['signoffs:on-behalf'] as const,
  requestId: null,
};
let database: Database;
let first: string;
let second: string;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const address = account.address.toLowerCase();
  await sql`insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')`.execute(db);
  await sql`
    insert into vaults (workspace_id, id, name, description, address)
    values ('ws_1', 'vlt_1', '', '', ${`0x${'22'.repeat(20)}`})`.execute(db);
  await sql`
    insert into workers (workspace_id, id, name, address, key_holder, licences)
    values ('ws_1', 'wrk_1', 'Mia', ${account.address}, 'service', '[]')`.execute(db);
  await sql`
    insert into assets (workspace_id, asset_id, vault_id, name, last_leaf)
    values ('ws_1', 'pump', 'vlt_1', '', ${Buffer.alloc(32)}), ('ws_1', 'valve', 'vlt_1', '', ${Buffer.alloc(32)})`.execute(
    db,
  );
  await sql`
    insert into asset_workers (workspace_id, asset_id, address, worker_id)
    values ('ws_1', 'pump', ${address}, 'wrk_1')`.execute(db);
  const create = createMaintenanceCreator({ db, onCorrected: followCorrections });
  const work = {
    assetId: 'pump',
    workerAddress: account.address,
    type: 'repair',
    summary: 'Seal replaced',
    performedAt: new Date('2026-01-15T09:30:00Z'),
  };
  first = (await create(caller, work, () => [])).maintenanceId;
  second = (await create(caller, { ...work, supersedes: first }, () => [])).maintenanceId;
  const signoffs = createSignoffs({
    db,
    keyring: { signer: async () => account },
    publicUrl: () => '',
  });
  await signoffs.create(
    caller,
    { assetId: 'pump', maintenanceId: second, workerAddress: account.address, role: 'performed' },
    () => [],
  );
});
after(() => database.close());

/** The rules that the check reports after a change, which is then rolled back. */
async function found(...changes: RawBuilder<unknown>[]): Promise<string[]> {
  let rules: string[] = [];
  const undo = new Error('taken back');
  await database.db
    .transaction()
    .execute(async (db: Db) => {
      for (const change of changes) await change.execute(db);
      const [report] = await runEach([maintenancesCheck(db)], { settleMs: 0 });
      assert.deepEqual(report?.skipped, []);
      rules = (report?.findings ?? []).map(({ rule }) => rule);
      throw undo;
    })
    .catch((error) => {
      if (error !== undo) throw error;
    });
  return rules;
}

test('finds nothing in correct data', async () => {
  const [report] = await runEach([maintenancesCheck(database.db)], { settleMs: 0 });
  assert.deepEqual([report?.checked, report?.findings, report?.skipped], [3, [], []]);
});

test('finds each change of an entry', async () => {
  const entry = (change: RawBuilder<unknown>) => sql`update maintenances set ${change} where id = ${first}`;
  assert.deepEqual(
    await found(entry(sql`entry = replace(entry, 'Seal', 'Hose'), summary = 'Hose replaced'`)),
    ['maintenance_changed'],
  );
  assert.deepEqual(await found(entry(sql`entry = '{'`)), ['maintenance_changed']);
  for (const change of [
    sql`summary = 'Nothing done'`,
    sql`type = 'check'`,
    sql`worker_name = 'Ada'`,
    sql`performed_at = performed_at - interval '1 day'`,
  ]) {
    assert.deepEqual(await found(entry(change)), ['maintenance_shown_wrong']);
  }
  assert.deepEqual(await found(entry(sql`asset_id = 'gone'`)), [
    'maintenance_shown_wrong',
    'maintenance_without_asset',
    'maintenance_unchained',
    'maintenance_supersedes_nothing',
    'maintenance_gap',
  ]);
  assert.deepEqual(await found(entry(sql`vault_id = 'vlt_2'`)), ['maintenance_leaf_differs']);
  assert.deepEqual(await found(sql`delete from anchor_leaves where subject_id = ${first}`), [
    'maintenance_without_leaf',
  ]);
  assert.deepEqual(await found(sql`delete from maintenances where id = ${first}`), [
    'maintenance_supersedes_nothing',
    'maintenance_gap',
  ]);
});

test('finds entries that do not form a chain', async () => {
  const numbered = (id: string, number: number) =>
    sql`update maintenances set number = ${number}::integer where id = ${id}`;
  assert.deepEqual(await found(numbered(second, 3)), ['maintenance_gap']);
  assert.deepEqual(await found(numbered(first, 9), numbered(second, 1), numbered(first, 2)), [
    'maintenance_unchained',
    'maintenance_unchained',
  ]);
  const claimed = (id: string, member: string, value: string) => sql`
    update anchor_leaves set claims = (claims::jsonb || jsonb_build_object(${member}::text, ${value}::jsonb))::text
    where subject_id = ${id} and kind = 'maintenance'`;
  for (const [member, value] of [
    ['number', '3'],
    ['previousEntry', `"0x${'00'.repeat(32)}"`],
    ['assetId', '"valve"'],
  ] as const) {
    assert.deepEqual(await found(claimed(second, member, value)), ['maintenance_unchained'], member);
  }
  assert.deepEqual(await found(sql`update anchor_leaves set claims = '{' where subject_id = ${first}`), [
    'maintenance_unchained',
  ]);
  // The entry after it does not follow the leaf that is there.
  assert.deepEqual(await found(sql`update anchor_leaves set leaf = sha256('') where subject_id = ${first}`), [
    'maintenance_unchained',
  ]);
});

test('finds each change of a sign-off', async () => {
  const signoff = (change: RawBuilder<unknown>) => sql`update signoffs set ${change}`;
  assert.deepEqual(await found(signoff(sql`document = replace(document, 'Mia', 'Ada')`)), [
    'signoff_changed',
  ]);
  assert.deepEqual(await found(signoff(sql`role = 'certified'`)), ['signoff_shown_wrong']);
  assert.deepEqual(await found(signoff(sql`number = 2`)), ['signoff_without_leaf', 'signoff_gap']);
  const leaf = sql`update anchor_leaves set previous_leaf = digest where kind = 'signoff'`;
  assert.deepEqual(await found(leaf), ['signoff_leaf_differs']);
  // Consistent in itself, but not signed by anyone.
  const forged = sql`
    with forged as (
      select convert_to(replace(document, '"performed"', '"certified"'), 'utf8') as text from signoffs
    )
    update signoffs set document = convert_from(forged.text, 'utf8'), role = 'certified',
      hash = sha256(salt || forged.text) from forged`;
  const followed = sql`update anchor_leaves set digest = (select hash from signoffs) where kind = 'signoff'`;
  assert.deepEqual(await found(forged, followed), ['signoff_invalid']);
});
