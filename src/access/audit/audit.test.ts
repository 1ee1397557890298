/** The audit log: how its entries are chained and listed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openTestDatabase, withClient } from '../../../test/support/service/database.ts';
import { countEntries } from '../../../test/support/service/index-entries.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { openDatabase } from '../../db/database.ts';
import { createLowWater } from '../../db/low-water.ts';
import { insertAll } from '../../db/writes.ts';
import { createWorkspace, operatorIn } from '../workspaces/workspaces.ts';
import { auditWrite, chainAuditEntries, entryDigest, listAuditEntries } from './audit.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('chains the entries of each workspace without a break, however they are split into rounds', async () => {
  const { db } = database;
  const workspaces = [await createWorkspace(db, { name: 'One' }), await createWorkspace(db, { name: 'Two' })];
  for (let round = 0; round < 10; round += 1) {
    for (const { id } of workspaces) {
      const caller = { ...operatorIn(id), requestId: 'r' };
      await insertAll(db, [
        auditWrite(caller, {
          action: 'thing.do',
          targetId: `t${round}`,
          details: { b: 1, aa: [round, 'é'] },
        }),
      ]);
    }
    while (await chainAuditEntries(db, { limit: 3 }));
  }
  // Two nodes at once: the second does nothing.
  await Promise.all([chainAuditEntries(db), chainAuditEntries(db)]);

  for (const { id } of workspaces) {
    const rows = await db
      .selectFrom('audit_entries')
      .selectAll()
      .where('workspace_id', '=', id)
      .orderBy('sequence')
      .execute();
    assert.deepEqual(
      rows.map(({ sequence }) => sequence),
      Array.from({ length: 11 }, (_, place) => place + 1),
    );
    // Computed as docs/audit-log.md describes, not with the code under test.
    let previous = Buffer.alloc(32);
    for (const row of rows) {
      assert.deepEqual(row.digest, entryDigest(row));
      assert.deepEqual(row.hash, createHash('sha256').update(previous).update(row.digest).digest());
      previous = row.hash as Buffer<ArrayBuffer>;
    }
  }
});

test('finding unchained entries stays cheap while an old snapshot is open', async () => {
  const connection = { connectionString: database.url };
  const { id } = await createWorkspace(database.db, { name: 'Backed up' });
  const write = (count: number) =>
    insertAll(
      database.db,
      Array.from({ length: count }, () =>
        auditWrite(operatorIn(id), { action: 'thing.do', targetId: 't', details: {} }),
      ),
    );
  const single = openDatabase({ connection: () => connection, onError() {}, max: 1 });
  try {
    await withClient(connection, async (snapshot) => {
      await snapshot.query('begin isolation level repeatable read');
      await snapshot.query('select count(*) from audit_entries');
      const lowWater = createLowWater();
      const chain = () => chainAuditEntries(single.db, { lowWater });
      await write(1000);
      await chain();
      const look = { index: 'audit_entries_unchained', work: chain };
      // Once the current writers have ended, in any database of the server.
      await waitUntil(async () => (await countEntries(single.pool, look)) < 50);
      await write(3);
      await chain();
      const { rows } = await single.pool.query(
        'select max(sequence) as last from audit_entries where workspace_id = $1',
        [id],
      );
      assert.equal(rows[0].last, 1 + 1000 + 3);
    });
  } finally {
    await single.close();
  }
});

test('lists entries newest first, filtered by action, actor and target', async () => {
  const { db } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Three' });
  const caller = {
    workspaceId,
    actor: { kind: 'api_key', id: 'key_1' } as const,
    scopes: [],
    requestId: null,
  };
  await insertAll(db, [
    auditWrite(caller, { action: 'a.b', targetId: 'x' }),
    auditWrite(caller, { action: 'a.c', targetId: 'y' }),
  ]);
  const all = await listAuditEntries(db, { workspaceId, limit: 10 });
  assert.deepEqual(
    all.map(({ action }) => action),
    ['a.c', 'a.b', 'workspace.create'],
  );
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, action: 'a.b' })).length, 1);
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, actorId: 'key_1' })).length, 2);
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, targetId: 'y' })).length, 1);
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, before: all[0]?.id })).length, 2);
});
