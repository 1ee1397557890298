/** Changes of an asset: each makes a new version, whose leaf names the previous one. */
import type { AuditAction } from '../../access/audit/actions.ts';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import { refuseDuringTransfer } from '../../holdings/transfers/transfers.ts';
import { vaultDeactivated } from '../../holdings/vaults/refused-seal.ts';
import type { Caller } from '../../runtime/caller.ts';
import {
  type AssetFields,
  canonicalMetadata,
  type Installation,
  makeAssetVersion,
  type Usage,
} from './asset-document.ts';
import { type HeldAsset, holdAsset } from './assets.store.ts';

/** Locks an asset and requires that it may get a new version. */
export async function holdForChange(db: Db, caller: Caller, assetId: string): Promise<HeldAsset> {
  const asset = await holdAsset(db, { workspaceId: caller.workspaceId, assetId });
  refuseDuringTransfer('asset', assetId, asset.transferId);
  if (asset.vault.status !== 'active') throw vaultDeactivated(asset.vault.address);
  return asset;
}

/** `asset.changed`: there is a new version, including the first. */
export function assetChanged(change: {
  workspaceId: string;
  assetId: string;
  vaultId: string;
  version: number;
  at: Date;
}): Write {
  const { workspaceId, assetId, vaultId, version, at } = change;
  const data = { asset_id: assetId, vault_id: vaultId, version, changed_at: at.toISOString() };
  return eventWrite({ workspaceId, type: 'asset.changed', at, data });
}

/** What is stated with the asset itself, if it changes; `at` is null when the asset is created. */
export function usageStated(change: {
  workspaceId: string;
  assetId: string;
  version: number;
  before: Usage;
  usage: Usage;
  at: Date | null;
}): Write[] {
  const { workspaceId, assetId, version, before, usage, at } = change;
  if (usage.hours === before.hours && usage.cycles === before.cycles) return [];
  const row = { workspace_id: workspaceId, asset_id: assetId, version, stated_at: at, ...usage };
  return [{ table: 'stated_usages', row }];
}

export interface AssetChange {
  caller: Caller;
  /** The new values. */
  fields?: AssetFields;
  installation?: Installation;
  /** For the audit log. */
  action: AuditAction;
  details: Record<string, unknown>;
  /** Rows to commit with the version. */
  also?: Write[];
}

/** Writes the next version of a locked asset. */
export async function writeNextVersion(db: Db, asset: HeldAsset, change: AssetChange): Promise<void> {
  const { workspaceId, assetId, vault, lastLeaf } = asset;
  const { caller, fields = asset.fields, installation = asset.installation, action, details } = change;
  const version = asset.version + 1;
  const at = new Date();
  const { leaf, writes } = makeAssetVersion({
    workspaceId,
    assetId,
    version,
    vault,
    fields,
    installation,
    previousLeaf: lastLeaf,
    at,
  });
  await insertAll(db, [
    ...writes,
    auditWrite(caller, { action, targetId: assetId, details: { ...details, version } }),
    assetChanged({ workspaceId, assetId, vaultId: vault.id, version, at }),
    ...usageStated({ workspaceId, assetId, version, before: asset.fields.usage, usage: fields.usage, at }),
    ...(change.also ?? []),
  ]);
  await db
    .updateTable('assets')
    .set({
      name: fields.name,
      serial_number: fields.serialNumber,
      part_number: fields.partNumber,
      metadata: canonicalMetadata(fields.metadata),
      usage_hours: fields.usage.hours,
      usage_cycles: fields.usage.cycles,
      parent_asset_id: installation?.removedAt === null ? installation.parentAssetId : null,
      version,
      last_leaf: leaf,
      updated_at: at,
    })
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .execute();
}
