/** Checks the records: their digests, their versions and their leaves. */
import { sql } from 'kysely';
import { writtenLeaves } from '../../anchoring/leaves/written-leaves.check.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import { recordDigest } from '../../proof/content.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';

export function recordsCheck(db: Db): Check {
  return { name: 'records', passes: [recordsPass(db), storedBytesPass(db)] };
}

interface Row {
  workspace_id: string;
  id: string;
  version: number;
  /** Null when they were removed. */
  data: string | null;
  salt: Buffer | null;
  data_hash: Buffer;
  erased: boolean;
  first: boolean;
}

function recordsPass(db: Db): Pass {
  return rowsPass<Row>({
    db,
    what: 'versions of records',
    table: 'records',
    written: [writtenIds(db, 'records', 'rec'), writtenLeaves(db, ['record'], { olderThan: 'rec' })],
    key: [
      { column: 'r.workspace_id', member: 'workspace_id' },
      { column: 'r.id', member: 'id' },
      { column: 'r.version', member: 'version' },
    ],
    read: ({ where, end }) => sql<Row>`
      select r.workspace_id, r.id, r.version, r.data, r.salt, r.data_hash, r.erased_at is not null as erased,
             not exists (
               select 1 from records p where p.workspace_id = r.workspace_id and p.id = r.id and p.version = r.version - 1
             ) as first
      from records r
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judge),
  });
}

const restore = 'The row was changed in the database: restore it from a backup.';

function judge(row: Row): Finding[] {
  const { workspace_id: workspace, id: record, version } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string, advice = restore) =>
    findings.push({
      rule,
      ids: { workspace, record, version },
      message: `The record ${record}, version ${version}, ${what}.`,
      advice,
    });
  // A constraint of the table sees to it that nothing is left of what was erased.
  if (!row.erased && (row.data === null || row.salt === null)) {
    find('record_without_data', 'has no data or no salt');
  } else if (
    row.data !== null &&
    row.salt !== null &&
    digestOf(row.data, row.salt) !== fromBytea(row.data_hash)
  ) {
    find('record_changed', 'has data that does not match its hash');
  }
  if (row.first !== (version === 1)) find('record_version_gap', 'has no previous version');
  return findings;
}

interface StoredRow {
  id: string;
  counted: number;
  stored: number;
}

/** Read in one statement, so that nothing is committed between the total and the rows it sums up. */
function storedBytesPass(db: Db): Pass {
  return rowsPass<StoredRow>({
    db,
    what: 'storage of workspaces',
    table: 'workspaces',
    key: [{ column: 'w.id', member: 'id' }],
    pageRows: 10,
    read: ({ where, end }) => sql<StoredRow>`
      select w.id,
        (select used from budget_use(w.id, 'stored_bytes', 'epoch')) as counted,
        (select coalesce(sum(b.size), 0)::bigint from blobs b
         where b.workspace_id = w.id and b.erased_at is null and b.vault_id <> '')
        + (select coalesce(sum(octet_length(r.data)), 0) from records r where r.workspace_id = w.id)
        + (select coalesce(sum(a.data_bytes), 0) from archive_parts p join archived_records a on a.part = p.number
           where p.workspace_id = w.id)
        + (select coalesce(sum(octet_length(v.document)), 0) from asset_versions v where v.workspace_id = w.id)
        + (select coalesce(sum(octet_length(m.entry)), 0) from maintenances m where m.workspace_id = w.id)
        + (select coalesce(sum(octet_length(s.document)), 0) from signoffs s where s.workspace_id = w.id)
        + (select coalesce(sum(octet_length(p.document)), 0) from passkey_statements p where p.workspace_id = w.id) as stored
      from workspaces w where ${where} ${end}`,
    judge: (rows) =>
      rows
        .filter(({ counted, stored }) => counted !== stored)
        .map(({ id, counted, stored }) => ({
          rule: 'stored_bytes_differ',
          ids: { workspace: id },
          message: `The workspace ${id} stores ${stored} bytes of files and data, but ${counted} are counted for it.`,
          advice:
            'Rows were changed in the database without its triggers: restore a backup, or add a row to workspace_usage with the difference.',
        })),
  });
}

/** Null when the data is not JSON or has no canonical form. */
function digestOf(data: string, salt: Buffer): string | null {
  try {
    return recordDigest(salt, JSON.parse(data));
  } catch {
    return null;
  }
}
