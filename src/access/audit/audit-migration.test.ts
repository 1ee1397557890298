/** Audit entries of the former schema, which had their places in their own rows, keep these places. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createTestDatabase } from '../../../test/support/service/database.ts';
import { openDatabase } from '../../db/database.ts';
import { knownMigrations, migrate } from '../../db/migrate.ts';
import { runEach } from '../../runtime/check.ts';
import { newId } from '../../runtime/ids.ts';
import { operatorIn } from '../workspaces/workspaces.ts';
import { auditCheck } from './audit.check.ts';
import { auditWrite, listAuditEntries } from './audit.ts';
import { chainAuditEntries } from './audit-chain.ts';

test('a chain of the former schema is the same afterwards, and goes on', async (t) => {
  const testDatabase = await createTestDatabase({ empty: true });
  const connection = { connectionString: testDatabase.url };
  const { db, pool, close } = openDatabase({ connection: () => connection, onError() {} });
  t.after(async () => {
    await close();
    await testDatabase.drop();
  });
  const former = (await knownMigrations()).indexOf('0026_audit_segments');
  await migrate({ connection, restoring: { upTo: former } });

  const workspaceId = newId('ws');
  const entries = Array.from({ length: 260 }, (_, place) => {
    const write = auditWrite(operatorIn(workspaceId), { action: 'vault.update', targetId: `t${place}` });
    if (write.table !== 'audit_entries') throw new Error('not an audit entry');
    return write.row;
  });
  // Two that were committed late, one of them long after, and two that are not chained yet.
  entries.splice(150, 0, ...entries.splice(20, 1));
  entries.splice(220, 0, ...entries.splice(5, 1));
  const chained = entries.slice(0, -2);
  let hash = Buffer.alloc(32);
  const places = new Map<string, [number | null, string | null]>(entries.map(({ id }) => [id, [null, null]]));
  for (const [place, { id, digest }] of chained.entries()) {
    hash = createHash('sha256').update(hash).update(digest).digest();
    places.set(id, [place + 1, hash.toString('hex')]);
  }
  for (const row of entries) {
    const [sequence, hash] = places.get(row.id) ?? [];
    const values = { ...row, sequence, hash: hash ? Buffer.from(hash, 'hex') : null };
    const names = Object.keys(values);
    await pool.query(
      `insert into audit_entries (${names.join()}) values (${names.map((_, at) => `$${at + 1}`).join()})`,
      Object.values(values),
    );
  }
  await migrate({ connection });

  const list = async () =>
    new Map(
      (await listAuditEntries(db, { workspaceId, limit: 1000 })).map(({ id, sequence, hash }) => [
        id,
        [sequence, hash],
      ]),
    );
  assert.deepEqual(new Map([...(await list())].sort()), new Map([...places].sort()));
  while (await chainAuditEntries(db, { limit: 100 }));
  const [last, beforeLast] = entries.toReversed().map(({ id }) => id);
  const after = await list();
  assert.deepEqual([after.get(beforeLast ?? '')?.[0], after.get(last ?? '')?.[0]], [259, 260]);
  const [report] = await runEach([auditCheck(db)], { settleMs: 0 });
  assert.deepEqual([report?.findings, report?.skipped], [[], []]);
});
