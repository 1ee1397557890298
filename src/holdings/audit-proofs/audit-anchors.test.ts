/** When the head of an audit log is anchored. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { auditWrite, listAuditEntries } from '../../access/audit/audit.ts';
import { chainAuditEntries } from '../../access/audit/audit-chain.ts';
import { firstHash } from '../../access/audit/audit-segments.ts';
import { operatorIn } from '../../access/workspaces/workspaces.ts';
import { insertAll } from '../../db/writes.ts';
import { anchorAuditHeads } from './audit-anchors.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const now = new Date();
const old = new Date(now.getTime() - 25 * 60 * 60 * 1000);

async function makeWorkspace(id: string, options: { createdAt: Date; vault: boolean }): Promise<void> {
  await insertAll(database.db, [
    { table: 'workspaces', row: { id, name: id, slug: id, metadata: {}, created_at: options.createdAt } },
    ...(options.vault
      ? [
          {
            table: 'vaults' as const,
            row: {
              workspace_id: id,
              id: `vlt_${id}`,
              name: 'v',
              description: '',
              address: `0x${createHash('sha256').update(id).digest('hex').slice(0, 40)}`,
              created_at: now,
              updated_at: now,
            },
          },
        ]
      : []),
    auditWrite(operatorIn(id), { action: 'workspace.create', targetId: id }),
  ]);
  await chainAuditEntries(database.db);
}

const leavesOf = (workspaceId: string) =>
  database.db
    .selectFrom('anchor_leaves')
    .select(['version', 'digest', 'previous_leaf', 'leaf', 'claims', 'vault_id'])
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'audit-log')
    .orderBy('version')
    .execute();

test('anchors the audit head of a workspace once, a day after its creation', async () => {
  await makeWorkspace('ws_old', { createdAt: old, vault: true });
  assert.equal(await anchorAuditHeads(database.db), false);
  await anchorAuditHeads(database.db);
  const leaves = await leavesOf('ws_old');
  assert.equal(leaves.length, 1);
  const [entry] = await listAuditEntries(database.db, { workspaceId: 'ws_old', limit: 1 });
  assert.deepEqual(leaves[0]?.digest.toString('hex'), entry?.hash);
  // The content behind the digest, hashed as a verifier would do it.
  const content = Buffer.concat([firstHash, Buffer.from(entry?.digest ?? '', 'hex')]);
  assert.deepEqual(createHash('sha256').update(content).digest(), leaves[0]?.digest);
  assert.equal(JSON.parse(leaves[0]?.claims ?? '{}').sequence, 1);
});

test('anchors the head again the next day, after the previous one, if there are new entries', async () => {
  await makeWorkspace('ws_busy', { createdAt: old, vault: true });
  await anchorAuditHeads(database.db);
  await database.pool.query(
    "update anchor_leaves set created_at = now() - interval '25 hours' where workspace_id = 'ws_busy'",
  );
  await anchorAuditHeads(database.db);
  assert.equal((await leavesOf('ws_busy')).length, 1, 'nothing was done since');
  await insertAll(database.db, [
    auditWrite(operatorIn('ws_busy'), { action: 'vault.update', targetId: 'v' }),
  ]);
  await chainAuditEntries(database.db);
  await anchorAuditHeads(database.db);
  const [first, second] = await leavesOf('ws_busy');
  assert.equal(second?.version, 2);
  assert.deepEqual(second?.previous_leaf, first?.leaf);
});

test('does not anchor a new workspace on its first day, nor one without a vault to seal it', async () => {
  await makeWorkspace('ws_new', { createdAt: now, vault: true });
  await makeWorkspace('ws_bare', { createdAt: old, vault: false });
  await anchorAuditHeads(database.db);
  assert.deepEqual(await leavesOf('ws_new'), []);
  assert.deepEqual(await leavesOf('ws_bare'), []);
});
