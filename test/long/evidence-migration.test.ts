/** The migration to the final proof format: what is remembered of anchors that are void by now. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrate } from '../../src/db/migrate.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';

const migrations = join(import.meta.dirname, '../../migrations');

test('remembers the time of every confirmed anchor, and which of them were announced', async () => {
  const database = await createTestDatabase({ empty: true });
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-migrations-'));
  const connection = { connectionString: database.url };
  try {
    for (const file of await readdir(migrations))
      if (file < '0023') await cp(join(migrations, file), join(dir, file));
    await migrate({ connection, dir });
    const leaves = await withClient(connection, async (client) => {
      // Without what the rows refer to.
      await client.query('set session_replication_role = replica');
      await client.query(`
        insert into anchor_batches (root, size, outgoing_id, status, block_number, block_time, announced) values
          (sha256('1'), 2, 1, 'finalized', 7, 1700000000, 2),
          (sha256('2'), 2, 2, 'confirmed', 8, 1700000012, 1),
          (sha256('3'), 1, 3, 'submitted', null, null, 0)`);
      await client.query(`
        insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, previous_leaf, claims,
          claims_hash, leaf, batch_id, place)
        select 'ws_1', 'record', id, 1, 'vlt_1', sha256('d'), sha256('p'), '{}', sha256('c'), sha256(id::bytea), batch, place
        from (values ('rec_1', 1, 0), ('rec_2', 1, 1), ('rec_3', 2, 0), ('rec_4', 2, 1), ('rec_5', 3, 0), ('rec_6', null, null))
          as old (id, batch, place)`);
      await migrate({ connection });
      const { rows } = await client.query(
        'select subject_id, first_anchored_time::integer as time, announced_before, batch_id from placed_leaves order by id',
      );
      return rows.map(({ subject_id, time, announced_before, batch_id }) => {
        assert.equal(batch_id, null);
        return [subject_id, time, announced_before];
      });
    });
    assert.deepEqual(leaves, [
      ['rec_1', 1_700_000_000, true],
      ['rec_2', 1_700_000_000, true],
      ['rec_3', 1_700_000_012, true],
      // Confirmed shortly before the upgrade: its second anchor is announced.
      ['rec_4', 1_700_000_012, false],
      ['rec_5', null, false],
      ['rec_6', null, false],
    ]);
  } finally {
    await database.drop();
    await rm(dir, { recursive: true });
  }
});
