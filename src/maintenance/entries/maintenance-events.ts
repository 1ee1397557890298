/** What subscribers are told of maintenance entries. */
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import type { Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';

/** `maintenance.anchor.confirmed`: an entry is on the chain. */
export function maintenanceConfirmed(leaf: AnchoredLeaf): Write {
  const { assetId } = JSON.parse(leaf.claims ?? '{}') as { assetId?: string };
  // Entries are never erased, and their claims with them.
  if (assetId === undefined) throw new Error(`the leaf of ${leaf.subjectId} does not name its asset`);
  return eventWrite({
    workspaceId: leaf.workspaceId,
    type: 'maintenance.anchor.confirmed',
    at: new Date(),
    data: {
      asset_id: assetId,
      maintenance_id: leaf.subjectId,
      vault_id: leaf.vaultId,
      tx_hash: leaf.transactionHash,
      block_number: leaf.blockNumber,
      anchored_at: leaf.anchoredAt.toISOString(),
    },
  });
}
