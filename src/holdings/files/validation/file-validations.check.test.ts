/** The check of validations on sound data, and with one fault at a time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import {
  insertValidatedFile,
  type ValidatedFile,
} from '../../../../test/support/fixtures/file-validations-fixture.ts';
import { openTestDatabase } from '../../../../test/support/service/database.ts';
import { createWorkspace } from '../../../access/workspaces/workspaces.ts';
import type { Db } from '../../../db/database.ts';
import { runEach } from '../../../runtime/check.ts';
import { newId } from '../../../runtime/ids.ts';
import { fileValidationsCheck } from './file-validations.check.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let file: ValidatedFile;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Checked' });
  const vault = { id: newId('vlt'), address: `0x${'1'.repeat(40)}` };
  await db
    .insertInto('vaults')
    .values({ workspace_id: workspaceId, ...vault, name: 'V', description: '', status: 'active' })
    .execute();
  file = await insertValidatedFile(db, { workspaceId, vault });
});
after(() => database?.close());

async function look(db: Db) {
  const [report] = await runEach([fileValidationsCheck(db)], { settleMs: 0 });
  assert.ok(report);
  assert.deepEqual(report.skipped, []);
  return report;
}

test('finds nothing in correct data', async () => {
  const { checked, findings } = await look(database.db);
  assert.deepEqual({ checked, findings }, { checked: 3, findings: [] });
});

const valid = () => sql`id = ${file.validationIds[0]}`;

const cases: [what: string, rule: string, break_: () => RawBuilder<unknown>][] = [
  [
    'a reversed result',
    'validation_result',
    () => sql`update file_validations set result = 'invalid' where ${valid()}`,
  ],
  [
    'another presented hash',
    'validation_result',
    () => sql`update file_validations set presented_hash = sha256('x') where ${valid()}`,
  ],
  [
    'a missing leaf',
    'validation_without_leaf',
    () => sql`delete from anchor_leaves where kind = 'validation' and version = 1`,
  ],
  [
    'a leaf that follows another',
    'validation_leaf_differs',
    () => sql`update anchor_leaves set previous_leaf = sha256('x') where kind = 'validation' and version = 1`,
  ],
  [
    'another time',
    'validation_leaf_differs',
    () => sql`update file_validations set validated_at = validated_at + interval '1 second' where ${valid()}`,
  ],
  [
    'a missing event',
    'validation_untold',
    () => sql`delete from events where position(${file.validationIds[0]} in envelope) > 0`,
  ],
  [
    'a missing version',
    'validation_without_version',
    () => sql`delete from anchor_leaves where kind = 'file'`,
  ],
];

for (const [what, rule, break_] of cases) {
  test(`finds ${what}`, async () => {
    const found = await broken(break_());
    assert.ok(found.includes(rule), found.join());
  });
}

test('finds the event even if the clock was set meanwhile', async () => {
  const later = sql`update events set id = 'evt_7' || substr(id, 6) where position(${file.validationIds[0]} in envelope) > 0`;
  assert.deepEqual(await broken(later), []);
});

/** Breaks something, runs the check, and rolls back. */
async function broken(statement: RawBuilder<unknown>): Promise<string[]> {
  const takeBack = new Error('taken back');
  let rules: string[] = [];
  await database.db
    .transaction()
    .execute(async (db) => {
      const { numAffectedRows } = await statement.execute(db);
      assert.ok(Number(numAffectedRows) > 0);
      rules = (await look(db)).findings.map(({ rule }) => rule);
      throw takeBack;
    })
    .catch((error) => {
      if (error !== takeBack) throw error;
    });
  return rules;
}
