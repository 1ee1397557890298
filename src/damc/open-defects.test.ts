/** Open defects of an asset with very many entries that close others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../test/database.ts';
import type { Database } from '../db/database.ts';
import { findOpenDefects } from './open-defects.ts';

const workspaceId = 'ws_1';

let database: Database;
before(async () => {
  database = await openTestDatabase();
  await addEntries('one', { open: 1 });
  await addEntries('many', { open: 40 });
  await database.pool.query('analyze maintenances');
});
after(() => database.close());

/** Defects that stay open, one that is closed last, and thousands that close something else. */
async function addEntries(assetId: string, { open }: { open: number }): Promise<void> {
  await database.pool.query(
    `insert into maintenances (workspace_id, id, asset_id, vault_id, worker_id, worker_address, worker_name, type,
       summary, performed_at, entry, salt, hash)
     select $1, idOf, $2, 'vlt_1', 'wrk_1', '', '', type, '', now() - interval '1 day',
       json_build_object('data', data, 'note', repeat('n', 500))::text, sha256(''), sha256('')
     from generate_series(0, 6001) as n
     cross join lateral (
       select 'mnt_' || $2::text || lpad(n::text, 6, '0') as idOf,
         case when n <= $3::integer then 'defect' else 'repair' end as type,
         case when n <= $3 then '{"deferred":true}'
           when n = 6001 then '{"closes":"mnt_' || $2::text || '000000"}' else '{"closes":["mnt_other"]}' end::json as data
     ) as made`,
    [workspaceId, assetId, open],
  );
}

/** How many are open, and how many rows were read to find them. */
async function look(assetId: string): Promise<{ count: number; rowsRead: number }> {
  return database.db.transaction().execute(async (db) => {
    const found = await findOpenDefects(db, { workspaceId, assetId }, new Date());
    assert.ok(found.every(({ maintenanceId }) => maintenanceId !== `mnt_${assetId}000000`));
    const { rows } = await sql<{ read: number }>`
      select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as read
      from pg_stat_xact_user_tables where relname = 'maintenances'`.execute(db);
    return { count: found.length, rowsRead: rows[0]?.read ?? 0 };
  });
}

test('what closes defects is read once, not once for each defect that is open', async () => {
  const [one, many] = [await look('one'), await look('many')];
  assert.deepEqual([one.count, many.count], [1, 40]);
  assert.ok(one.rowsRead > 6_000, 'what closes something was read');
  assert.ok(many.rowsRead < 5 * one.rowsRead, `${many.rowsRead} rows for 40, ${one.rowsRead} for 1`);
});
