/** What subscribers are told of records. */
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import type { Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';

/** `record.anchor.confirmed`: a version of a record is on the chain. */
export function recordConfirmed(leaf: AnchoredLeaf): Write {
  return eventWrite({
    workspaceId: leaf.workspaceId,
    type: 'record.anchor.confirmed',
    at: new Date(),
    data: {
      record_id: leaf.subjectId,
      vault_id: leaf.vaultId,
      version: leaf.version,
      tx_hash: leaf.transactionHash,
      block_number: leaf.blockNumber,
      anchored_at: leaf.anchoredAt.toISOString(),
    },
  });
}
