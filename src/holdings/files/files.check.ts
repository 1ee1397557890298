/** Checks the rows of files: versions and their leaves, owners, and open transfers. */

import { sql } from 'kysely';
import { joinLeaf, judgeLeaf, type LeafColumns, leafColumns } from '../../anchoring/anchored.check.ts';
import { writtenLeaves } from '../../anchoring/leaves/written-leaves.check.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';
import { custodyPasses } from '../transfers/transfers.check.ts';
import { transferableFile } from './file-transfer.ts';

export function filesCheck(db: Db): Check {
  return {
    name: 'files',
    passes: [versionsPass(db), ...custodyPasses(db, { ...transferableFile, digest: 'content_hash' })],
  };
}

const restore = 'The row was changed in the database: restore it from a backup.';

interface VersionRow extends LeafColumns {
  workspace_id: string;
  file_id: string;
  version: number;
  content_hash: Buffer;
  vault_id: string;
  current: boolean;
  newest: boolean | null;
  first: boolean;
  has_blob: boolean;
}

function versionsPass(db: Db): Pass {
  return rowsPass<VersionRow>({
    db,
    what: 'versions of files',
    table: 'file_versions',
    written: [
      writtenIds(db, 'file_versions', 'fil', 'file_id'),
      writtenLeaves(db, ['file'], { olderThan: 'fil' }),
    ],
    key: [
      { column: 'v.workspace_id', member: 'workspace_id' },
      { column: 'v.file_id', member: 'file_id' },
      { column: 'v.version', member: 'version' },
    ],
    read: ({ where, end }) => sql<VersionRow>`
      select v.workspace_id, v.file_id, v.version, v.content_hash, v.vault_id, v.current,
             f.version = v.version as newest,
             not exists (
               select 1 from file_versions p
               where p.workspace_id = v.workspace_id and p.file_id = v.file_id and p.version = v.version - 1
             ) as first,
             ${leafColumns},
             v.blob_id is null or exists (
               select 1 from blobs b
               where b.workspace_id = v.workspace_id and b.id = v.blob_id and b.content_hash = v.content_hash
                 and b.size = v.size and (b.erased_at is null or v.erased_at is not null)
             ) as has_blob
      from file_versions v
      left join files f on f.workspace_id = v.workspace_id and f.id = v.file_id ${joinLeaf('file', 'v')}
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeVersion),
  });
}

function judgeVersion(row: VersionRow): Finding[] {
  const { workspace_id: workspace, file_id: file, version } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, file, version },
      message: `The file ${file}, version ${version}, ${what}.`,
      advice: restore,
    });
  judgeLeaf('file', row, { digest: row.content_hash, vaultId: row.vault_id }, find);
  if (row.first !== (version === 1)) find('file_version_gap', 'has no previous version');
  if (row.newest === null) find('file_version_without_file', 'belongs to no file');
  else if (row.current !== row.newest) {
    find(
      'file_current',
      row.current ? 'is marked as the newest, but is not' : 'is the newest, but is not marked as such',
    );
  }
  if (!row.has_blob) find('file_without_blob', 'has no blob with its hash and size');
  return findings;
}
