/** How much of an asset an export holds in memory at a time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database } from '../../db/database.ts';
import { keptEntries } from './dossier-entries.ts';

const key = { workspaceId: 'ws_1', assetId: 'pump' };

let database: Database;
before(async () => {
  database = await openTestDatabase();
  const { pool } = database;
  await pool.query(
    "insert into workspaces (id, name, slug) values ('ws_1', 'One', 'one'), ('ws_2', 'Two', 'two')",
  );
  await pool.query(
    `insert into vaults (workspace_id, id, name, address)
     select id, 'vlt_1', 'Fleet', '0x' || repeat('1', 40) from workspaces`,
  );
  await pool.query(
    `insert into assets (workspace_id, asset_id, vault_id, name, last_leaf)
     select id, asset_id, 'vlt_1', 'Pump', sha256('') from workspaces, unnest(array['pump', 'unused']) as asset_id`,
  );
});
after(() => database.close());

async function addEntries(count: number, bytes: number): Promise<void> {
  await database.pool.query(
    `insert into maintenances (workspace_id, id, asset_id, vault_id, worker_id, worker_address, worker_name, type,
       summary, performed_at, entry, salt, hash, number)
     select 'ws_1', 'mnt_' || $2 || '_' || lpad(n::text, 4, '0'), 'pump', 'vlt_1', 'wrk_1', '', '', 'note', '',
       date_trunc('milliseconds', now()) - interval '1 day', json_build_object('note', repeat('n', $2::integer), 'n', n)::text, sha256(''), sha256(''), n + (select count(*) from maintenances)
     from generate_series(1, $1::integer) as n`,
    [count, bytes],
  );
}

test('a page of an export has fewer entries if they are large, and omits none', async () => {
  await addEntries(120, 100);
  await addEntries(10, 400_000);
  const sizes: number[] = [];
  const seen = new Set<string>();
  for await (const page of keptEntries(database.db, key, 130)) {
    sizes.push(page.reduce((sum, { text }) => sum + text.length, 0));
    assert.ok(page.length <= 50);
    for (const { text } of page) seen.add(text);
  }
  assert.equal(seen.size, 130);
  // The entry that fills a page is included in full.
  assert.ok(Math.max(...sizes) < 1024 * 1024 + 500_000, `${Math.max(...sizes)} bytes`);
  assert.ok(Math.max(...sizes) > 800_000, 'and it is not one entry a page');
});
