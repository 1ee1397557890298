/** The chain of the audit log on a copy of the cluster that has lost the last commits, as after a failover. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loseCommits } from '../../../test/support/fixtures/lost-commits.ts';
import type { Database } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { createWorkspace, operatorIn } from '../workspaces/workspaces.ts';
import { auditWrite, listAuditEntries } from './audit.ts';
import { chainAuditEntries } from './audit-chain.ts';

function write({ db }: Database, workspaceId: string, targetId: string): Promise<void> {
  return insertAll(db, [auditWrite(operatorIn(workspaceId), { action: 'vault.update', targetId })]);
}

async function lastNumber({ pool }: Database): Promise<number> {
  return (await pool.query('select max(written_in) as last from audit_entries')).rows[0].last;
}

test('a promoted standby that has lost commits uses their transaction numbers again, and leaves out nothing', (t) =>
  loseCommits(t, {
    async kept(database) {
      const { id } = await createWorkspace(database.db, { name: 'One' });
      await chainAuditEntries(database.db);
      await write(database, id, 'kept');
      return id;
    },
    async lost(database, workspaceId) {
      for (let round = 0; round < 5; round += 1) {
        await write(database, workspaceId, 'lost');
        await chainAuditEntries(database.db);
      }
      return lastNumber(database);
    },
    async after(database, { kept: workspaceId, lost }) {
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
    },
  }));
