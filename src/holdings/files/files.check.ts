/** Checks the rows of files: versions and their leaves, who owns them, and what is under way. */
import { sql } from 'kysely';
import type { Announced } from '../../anchoring/announcements.check.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';

/** For the check of announcements. */
export const announcedFiles: Announced = {
  thing: 'file',
  type: 'file.anchor.confirmed',
  idMember: 'file_id',
  isOne: sql`l.kind = 'file'`,
  isStored: sql`exists (
    select 1 from file_versions v
    where v.workspace_id = l.workspace_id and v.file_id = l.subject_id and v.version = l.version
  )`,
  leaves: sql`
    select l.id from anchor_leaves l
    where l.workspace_id = told.workspace_id and l.subject_id = told.subject_id and l.kind = 'file'
      and l.version = (told.data ->> 'version')::integer
    limit 1`,
};

/** For the check of announcements. */
export const announcedFileTransfers: Announced = {
  thing: 'file_transfer',
  type: 'file.transfer.completed',
  idMember: 'file_id',
  // Other things have transfers too.
  isOne: sql`l.kind = 'transfer' and l.subject_id like 'fil\\_%'`,
  isStored: sql`exists (
    select 1 from file_transfers t
    where t.workspace_id = l.workspace_id and t.file_id = l.subject_id and t.number = l.version
  )`,
  // The event has the version of the file, not the number of the transfer: one that went back and forth may be meant twice.
  leaves: sql`
    select l.id from file_transfers t
    join anchor_leaves l on l.workspace_id = t.workspace_id and l.subject_id = t.file_id and l.kind = 'transfer'
      and l.version = t.number
    where t.workspace_id = told.workspace_id and t.file_id = told.subject_id
      and t.file_version = (told.data ->> 'version')::integer
      and t.from_vault_id = told.data ->> 'from_vault_id' and t.to_vault_id = told.data ->> 'to_vault_id'`,
};

export function filesCheck(db: Db): Check {
  return { name: 'files', passes: [versionsPass(db), filesPass(db), transfersPass(db)] };
}

const restore = 'The row was changed in the database: restore it from a backup.';

interface VersionRow {
  workspace_id: string;
  file_id: string;
  version: number;
  content_hash: Buffer;
  vault_id: string;
  current: boolean;
  newest: boolean | null;
  first: boolean;
  leaf_digest: Buffer | null;
  leaf_vault: string | null;
  has_blob: boolean;
}

