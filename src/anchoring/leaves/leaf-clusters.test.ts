/** The search for new leaves on a copy of the cluster that has lost the last commits, as after a failover. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { scratchDataDir, start } from '../../../test/support/fixtures/embedded-postgres-fixture.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { insertAll } from '../../db/writes.ts';
import { firstLeaf, pendingLeaf } from '../batching/pending.ts';
import { findFresh, readPosition, storeLook } from './leaf-position.ts';

test('a promoted standby that has lost commits uses their transaction numbers again, and forgets nothing', async (t) => {
  const dataDir = await scratchDataDir(t);
  const copyOf = `${join(dataDir, 'postgres')}-standby`;
  const on = async <T>(work: (database: Database) => Promise<T>): Promise<T> => {
    const server = await start(dataDir);
    const database = openDatabase({ connection: () => server.connection(), onError() {} });
    try {
      return await work(database);
    } finally {
      await database.close();
      await server.release();
    }
  };
  const write = ({ db }: Database, workspaceId: string, subjectId: string) =>
    insertAll(db, [
      pendingLeaf({
        ...{
          workspaceId,
          kind: 'audit-log',
          subjectId,
          version: 1,
          digest: firstLeaf,
          canonicalization: 'raw',
        },
        ...{ vault: { id: 'vlt_1', address: `0x${'11'.repeat(20)}` }, previousLeaf: firstLeaf, claims: {} },
      }).write,
    ]);
  /** All that is found waits. */
  const look = ({ db }: Database) =>
    db.transaction().execute(async (db) => {
      const found = await findFresh(db, await readPosition(db), { limit: 100, walkLimit: 100 });
      await storeLook(db, found, { batched: [], waited: false });
    });
  const lastNumber = async ({ pool }: Database): Promise<number> =>
    (await pool.query('select max(written_in) as last from anchor_leaves')).rows[0].last;

  const server = await start(dataDir);
  await migrate({ connection: server.connection() });
  await server.release();
  const workspaceId = await on(async (database) => {
    const { id } = await createWorkspace(database.db, { name: 'One' });
    await write(database, id, 'first');
    await look(database);
    await write(database, id, 'kept');
    return id;
  });
  await promisify(execFile)('cp', ['-Rp', join(dataDir, 'postgres'), copyOf]);
  const lost = await on(async (database) => {
    for (let round = 0; round < 5; round += 1) {
      await write(database, workspaceId, `lost ${round}`);
      await look(database);
    }
    return lastNumber(database);
  });
  await rm(join(dataDir, 'postgres'), { recursive: true });
  await promisify(execFile)('mv', [copyOf, join(dataDir, 'postgres')]);
  await on(async (database) => {
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
  });
});
