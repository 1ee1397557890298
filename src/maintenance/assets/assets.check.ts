/** Checks the assets: their documents, their leaves, who owns them, and that none is a part of itself. */
import { sql } from 'kysely';
import type { Announced } from '../../anchoring/announcements.check.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { recordDigest } from '../../proof/content.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';

/** For the check of announcements. */
export const announcedAssetTransfers: Announced = {
  thing: 'asset_transfer',
  type: 'asset.transfer.completed',
  idMember: 'asset_id',
  // The id of an asset is its owner's choice, and never looks like that of a file.
  isOne: sql`l.kind = 'transfer' and l.subject_id not like 'fil\\_%'`,
  isStored: sql`exists (
    select 1 from asset_transfers t
    where t.workspace_id = l.workspace_id and t.asset_id = l.subject_id and t.number = l.version
  )`,
  leaves: sql`
    select l.id from asset_transfers t
    join anchor_leaves l on l.workspace_id = t.workspace_id and l.subject_id = t.asset_id and l.kind = 'transfer'
      and l.version = t.number
    where t.workspace_id = told.workspace_id and t.asset_id = told.subject_id
      and t.from_vault_id = told.data ->> 'from_vault_id' and t.to_vault_id = told.data ->> 'to_vault_id'`,
};

export function assetsCheck(db: Db): Check {
  return { name: 'assets', passes: [assetsPass(db), versionsPass(db), transfersPass(db)] };
}

const restore = 'The row was changed in the database: restore it from a backup.';

interface AssetRow {
  workspace_id: string;
  asset_id: string;
  version: number;
  newest_version: number | null;
  versions: number;
  vault_id: string;
  /** The taker of the last completed transfer, or the vault of the first version. */
  owner: string | null;
  open_transfer: string | null;
  transfer_id: string | null;
  last_leaf: Buffer;
  newest_leaf: Buffer | null;
  parent_asset_id: string | null;
  installed_in: string | null;
  in_circle: boolean;
}

function assetsPass(db: Db): Pass {
  return rowsPass<AssetRow>({
    db,
    what: 'assets',
    table: 'assets',
    key: [
      { column: 'a.workspace_id', member: 'workspace_id' },
      { column: 'a.asset_id', member: 'asset_id' },
    ],
    read: ({ where, end }) => sql<AssetRow>`
      select a.workspace_id, a.asset_id, a.version, a.vault_id, a.transfer_id, a.last_leaf, a.parent_asset_id,
             v.newest as newest_version, v.versions, coalesce(done.to_vault_id, first.vault_id) as owner,
             under_way.id as open_transfer, leaf.leaf as newest_leaf, i.parent_asset_id as installed_in,
             a.parent_asset_id is not null and exists (
               with recursive above as (
                 select p.asset_id, p.parent_asset_id from assets p
                 where p.workspace_id = a.workspace_id and p.asset_id = a.parent_asset_id
                 union
                 select p.asset_id, p.parent_asset_id from above
                 join assets p on p.workspace_id = a.workspace_id and p.asset_id = above.parent_asset_id
               )
               select 1 from above where above.asset_id = a.asset_id
             ) as in_circle
      from assets a
      left join lateral (
        select max(version) as newest, count(*) as versions from asset_versions
        where workspace_id = a.workspace_id and asset_id = a.asset_id
      ) as v on true
      left join asset_versions first
        on first.workspace_id = a.workspace_id and first.asset_id = a.asset_id and first.version = 1
      left join lateral (
        select t.to_vault_id from asset_transfers t
        where t.workspace_id = a.workspace_id and t.asset_id = a.asset_id and t.completed_at is not null
        order by t.number desc limit 1
      ) as done on true
      left join asset_transfers under_way on under_way.workspace_id = a.workspace_id
        and under_way.asset_id = a.asset_id and under_way.completed_at is null
      left join lateral (
        select l.leaf from anchor_leaves l
        where l.workspace_id = a.workspace_id and l.subject_id = a.asset_id and l.kind in ('asset', 'transfer')
        order by l.id desc limit 1
      ) as leaf on true
      left join asset_installations i
        on i.workspace_id = a.workspace_id and i.asset_id = a.asset_id and i.removed_at is null
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeAsset),
  });
}

function judgeAsset(row: AssetRow): Finding[] {
  const { workspace_id: workspace, asset_id: asset } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, asset },
      message: `The asset ${asset} ${what}.`,
      advice: restore,
    });
  if (row.newest_version !== row.version || row.versions !== row.version) {
    find('asset_versions', `counts ${row.version} versions, but there are ${row.versions}`);
  }
  if (row.owner !== row.vault_id) {
    find('asset_owner', `is owned by ${row.vault_id}, but its transfers lead to ${row.owner ?? 'nobody'}`);
  }
  if (row.transfer_id !== row.open_transfer) find('asset_transfer', 'does not name the transfer in progress');
  if (row.newest_leaf === null || !row.newest_leaf.equals(row.last_leaf)) {
    find('asset_last_leaf', 'does not name its newest leaf, so the next one would not follow it');
  }
  if (row.parent_asset_id !== row.installed_in) {
    find('asset_parent', 'is not where its installations say it is');
  }
  if (row.in_circle) find('asset_circle', 'is a part of itself');
  return findings;
}

interface VersionRow {
  workspace_id: string;
  asset_id: string;
  version: number;
  vault_id: string;
  document: string;
  salt: Buffer;
  digest: Buffer;
  leaf_digest: Buffer | null;
  leaf_vault: string | null;
}

function versionsPass(db: Db): Pass {
  return rowsPass<VersionRow>({
    db,
    what: 'versions of assets',
    table: 'asset_versions',
    key: [
      { column: 'v.workspace_id', member: 'workspace_id' },
      { column: 'v.asset_id', member: 'asset_id' },
      { column: 'v.version', member: 'version' },
    ],
    read: ({ where, end }) => sql<VersionRow>`
      select v.workspace_id, v.asset_id, v.version, v.vault_id, v.document, v.salt, v.digest,
             l.digest as leaf_digest, l.vault_id as leaf_vault
      from asset_versions v
      left join anchor_leaves l on l.workspace_id = v.workspace_id and l.subject_id = v.asset_id
        and l.kind = 'asset' and l.version = v.version
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeVersion),
  });
}

