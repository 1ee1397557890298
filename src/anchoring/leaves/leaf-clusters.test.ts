/** The search for new leaves on a copy of the cluster that has lost the last commits, as after a failover. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loseCommits } from '../../../test/support/fixtures/lost-commits.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import type { Database } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { firstLeaf, pendingLeaf } from '../batching/pending.ts';
import { findFresh, readPosition, storeLook } from './leaf-position.ts';

function write({ db }: Database, workspaceId: string, subjectId: string): Promise<void> {
  const { write } = pendingLeaf({
    ...{ workspaceId, kind: 'audit-log', subjectId, version: 1, digest: firstLeaf, canonicalization: 'raw' },
    ...{ vault: { id: 'vlt_1', address: `0x${'11'.repeat(20)}` }, previousLeaf: firstLeaf, claims: {} },
  });
  return insertAll(db, [write]);
}

/** All that is found waits. */
function look({ db }: Database): Promise<void> {
  return db.transaction().execute(async (db) => {
    const found = await findFresh(db, await readPosition(db), { limit: 100, walkLimit: 100 });
    await storeLook(db, found, { batched: [], waited: false });
  });
}

async function lastNumber({ pool }: Database): Promise<number> {
  return (await pool.query('select max(written_in) as last from anchor_leaves')).rows[0].last;
}

test('a promoted standby that has lost commits uses their transaction numbers again, and forgets nothing', (t) =>
  loseCommits(t, {
    async kept(database) {
      const { id } = await createWorkspace(database.db, { name: 'One' });
      await write(database, id, 'first');
      await look(database);
      await write(database, id, 'kept');
      return id;
    },
    async lost(database, workspaceId) {
      for (let round = 0; round < 5; round += 1) {
        await write(database, workspaceId, `lost ${round}`);
        await look(database);
      }
      return lastNumber(database);
    },
    async after(database, { kept: workspaceId, lost }) {
      await write(database, workspaceId, 'new');
      assert.ok((await lastNumber(database)) < lost);
      await look(database);
      const { rows } = await database.pool.query(
        'select l.subject_id from anchor_waiting w join anchor_leaves l on l.id = w.leaf_id order by l.id',
      );
      assert.deepEqual(
        rows.map(({ subject_id }) => subject_id),
        ['first', 'kept', 'new'],
      );
    },
  }));
