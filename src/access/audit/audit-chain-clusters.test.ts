/** The chain of the audit log on a copy of the cluster that has lost the last commits, as after a failover. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { scratchDataDir, start } from '../../../test/support/fixtures/embedded-postgres-fixture.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { insertAll } from '../../db/writes.ts';
import { createWorkspace, operatorIn } from '../workspaces/workspaces.ts';
import { auditWrite, listAuditEntries } from './audit.ts';
import { chainAuditEntries } from './audit-chain.ts';

test('a promoted standby that has lost commits uses their transaction numbers again, and leaves out nothing', async (t) => {
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
  const write = ({ db }: Database, workspaceId: string, targetId: string) =>
    insertAll(db, [auditWrite(operatorIn(workspaceId), { action: 'thing.do', targetId })]);
  const lastNumber = async ({ pool }: Database): Promise<number> =>
    (await pool.query('select max(written_in) as last from audit_entries')).rows[0].last;

  const server = await start(dataDir);
  await migrate({ connection: server.connection() });
  await server.release();
  const workspaceId = await on(async (database) => {
    const { id } = await createWorkspace(database.db, { name: 'One' });
    await chainAuditEntries(database.db);
    await write(database, id, 'kept');
    return id;
  });
  await promisify(execFile)('cp', ['-Rp', join(dataDir, 'postgres'), copyOf]);
  const lost = await on(async (database) => {
    for (let round = 0; round < 5; round += 1) {
      await write(database, workspaceId, 'lost');
      await chainAuditEntries(database.db);
    }
    return lastNumber(database);
  });
  await rm(join(dataDir, 'postgres'), { recursive: true });
  await promisify(execFile)('mv', [copyOf, join(dataDir, 'postgres')]);
  await on(async (database) => {
    await write(database, workspaceId, 'new');
    assert.ok((await lastNumber(database)) < lost);
    while (await chainAuditEntries(database.db));
    const entries = await listAuditEntries(database.db, { workspaceId, limit: 10 });
    assert.deepEqual(
      entries.map(({ targetId, sequence }) => [targetId, sequence]),
      [
        ['new', 3],
        ['kept', 2],
        [workspaceId, 1],
      ],
    );
  });
});
