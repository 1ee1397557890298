/**
 * The part of a transfer that is specific to assets. An asset keeps its whole history; viewer grants, worker assignments
 * and published pages were made by the giver, and end.
 */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import type { ConfirmedTransfer } from '../../holdings/transfers/transfers.store.ts';
import type { Transferable } from '../../holdings/transfers/transfers.ts';
import type { Caller } from '../../runtime/caller.ts';
import { findAssetVersion } from './asset-versions.ts';
import { holdAsset } from './assets.store.ts';

export const transferableAsset: Transferable = {
  kind: 'asset',
  table: 'assets',
  id: 'asset_id',
  versionClaim: 'assetVersion',

  async hold(db, { workspaceId, subjectId }) {
    const asset = await holdAsset(db, { workspaceId, assetId: subjectId });
    const { digest } = await findAssetVersion(db, asset, asset.version);
    return { ...asset, digest, canonicalization: 'jcs' };
  },

  async onCompleted(db, transfers) {
    const moved = movedAssets(transfers);
    await sql`
      update assets a set updated_at = now() from ${moved}
      where a.workspace_id = moved.workspace_id and a.asset_id = moved.asset_id`.execute(db);
    const viewers = await endAll(db, 'asset_viewers', transfers);
    const workers = await endAll(db, 'asset_workers', transfers);
    const pages = await endPages(db, transfers);
    return transfers.flatMap((transfer) => {
      const ended = pages.get(keyOf(transfer)) ?? [];
      return [
        completedEntry(transfer, {
          endedViewers: viewers.get(keyOf(transfer)) ?? [],
          endedWorkers: workers.get(keyOf(transfer)) ?? [],
          ...(ended.length > 0 && { endedPages: ended }),
        }),
        ...ended.map((id) => endedPage(transfer, id)),
      ];
    });
  },

  completed: (leaf, { subjectId, fromVaultId, toVaultId }) =>
    eventWrite({
      workspaceId: leaf.workspaceId,
      type: 'asset.transfer.completed',
      at: new Date(),
      data: {
        asset_id: subjectId,
        from_vault_id: fromVaultId,
        to_vault_id: toVaultId,
        tx_hash: leaf.transactionHash,
        block_number: leaf.blockNumber,
        transferred_at: leaf.anchoredAt.toISOString(),
      },
    }),
};

function movedAssets(transfers: ConfirmedTransfer[]) {
  return sql`unnest(${transfers.map(({ workspaceId }) => workspaceId)}::text[],
                    ${transfers.map(({ subjectId }) => subjectId)}::text[]) as moved (workspace_id, asset_id)`;
}

/** Returns the addresses by asset. */
async function endAll(
  db: Db,
  table: 'asset_viewers' | 'asset_workers',
  transfers: ConfirmedTransfer[],
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ workspaceId: string; subjectId: string; address: string }>`
    delete from ${sql.table(table)} ended using ${movedAssets(transfers)}
    where ended.workspace_id = moved.workspace_id and ended.asset_id = moved.asset_id
    returning ended.workspace_id as "workspaceId", ended.asset_id as "subjectId", ended.address`.execute(db);
  const addresses = new Map<string, string[]>();
  for (const row of rows) addresses.set(keyOf(row), [...(addresses.get(keyOf(row)) ?? []), row.address]);
  return addresses;
}

/** Returns the ids by asset. */
async function endPages(db: Db, transfers: ConfirmedTransfer[]): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ workspaceId: string; subjectId: string; id: string; open: boolean }>`
    delete from published_pages p using ${movedAssets(transfers)}
    where p.workspace_id = moved.workspace_id and p.asset_id = moved.asset_id
    returning p.workspace_id as "workspaceId", p.asset_id as "subjectId", p.id, p.until > now() as open`.execute(
    db,
  );
  const open = Map.groupBy(
    rows.filter((row) => row.open),
    keyOf,
  );
  return new Map([...open].map(([key, pages]) => [key, pages.map(({ id }) => id)]));
}

function endedPage({ workspaceId, subjectId }: ConfirmedTransfer, id: string): Write {
  const at = new Date();
  const data = {
    asset_id: subjectId,
    page_id: id,
    cause: 'transferred' as const,
    ended_at: at.toISOString(),
  };
  return eventWrite({ workspaceId, type: 'asset.page.ended', at, data });
}

function keyOf({ workspaceId, subjectId }: { workspaceId: string; subjectId: string }): string {
  return JSON.stringify([workspaceId, subjectId]);
}

/** For the audit log. */
function completedEntry(
  { workspaceId, subjectId, id, fromVaultId, toVaultId }: ConfirmedTransfer,
  ended: { endedViewers: string[]; endedWorkers: string[]; endedPages?: string[] },
): Write {
  const system: Caller = {
    workspaceId,
    actor: { kind: 'system', id: 'anchoring' },
    scopes: [],
    requestId: null,
  };
  const details = { transferId: id, fromVaultId, toVaultId, ...ended };
  return auditWrite(system, { action: 'asset.transfer_complete', targetId: subjectId, details });
}
