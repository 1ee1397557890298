/** What follows when the chain has confirmed transfers of assets: they belong to the taking vault. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import type { Caller } from '../../runtime/caller.ts';

/** Leaves of transfers that are not of assets are left alone. After a reorg only the event is written again. */
export async function confirmAssetTransfers(db: Db, leaves: AnchoredLeaf[]): Promise<Write[]> {
  const transfers = await holdTransfers(db, leaves);
  const writes: Write[] = [];
  for (const leaf of leaves) {
    const transfer = transfers.get(keyOf(leaf.workspaceId, leaf.subjectId, leaf.version));
    if (!transfer) continue;
    if (transfer.completed_at === null) writes.push(await complete(db, transfer));
    writes.push(completed(leaf, transfer));
  }
  return writes;
}

interface TransferRow {
  workspace_id: string;
  id: string;
  asset_id: string;
  number: number;
  from_vault_id: string;
  to_vault_id: string;
  completed_at: Date | null;
}

async function holdTransfers(db: Db, leaves: AnchoredLeaf[]): Promise<Map<string, TransferRow>> {
  // In one order for all, so that two transactions never wait for each other.
  const { rows } = await sql<TransferRow>`
    select t.workspace_id, t.id, t.asset_id, t.number, t.from_vault_id, t.to_vault_id, t.completed_at
    from unnest(${leaves.map(({ workspaceId }) => workspaceId)}::text[],
                ${leaves.map(({ subjectId }) => subjectId)}::text[],
                ${leaves.map(({ version }) => version)}::integer[]) as leaf (workspace_id, asset_id, number)
    join asset_transfers t on t.workspace_id = leaf.workspace_id and t.asset_id = leaf.asset_id
      and t.number = leaf.number
    join assets a on a.workspace_id = t.workspace_id and a.asset_id = t.asset_id
    order by t.workspace_id, t.asset_id, t.number for no key update of a, t`.execute(db);
  return new Map(rows.map((row) => [keyOf(row.workspace_id, row.asset_id, row.number), row]));
}

function keyOf(workspaceId: string, assetId: string, number: number): string {
  return JSON.stringify([workspaceId, assetId, number]);
}

/** Gives the entry for the audit log. */
async function complete(db: Db, transfer: TransferRow): Promise<Write> {
  const { workspace_id, asset_id, id } = transfer;
  const at = new Date();
  await db
    .updateTable('asset_transfers')
    .set({ completed_at: at })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute();
  await db
    .updateTable('assets')
    .set({ vault_id: transfer.to_vault_id, transfer_id: null, updated_at: at })
    .where('workspace_id', '=', workspace_id)
    .where('asset_id', '=', asset_id)
    .execute();
  const viewers = await endAll(db, 'asset_viewers', transfer);
  const workers = await endAll(db, 'asset_workers', transfer);
  const system: Caller = {
    workspaceId: workspace_id,
    actor: { kind: 'system', id: 'anchoring' },
    scopes: [],
    requestId: null,
  };
  return auditWrite(system, {
    action: 'asset.transfer_complete',
    targetId: asset_id,
    details: {
      transferId: id,
      fromVaultId: transfer.from_vault_id,
      toVaultId: transfer.to_vault_id,
      endedViewers: viewers,
      endedWorkers: workers,
    },
  });
}

async function endAll(
  db: Db,
  table: 'asset_viewers' | 'asset_workers',
  { workspace_id, asset_id }: TransferRow,
): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    delete from ${sql.table(table)} where workspace_id = ${workspace_id} and asset_id = ${asset_id}
    returning address`.execute(db);
  return rows.map(({ address }) => address);
}

function completed(leaf: AnchoredLeaf, transfer: TransferRow): Write {
  return eventWrite({
    workspaceId: leaf.workspaceId,
    type: 'asset.transfer.completed',
    at: new Date(),
    data: {
      asset_id: transfer.asset_id,
      from_vault_id: transfer.from_vault_id,
      to_vault_id: transfer.to_vault_id,
      tx_hash: leaf.transactionHash,
      block_number: leaf.blockNumber,
      transferred_at: leaf.anchoredAt.toISOString(),
    },
  });
}
