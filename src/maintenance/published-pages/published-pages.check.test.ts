/** The check of published pages: silent on sound data, and each rule is reported when a row was changed. */
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
import type { Database } from '../../db/database.ts';
import { runEach } from '../../runtime/check.ts';
import { publishedPagesCheck } from './published-pages.check.ts';
import { createPublishedPages } from './published-pages.ts';

const [one = '', two = ''] = vaultAddresses;
const until = new Date('2126-01-01T00:00:00Z');
let database: Database;
before(async () => {
  database = await openTestDatabase();
  const { assets, startTransfer, confirm } = await openAssetFixture(database);
  const pages = createPublishedPages(database.db);
  for (const assetId of ['pump', 'sold']) {
    await assets.create(caller, { vaultAddress: one, name: assetId, assetId }, () => []);
    const entries = { show: ['type' as const] };
    await pages.publish(caller, { assetId, until, show: ['name'], entries });
    await pages.publish(caller, { assetId, until, show: [] });
  }
  await startTransfer('sold', two);
  await confirm(transferLeaf('sold', 1));
});
after(() => database.close());

async function look() {
  const [report] = await runEach([publishedPagesCheck(database.db)], { settleMs: 0 });
  return report ?? assert.fail('there is no report');
}

test('finds nothing in correct data, and a transfer has ended the pages of its asset', async () => {
  const report = await look();
  assert.deepEqual([report.findings, report.checked, report.skipped], [[], 2, []]);
});

const cases: [name: string, statement: string, rules: string[]][] = [
  ['a page of another owner', "update published_pages set vault_id = 'vlt_3'", ['page_of_former_owner']],
  [
    'a field of assets that cannot be chosen',
    `update published_pages set choices = jsonb_set(choices, '{asset}', '["metadata"]')`,
    ['page_choices'],
  ],
  [
    'a field of entries that cannot be chosen',
    `update published_pages set choices = jsonb_set(choices, '{entries,show}', '["salt"]')
     where choices -> 'entries' <> 'null'`,
    ['page_choices'],
  ],
];

for (const [name, statement, rules] of cases) {
  test(`reports ${name}`, async () => {
    const before = await sql<{ id: string; choices: object }>`
      select id, choices, vault_id from published_pages`.execute(database.db);
    await sql.raw(statement).execute(database.db);
    const { findings } = await look();
    assert.deepEqual([...new Set(findings.map(({ rule }) => rule))], rules);
    for (const { id, choices } of before.rows) {
      await sql`update published_pages set vault_id = 'vlt_1', choices = ${JSON.stringify(choices)} where id = ${id}`.execute(
        database.db,
      );
    }
  });
}
