/**
 * Transfers of assets: sealed by the giving vault, and done when the chain has confirmed it. The asset goes with its whole
 * history; the grants of viewers and the assignments of workers were the giver's, and end.
 */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { AnchorColumns, AnchorState } from '../../anchoring/anchor-state.ts';
import { pendingLeaf } from '../../anchoring/batching/pending.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { transferStateOf } from '../../holdings/files/file-transfers.ts';
import { holdActiveVault } from '../../holdings/files/file-versions.ts';
import { transferKind } from '../../proof/history.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { refuseDuringTransfer } from './asset-changes.ts';
import { findAssetVersion } from './asset-versions.ts';
import { type AssetKey, holdAsset } from './assets.store.ts';

export interface AssetTransfer extends AnchorState {
  id: string;
  assetId: string;
  /** Counts from 1 for each asset. */
  number: number;
  /** EIP-55. */
  fromVaultAddress: string;
  toVaultAddress: string;
}

export interface AssetTransfers {
  /** `also`: rows to commit with the transfer. */
  start(
    caller: Caller,
    input: { assetId: string; destinationVaultAddress: string },
    also: (transfer: AssetTransfer) => Write[],
  ): Promise<AssetTransfer>;
  /** Newest first. */
  list(key: AssetKey, page: { before: number | undefined; limit: number }): Promise<AssetTransfer[]>;
}

export function createAssetTransfers(db: Db): AssetTransfers {
  return {
    async start(caller, { assetId, destinationVaultAddress }, also) {
      const { workspaceId } = caller;
      return db.transaction().execute(async (db) => {
        const asset = await holdAsset(db, { workspaceId, assetId });
        refuseDuringTransfer(asset);
        const from = asset.vault;
        const to = await holdActiveVault(db, { workspaceId, address: destinationVaultAddress });
        if (to.id === from.id) {
          throw new AppError('conflict', `The asset ${assetId} already belongs to ${to.address}.`);
        }
        const { digest } = await findAssetVersion(db, asset, asset.version);
        const number = (await lastNumber(db, asset)) + 1;
        const id = newId('trf');
        const { leaf, write } = pendingLeaf({
          workspaceId,
          kind: transferKind,
          subjectId: assetId,
          version: number,
          vault: from,
          digest,
          previousLeaf: asset.lastLeaf,
          claims: { to: to.address.toLowerCase(), transferId: id, assetVersion: asset.version },
        });
        const transfer: AssetTransfer = {
          id,
          assetId,
          number,
          fromVaultAddress: from.address,
          toVaultAddress: to.address,
          status: 'pending',
          anchor: null,
        };
        await insertAll(db, [
          {
            table: 'asset_transfers',
            row: {
              workspace_id: workspaceId,
              id,
              asset_id: assetId,
              number,
              asset_version: asset.version,
              from_vault_id: from.id,
              to_vault_id: to.id,
              created_at: new Date(),
            },
          },
          write,
          auditWrite(caller, {
            action: 'asset.transfer',
            targetId: assetId,
            details: { transferId: id, fromVaultId: from.id, toVaultId: to.id },
          }),
          ...also(transfer),
        ]);
        await db
          .updateTable('assets')
          .set({ transfer_id: id, last_leaf: leaf })
          .where('workspace_id', '=', workspaceId)
          .where('asset_id', '=', assetId)
          .execute();
        return transfer;
      });
    },

    async list({ workspaceId, assetId }, { before, limit }) {
      const { rows } = await sql<TransferRow>`
        select t.id, t.number, t.completed_at, f.address as from_address, d.address as to_address,
          b.status, c.chain_id, b.transaction_hash, b.block_number, b.block_time
        from asset_transfers t
        join vaults f on f.workspace_id = t.workspace_id and f.id = t.from_vault_id
        join vaults d on d.workspace_id = t.workspace_id and d.id = t.to_vault_id
        left join anchor_leaves l on l.workspace_id = t.workspace_id and l.subject_id = t.asset_id
          and l.kind = ${transferKind} and l.version = t.number
        left join anchor_batches b on b.id = l.batch_id
        left join chain c on c.singleton
        where t.workspace_id = ${workspaceId} and t.asset_id = ${assetId}
          and t.number < ${before ?? 2 ** 31 - 1}
        order by t.number desc limit ${limit}`.execute(db);
      return rows.map((row) => ({
        id: row.id,
        assetId,
        number: row.number,
        fromVaultAddress: row.from_address,
        toVaultAddress: row.to_address,
        ...transferStateOf(row),
      }));
    },
  };
}

interface TransferRow extends AnchorColumns {
  id: string;
  number: number;
  completed_at: Date | null;
  from_address: string;
  to_address: string;
}

async function lastNumber(db: Db, { workspaceId, assetId }: AssetKey): Promise<number> {
  const last = await db
    .selectFrom('asset_transfers')
    .select('number')
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.number ?? 0;
}
