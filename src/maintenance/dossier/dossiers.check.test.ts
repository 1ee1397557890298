/** The check of dossiers: silent on sound data, and each rule is reported when a row was changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database, Db } from '../../db/database.ts';
import { createGroupCommit } from '../../db/writes.ts';
import { usualLimits } from '../../runtime/budgets.ts';
import { runEach } from '../../runtime/check.ts';
import { createDossierSeals } from './dossier-seal.ts';
import { dossiersCheck } from './dossiers.check.ts';

const caller = {
  workspaceId: 'ws_1',
  actor: { kind: 'system', id: 'test' } as const,
  scopes: [],
  requestId: null,
};
const unused = () => assert.fail('is not used');
let database: Database;

before(async () => {
  database = await openTestDatabase();
  const { db, pool } = database;
  await pool.query("insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')");
  await pool.query(
    `insert into vaults (workspace_id, id, name, address, status)
     values ('ws_1', 'vlt_1', '', '0x${'22'.repeat(20)}', 'inactive')`,
  );
  await pool.query(
    `insert into assets (workspace_id, asset_id, vault_id, name, last_leaf)
     values ('ws_1', 'pump', 'vlt_1', '', sha256(''))`,
  );
  const seals = createDossierSeals({
    ...{ db, commit: createGroupCommit(pool), limits: usualLimits },
    ...{ assetAccess: { requireWith: () => unused }, makeProof: unused, manyProofs: unused },
  });
  await seals.seal(caller, {
    dossierId: 'dos_1',
    assetId: 'pump',
    vault: { id: 'vlt_1', address: `0x${'22'.repeat(20)}` },
    entries: 0,
    digest: Buffer.alloc(32, 7),
  });
});
after(() => database.close());

/** The rules that the check reports after a change, which is then rolled back. */
async function found(change: RawBuilder<unknown>): Promise<string[]> {
  let rules: string[] = [];
  const undo = new Error('taken back');
  await database.db
    .transaction()
    .execute(async (db: Db) => {
      await change.execute(db);
      const [report] = await runEach([dossiersCheck(db)], { settleMs: 0 });
      rules = (report?.findings ?? []).map(({ rule }) => rule);
      throw undo;
    })
    .catch((error) => {
      if (error !== undo) throw error;
    });
  return rules;
}

test('finds nothing in correct data, also of a vault that is deactivated', async () => {
  const [report] = await runEach([dossiersCheck(database.db)], { settleMs: 0 });
  assert.deepEqual([report?.checked, report?.findings, report?.skipped], [1, [], []]);
});

test('finds each change', async () => {
  assert.deepEqual(await found(sql`update dossiers set digest = sha256('')`), ['dossier_leaf_differs']);
  assert.deepEqual(await found(sql`update dossiers set vault_id = 'vlt_2'`), ['dossier_leaf_differs']);
  assert.deepEqual(await found(sql`delete from anchor_leaves`), ['dossier_without_leaf']);
  assert.deepEqual(await found(sql`update dossiers set asset_id = 'gone'`), ['dossier_without_asset']);
  assert.deepEqual(await found(sql`update dossiers set entries = 1`), ['dossier_entries_lost']);
});
