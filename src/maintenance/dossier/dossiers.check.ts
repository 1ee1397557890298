/** Checks the dossiers that were exported: each has the leaf that its seal is about, and is of an asset. */
import { sql } from 'kysely';
import { joinLeaf, judgeLeaf, type LeafColumns, leafColumns } from '../../anchoring/anchored.check.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import type { Check, Finding } from '../../runtime/check.ts';

interface DossierRow extends LeafColumns {
  workspace_id: string;
  id: string;
  asset_id: string;
  vault_id: string;
  entries: number;
  digest: Buffer;
  has_asset: boolean;
  /** How many entries the asset has by now. */
  recorded: number;
}

export function dossiersCheck(db: Db): Check {
  const pass = rowsPass<DossierRow>({
    db,
    what: 'dossiers',
    table: 'dossiers',
    written: [writtenIds(db, 'dossiers', 'dos')],
    key: [
      { column: 'd.workspace_id', member: 'workspace_id' },
      { column: 'd.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<DossierRow>`
      select d.workspace_id, d.id, d.asset_id, d.vault_id, d.entries, d.digest,
             exists (
               select 1 from assets a where a.workspace_id = d.workspace_id and a.asset_id = d.asset_id
             ) as has_asset,
             coalesce((
               select m.number from maintenances m
               where m.workspace_id = d.workspace_id and m.asset_id = d.asset_id order by m.number desc limit 1
             ), 0) as recorded, ${leafColumns}
      from dossiers d ${joinLeaf('dossier', 'd')}
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeDossier),
  });
  return { name: 'dossiers', passes: [pass] };
}

function judgeDossier(row: DossierRow): Finding[] {
  const { workspace_id: workspace, id: dossier, asset_id: asset, entries, recorded } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, dossier, asset },
      message: `The dossier ${dossier} ${what}.`,
      advice: 'Rows were changed in the database: restore them from a backup.',
    });
  judgeLeaf('dossier', row, { digest: row.digest, vaultId: row.vault_id }, find);
  if (!row.has_asset) find('dossier_without_asset', `is of the asset ${asset}, which does not exist`);
  else if (entries > recorded) {
    find('dossier_entries_lost', `had ${entries} entries of the asset ${asset}, which has ${recorded} now`);
  }
  return findings;
}
