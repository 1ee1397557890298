/** What subscribers are told of files. */
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import type { Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';

/** `file.anchor.confirmed`: a version of a file is on the chain. */
export function fileConfirmed(leaf: AnchoredLeaf): Write {
  return eventWrite({
    workspaceId: leaf.workspaceId,
    type: 'file.anchor.confirmed',
    at: new Date(),
    data: {
      file_id: leaf.subjectId,
      vault_id: leaf.vaultId,
      version: leaf.version,
      tx_hash: leaf.transactionHash,
      block_number: leaf.blockNumber,
      anchored_at: leaf.anchoredAt.toISOString(),
    },
  });
}

/** `file.transfer.completed`: the file belongs to the taking vault. */
export function transferCompleted(
  leaf: AnchoredLeaf,
  { fileVersion, fromVaultId, toVaultId }: { fileVersion: number; fromVaultId: string; toVaultId: string },
): Write {
  return eventWrite({
    workspaceId: leaf.workspaceId,
    type: 'file.transfer.completed',
    at: new Date(),
    data: {
      file_id: leaf.subjectId,
      from_vault_id: fromVaultId,
      to_vault_id: toVaultId,
      // Of the file; the leaf has the number of the transfer.
      version: fileVersion,
      tx_hash: leaf.transactionHash,
      block_number: leaf.blockNumber,
      transferred_at: leaf.anchoredAt.toISOString(),
    },
  });
}
