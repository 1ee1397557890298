/** The audit log: how its entries are listed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { insertAll } from '../../db/writes.ts';
import { createWorkspace, operatorIn } from '../workspaces/workspaces.ts';
import { auditWrite, endOfSearch, listAuditEntries } from './audit.ts';
import { chainAuditEntries } from './audit-chain.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

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
    auditWrite(caller, { action: 'file.create', targetId: 'x' }),
    auditWrite(caller, { action: 'file.validate', targetId: 'y' }),
  ]);
  const all = await listAuditEntries(db, { workspaceId, limit: 10 });
  assert.deepEqual(
    all.map(({ action }) => action),
    ['file.validate', 'file.create', 'workspace.create'],
  );
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, action: 'file.create' })).length, 1);
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, actorId: 'key_1' })).length, 2);
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, targetId: 'y' })).length, 1);
  assert.equal((await listAuditEntries(db, { workspaceId, limit: 10, before: all[0]?.id })).length, 2);
});

test('lists the places of entries far apart, of entries between others, and none before they are chained', async () => {
  const { db } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Four' });
  const caller = operatorIn(workspaceId);
  const chained = async (targets: string[]) => {
    await insertAll(
      db,
      targets.map((targetId) => auditWrite(caller, { action: 'file.create', targetId })),
    );
    while (await chainAuditEntries(db));
  };
  for (let round = 0; round < 4; round += 1) {
    await chained(Array.from({ length: 130 }, (_, place) => (place === 70 ? 'rare' : `t${place}`)));
  }
  await insertAll(db, [auditWrite(caller, { action: 'file.create', targetId: 'rare' })]);
  const list = async (targetId?: string) =>
    (await listAuditEntries(db, { workspaceId, targetId, limit: 1000 })).map(({ sequence }) => sequence);
  const all = Array.from({ length: 1 + 4 * 130 }, (_, place) => 1 + 4 * 130 - place);
  assert.deepEqual(await list(), [null, ...all]);
  assert.deepEqual(await list('rare'), [null, 462, 332, 202, 72]);
});

test('a rare action is searched for through a part of the log at a time', async () => {
  const { db } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Five' });
  const caller = operatorIn(workspaceId);
  for (let number = 0; number < 13; number += 1) {
    const action = [1, 2, 9].includes(number) ? 'vault.deactivate' : 'file.create';
    await insertAll(db, [auditWrite(caller, { action, targetId: String(number) })]);
  }
  const parts: string[] = [];
  for (let before: string | undefined; ; ) {
    const end = await endOfSearch(db, { workspaceId, before }, 5);
    const found = await listAuditEntries(db, {
      workspaceId,
      action: 'vault.deactivate',
      before,
      end,
      limit: 10,
    });
    parts.push(found.map(({ targetId }) => targetId).join());
    if (end === undefined) break;
    before = end;
  }
  assert.deepEqual(parts, ['9', '', '2,1']);
});