function versionsPass(db: Db): Pass {
  return rowsPass<VersionRow>({
    db,
    what: 'versions of files',
    table: 'file_versions',
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
             leaf.digest as leaf_digest, leaf.vault_id as leaf_vault,
             v.blob_id is null or exists (
               select 1 from blobs b
               where b.workspace_id = v.workspace_id and b.id = v.blob_id and b.content_hash = v.content_hash
                 and b.size = v.size and (b.erased_at is null or v.erased_at is not null)
             ) as has_blob
      from file_versions v
      left join files f on f.workspace_id = v.workspace_id and f.id = v.file_id
      left join lateral (
        select l.digest, l.vault_id from anchor_leaves l
        where l.workspace_id = v.workspace_id and l.subject_id = v.file_id and l.kind = 'file'
          and l.version = v.version
        limit 1
      ) as leaf on true
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
  if (row.leaf_digest === null || row.leaf_vault === null) {
    find('file_without_leaf', 'has no leaf: it will never be anchored');
  } else if (!row.leaf_digest.equals(row.content_hash) || row.leaf_vault !== row.vault_id) {
    find('file_leaf_differs', 'has a leaf with a different hash or vault');
  }
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

interface FileRow {
  workspace_id: string;
  id: string;
  vault_id: string;
  owner: string | null;
  transfer_id: string | null;
  open_transfer: string | null;
  open_transfers: number;
  last_leaf: Buffer;
  newest_leaf: Buffer | null;
}

function filesPass(db: Db): Pass {
  return rowsPass<FileRow>({
    db,
    what: 'files',
    table: 'files',
    key: [
      { column: 'f.workspace_id', member: 'workspace_id' },
      { column: 'f.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<FileRow>`
      select f.workspace_id, f.id, f.vault_id, f.transfer_id, f.last_leaf,
             coalesce((
               select t.to_vault_id from file_transfers t
               where t.workspace_id = f.workspace_id and t.file_id = f.id and t.completed_at is not null
               order by t.number desc limit 1
             ), (
               select v.vault_id from file_versions v
               where v.workspace_id = f.workspace_id and v.file_id = f.id and v.version = 1
             )) as owner,
             (select max(t.id) from file_transfers t
              where t.workspace_id = f.workspace_id and t.file_id = f.id and t.completed_at is null) as open_transfer,
             (select count(*) from file_transfers t
              where t.workspace_id = f.workspace_id and t.file_id = f.id and t.completed_at is null) as open_transfers,
             (select l.leaf from anchor_leaves l
              where l.workspace_id = f.workspace_id and l.subject_id = f.id and l.kind in ('file', 'transfer')
              order by l.id desc limit 1) as newest_leaf
      from files f where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeFile),
  });
}

function judgeFile(row: FileRow): Finding[] {
  const { workspace_id: workspace, id: file } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, file },
      message: `The file ${file} ${what}.`,
      advice: restore,
    });
  if (row.vault_id !== row.owner) {
    find('file_owner', `belongs to ${row.vault_id}, but its last completed transfer gave it to ${row.owner}`);
  }
  if (row.transfer_id !== row.open_transfer || Number(row.open_transfers) > 1) {
    find('file_transfer_open', 'names a transfer in progress other than the one that is not completed');
  }
  if (row.newest_leaf === null || !row.newest_leaf.equals(row.last_leaf)) {
    find('file_last_leaf', 'does not name the newest leaf of its versions and transfers');
  }
  return findings;
}

interface TransferRow {
  workspace_id: string;
  id: string;
  file_id: string;
  number: number;
  from_vault_id: string;
  completed: boolean;
  told: boolean | null;
  leaf_vault: string | null;
  same_digest: boolean | null;
}

function transfersPass(db: Db): Pass {
  return rowsPass<TransferRow>({
    db,
    what: 'transfers of files',
    table: 'file_transfers',
    key: [
      { column: 't.workspace_id', member: 'workspace_id' },
      { column: 't.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<TransferRow>`
      select t.workspace_id, t.id, t.file_id, t.number, t.from_vault_id, t.completed_at is not null as completed,
             l.vault_id as leaf_vault, l.digest = v.content_hash as same_digest,
             b.status in ('confirmed', 'finalized') and l.place < b.announced as told
      from file_transfers t
      left join file_versions v on v.workspace_id = t.workspace_id and v.file_id = t.file_id
        and v.version = t.file_version
      left join anchor_leaves l on l.workspace_id = t.workspace_id and l.subject_id = t.file_id
        and l.kind = 'transfer' and l.version = t.number
      left join anchor_batches b on b.id = l.batch_id
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeTransfer),
  });
}

function judgeTransfer(row: TransferRow): Finding[] {
  const { workspace_id: workspace, id: transfer, file_id: file } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, file, transfer },
      message: `The transfer ${transfer} of the file ${file} ${what}.`,
      advice: restore,
    });
  if (row.leaf_vault === null) {
    find('file_transfer_without_leaf', 'has no leaf: it will never be confirmed');
  } else if (row.leaf_vault !== row.from_vault_id || row.same_digest !== true) {
    find('file_transfer_leaf_differs', 'has a leaf of another vault or another version of the file');
  }
  if (row.told === true && !row.completed) {
    find('file_transfer_incomplete', 'was announced as confirmed, but is not completed');
  }
  return findings;
}
