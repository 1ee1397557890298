/** How commits are refused early once a workspace has used up its anchors of the day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import type { Write } from '../../db/writes.ts';
import { firstLeaf, pendingLeaf } from './pending.ts';
import { sparingSpent } from './spent-budget.ts';

function leaves(workspaceId: string, count: number): Write[] {
  const vault = { id: 'vlt_1', address: `0x${'11'.repeat(20)}` };
  const thing = {
    workspaceId,
    kind: 'record' as const,
    subjectId: 'rec_1',
    vault,
    canonicalization: 'jcs' as const,
    previousLeaf: firstLeaf,
    claims: {},
  };
  return Array.from(
    { length: count },
    (_, place) => pendingLeaf({ ...thing, version: place + 1, digest: firstLeaf }).write,
  );
}

test('a refused amount is not tried again for a second, while smaller ones and other workspaces are', async () => {
  let time = 0;
  const committed: number[] = [];
  const refused = Object.assign(new DatabaseError('spent', 0, 'error'), {
    code: '23514',
    constraint: 'within_budget',
    detail: 'anchors_per_day 1',
  });
  const commit = sparingSpent(
    async (writes) => {
      committed.push(writes.length);
      if (writes.length > 1 && time < 1_000) throw refused;
    },
    () => time,
  );
  await assert.rejects(commit(leaves('ws_1', 2)), refused);
  await assert.rejects(commit(leaves('ws_1', 3)), refused);
  assert.deepEqual(committed, [2], 'the second did not get to the database');
  await commit(leaves('ws_1', 1));
  await assert.rejects(commit(leaves('ws_2', 4)), refused);
  assert.deepEqual(committed, [2, 1, 4]);
  time = 1_000;
  await commit(leaves('ws_1', 2));
  assert.deepEqual(committed, [2, 1, 4, 2]);
});
