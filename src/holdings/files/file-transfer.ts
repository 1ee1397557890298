/** The part of a transfer that is specific to files. */
import { eventWrite } from '../../events/events.ts';
import type { Transferable } from '../transfers/transfers.ts';
import { erasesFilesSooner } from '../vaults/erased-sooner.store.ts';
import { holdFile } from './file-versions.ts';

export const transferableFile: Transferable = {
  kind: 'file',
  table: 'files',
  id: 'id',
  versionClaim: 'fileVersion',

  async hold(db, { workspaceId, subjectId }) {
    const { contentHash, ...file } = await holdFile(db, { workspaceId, id: subjectId });
    return { ...file, digest: contentHash };
  },

  erasesSooner: (db, { workspaceId, fromVaultId, toVaultId }) =>
    erasesFilesSooner(db, { workspaceId, vaultId: toVaultId, thanVaultId: fromVaultId }),

  completed: (leaf, { subjectId, subjectVersion, fromVaultId, toVaultId }) =>
    eventWrite({
      workspaceId: leaf.workspaceId,
      type: 'file.transfer.completed',
      at: new Date(),
      data: {
        file_id: subjectId,
        from_vault_id: fromVaultId,
        to_vault_id: toVaultId,
        // The version of the file; the leaf has the number of the transfer.
        version: subjectVersion,
        tx_hash: leaf.transactionHash,
        block_number: leaf.blockNumber,
        transferred_at: leaf.anchoredAt.toISOString(),
      },
    }),
};