function judgeVersion(row: VersionRow): Finding[] {
  const { workspace_id: workspace, asset_id: asset, version } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, asset, version },
      message: `The asset ${asset}, version ${version}, ${what}.`,
      advice: restore,
    });
  if (digestOf(row) !== fromBytea(row.digest)) {
    find('asset_changed', 'has a document that does not match its hash');
  }
  if (row.leaf_digest === null) {
    find('asset_without_leaf', 'has no leaf: it will never be anchored');
  } else if (!row.leaf_digest.equals(row.digest) || row.leaf_vault !== row.vault_id) {
    find('asset_leaf_differs', 'has a leaf with a different hash or vault');
  }
  return findings;
}

/** Null when the document is no JSON that has one reading. */
function digestOf({ document, salt }: VersionRow): string | null {
  try {
    return recordDigest(salt, JSON.parse(document));
  } catch {
    return null;
  }
}

interface TransferRow {
  workspace_id: string;
  id: string;
  asset_id: string;
  completed: boolean;
  leaf_vault: string | null;
  from_vault_id: string;
  /** Confirmed, and told of. */
  announced: boolean;
}

function transfersPass(db: Db): Pass {
  return rowsPass<TransferRow>({
    db,
    what: 'transfers of assets',
    table: 'asset_transfers',
    key: [
      { column: 't.workspace_id', member: 'workspace_id' },
      { column: 't.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<TransferRow>`
      select t.workspace_id, t.id, t.asset_id, t.from_vault_id, t.completed_at is not null as completed,
             l.vault_id as leaf_vault,
             coalesce(b.status in ('confirmed', 'finalized') and l.place < b.announced, false) as announced
      from asset_transfers t
      left join anchor_leaves l on l.workspace_id = t.workspace_id and l.subject_id = t.asset_id
        and l.kind = 'transfer' and l.version = t.number
      left join anchor_batches b on b.id = l.batch_id
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeTransfer),
  });
}

function judgeTransfer(row: TransferRow): Finding[] {
  const { workspace_id: workspace, id: transfer, asset_id: asset } = row;
  const find = (rule: string, what: string): Finding => ({
    rule,
    ids: { workspace, asset, transfer },
    message: `The transfer ${transfer} of the asset ${asset} ${what}.`,
    advice: restore,
  });
  if (row.leaf_vault === null) return [find('asset_transfer_without_leaf', 'has no leaf')];
  if (row.leaf_vault !== row.from_vault_id) {
    return [find('asset_transfer_leaf_differs', 'is not sealed by the sending vault')];
  }
  if (row.announced && !row.completed) {
    return [
      find(
        'asset_transfer_not_completed',
        'is confirmed on the chain, but the asset still has its old owner',
      ),
    ];
  }
  return [];
}
