/** Keeps a workspace that has used up its anchors of the day out of shared commits. */
import { violates } from '../../db/faults.ts';
import type { CommitTogether, PackedRows, Write } from '../../db/writes.ts';

/**
 * Each refusal makes the group commit retry the other rows in halves, so for this long later writes get the same refusal.
 */
const holdsMs = 250;

export function sparingSpent(
  commit: CommitTogether,
  now: () => number = () => performance.now(),
): CommitTogether {
  const refusals = new Map<string, { leaves: number; error: unknown; until: number }>();
  return async (writes, packed) => {
    const { workspaceId, leaves } = leavesOf(writes, packed);
    const refusal = refusals.get(workspaceId);
    if (refusal && refusal.until <= now()) refusals.delete(workspaceId);
    else if (refusal && leaves >= refusal.leaves) throw refusal.error;
    try {
      await commit(writes, packed);
    } catch (error) {
      if (leaves > 0 && isSpent(error)) refusals.set(workspaceId, { leaves, error, until: now() + holdsMs });
      throw error;
    }
  };
}

function isSpent(error: unknown): boolean {
  const { detail = '' } = error as { detail?: string };
  return violates(error, 'within_budget') && detail.startsWith('anchors_per_day ');
}

/** Writes of one commit belong to one workspace. */
function leavesOf(writes: Write[], packed?: PackedRows): { workspaceId: string; leaves: number } {
  const isOfLeaves = packed?.table === 'anchor_leaves';
  let workspaceId = isOfLeaves ? packed.workspaceId : '';
  let leaves = isOfLeaves ? packed.count : 0;
  for (const { table, row } of writes) {
    if (table !== 'anchor_leaves') continue;
    workspaceId = row.workspace_id;
    leaves += 1;
  }
  return { workspaceId, leaves };
}
