/** Leaves of the former schema, which had batch and place in their own rows, keep both. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase, withClient } from '../../../test/support/service/database.ts';
import { openDatabase } from '../../db/database.ts';
import { knownMigrations, migrate } from '../../db/migrate.ts';
import { unpackIds } from './leaf-places.ts';
import { findFresh, findWaiting, readPosition } from './leaf-position.ts';

test('leaves of the former schema are where they were, and pending ones wait', async (t) => {
  const testDatabase = await createTestDatabase({ empty: true });
  const connection = { connectionString: testDatabase.url };
  const { db, pool, close } = openDatabase({ connection: () => connection, onError() {} });
  t.after(async () => {
    await close();
    await testDatabase.drop();
  });
  const former = (await knownMigrations()).indexOf('0032_leaf_places');
  await migrate({ connection, restoring: { upTo: former } });
  // 1,000 leaves with gaps between their ids, in two batches and in none, by turns and in stretches; two vaults.
  await withClient(connection, async (client) => {
    // Without what the rows refer to.
    await client.query('set session_replication_role = replica');
    await client.query(`
      insert into anchor_batches (root, size, outgoing_id, evidence_root, head_path)
      values (sha256('1'), 2, 1, sha256('e'), ''), (sha256('2'), 2, 2, sha256('e'), '')`);
    await client.query(`
      insert into anchor_leaves (id, workspace_id, kind, subject_id, version, vault_id, digest, canonicalization, previous_leaf,
        claims_hash, leaf, batch_id, place, stored_bytes, first_anchored_time, announced_before, created_at, claims)
      overriding system value
      select id, 'ws_1', 'record', 'rec_' || id, 1, vault, sha256('d'), 'jcs', sha256('p'), sha256('c'),
        sha256(id::text::bytea), batch, case when batch is not null then place end, id, id + 1, id % 2 = 0,
        '2026-01-01'::timestamptz + id * interval '1 s', '{}'
      from (
        select id, vault, batch, row_number() over (partition by batch order by vault, id) - 1 as place
        from generate_series(10, 3010, 3) as id,
          lateral (select 'vlt_' || id % 2 as vault,
            case when id < 600 then 1 when id % 7 = 0 then null when id > 2900 then null else 1 + id % 2 end as batch) as at
      ) as leaf`);
    await client.query(`
      insert into anchor_subtrees (batch_id, workspace_id, vault_id, root, leaves, first_place, sequence, previous_seal, signature,
        seal_id, upper_path)
      select batch_id, 'ws_1', vault_id, sha256('r'), string_agg(leaf, '' order by place), min(place), batch_id, sha256('s'),
        decode(repeat('00', 65), 'hex'), sha256('i'), '' from anchor_leaves where batch_id is not null
      group by batch_id, vault_id`);
  });
  const columns =
    'id, batch_id, place, leaf, claims, stored_bytes, first_anchored_time, announced_before, created_at';
  const before = await pool.query(`select ${columns} from anchor_leaves order by id`);
  await migrate({ connection });
  assert.deepEqual((await pool.query(`select ${columns} from placed_leaves order by id`)).rows, before.rows);

  const subtrees = await pool.query('select batch_id, first_place, ids from anchor_subtrees');
  const named = subtrees.rows.flatMap(({ batch_id, first_place, ids }) =>
    unpackIds(ids).map((id, at) => `${id} ${batch_id} ${first_place + at}`),
  );
  const placed = before.rows.filter(({ batch_id }) => batch_id !== null);
  assert.deepEqual(
    named.sort(),
    placed.map(({ id, batch_id, place }) => `${id} ${batch_id} ${place}`).sort(),
  );
  const pending = before.rows.flatMap(({ id, batch_id }) => (batch_id === null ? id : []));
  assert.ok(pending.length > 100);
  assert.deepEqual(await findWaiting(db, { after: 0, without: [], limit: 10_000 }), pending);
  const look = await findFresh(db, await readPosition(db), { limit: 10, walkLimit: 10 });
  assert.deepEqual([look.fresh, look.walk, look.isCut], [[], null, false]);
  const { rows } = await pool.query(`
    insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, canonicalization, previous_leaf,
      claims_hash, leaf) select workspace_id, 'audit-log', subject_id, 2, vault_id, digest, canonicalization, previous_leaf,
      claims_hash, leaf from anchor_leaves where id = 10 returning id`);
  const after = await findFresh(db, await readPosition(db), { limit: 10, walkLimit: 10 });
  assert.deepEqual(after.fresh, [rows[0].id]);
});
