/** Checks the assets: their documents, leaves and owners, and that none is a part of itself. */

import { sql } from 'kysely';
import { joinLeaf, judgeLeaf, type LeafColumns, leafColumns } from '../../anchoring/anchored.check.ts';
import { writtenLeaves } from '../../anchoring/leaves/written-leaves.check.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { custodyPasses } from '../../holdings/transfers/transfers.check.ts';
import { recordDigest } from '../../proof/content.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';
import { transferableAsset } from './asset-transfer.ts';

export function assetsCheck(db: Db): Check {
  return {
    name: 'assets',
    passes: [
      assetsPass(db),
      versionsPass(db),
      ...custodyPasses(db, { ...transferableAsset, digest: 'digest' }),
    ],
  };
}

const restore = 'The row was changed in the database: restore it from a backup.';

interface AssetRow {
  workspace_id: string;
  asset_id: string;
  version: number;
  newest_version: number | null;
  versions: number;
  parent_asset_id: string | null;
  installed_in: string | null;
  in_circle: boolean;
}

function assetsPass(db: Db): Pass {
  return rowsPass<AssetRow>({
    db,
    what: 'assets',
    table: 'assets',
    written: [writtenLeaves(db, ['asset'], { version: false })],
    key: [
      { column: 'a.workspace_id', member: 'workspace_id' },
      { column: 'a.asset_id', member: 'asset_id' },
    ],
    read: ({ where, end }) => sql<AssetRow>`
      select a.workspace_id, a.asset_id, a.version, a.parent_asset_id, v.newest as newest_version, v.versions,
             i.parent_asset_id as installed_in,
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
  if (row.parent_asset_id !== row.installed_in) {
    find('asset_parent', 'is not where its installations say it is');
  }
  if (row.in_circle) find('asset_circle', 'is a part of itself');
  return findings;
}

interface VersionRow extends LeafColumns {
  workspace_id: string;
  asset_id: string;
  version: number;
  vault_id: string;
  document: string;
  salt: Buffer;
  digest: Buffer;
}

function versionsPass(db: Db): Pass {
  return rowsPass<VersionRow>({
    db,
    what: 'versions of assets',
    table: 'asset_versions',
    written: [writtenLeaves(db, ['asset'])],
    key: [
      { column: 'v.workspace_id', member: 'workspace_id' },
      { column: 'v.asset_id', member: 'asset_id' },
      { column: 'v.version', member: 'version' },
    ],
    read: ({ where, end }) => sql<VersionRow>`
      select v.workspace_id, v.asset_id, v.version, v.vault_id, v.document, v.salt, v.digest,
             ${leafColumns}
      from asset_versions v ${joinLeaf('asset', 'v')}
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
  judgeLeaf('asset', row, { digest: row.digest, vaultId: row.vault_id }, find);
  return findings;
}

/** Null when the document is not JSON or has no canonical form. */
function digestOf({ document, salt }: VersionRow): string | null {
  try {
    return recordDigest(salt, JSON.parse(document));
  } catch {
    return null;
  }
}
