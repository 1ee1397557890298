/** Checks the custody of files and assets: owners, open transfers, and their leaves. */

import { sql } from 'kysely';
import type { Announced } from '../../anchoring/anchored.check.ts';
import { isLeaf, leafKey } from '../../anchoring/anchored.ts';
import { anchoredKinds } from '../../anchoring/kinds.ts';
import { joinPlace } from '../../anchoring/leaves/leaf-places.ts';
import { writtenLeaves } from '../../anchoring/leaves/written-leaves.check.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import type { Finding, Pass } from '../../runtime/check.ts';
import type { SubjectKind, SubjectTable } from './transfers.store.ts';

/** A kind that can be transferred, and the column of its versions with the digest. */
export interface Custody extends SubjectTable {
  kind: SubjectKind;
  digest: string;
}

export function custodyPasses(db: Db, custody: Custody): Pass[] {
  return [subjectsPass(db, custody), transfersPass(db, custody)];
}

/** For the check of announcements. */
export function announcedTransfers(kind: SubjectKind): Announced {
  return {
    thing: `${kind}_transfer`,
    event: { type: `${kind}.transfer.completed`, idMember: `${kind}_id` },
    // The owner chooses the id of an asset, and it never looks like the id of a file.
    isOne: sql.raw(`l.kind = 'transfer' and l.subject_id ${kind === 'file' ? '' : 'not'} like 'fil\\_%'`),
    isStored: sql.raw(`exists (
      select 1 from transfers t where t.subject_kind = '${kind}' and ${isLeaf(leafKey('transfer', 't'))}
    )`),
    // The event has the version of a file, not the number of the transfer: after a transfer back and forth, it may match
    // two.
    leaves: sql.raw(`
      select l.id from transfers t join anchor_leaves l on ${isLeaf(leafKey('transfer', 't'))}
      where t.workspace_id = told.workspace_id and t.subject_kind = '${kind}' and t.subject_id = told.subject_id
        and t.subject_version = coalesce((told.data ->> 'version')::integer, t.subject_version)
        and t.from_vault_id = told.data ->> 'from_vault_id' and t.to_vault_id = told.data ->> 'to_vault_id'`),
  };
}

const restore = 'The row was changed in the database: restore it from a backup.';

interface SubjectRow {
  workspace_id: string;
  id: string;
  vault_id: string;
  /** The receiver of the last completed transfer, or the vault of the first version. */
  owner: string | null;
  transfer_id: string | null;
  open_transfer: string | null;
  last_leaf: Buffer;
  newest_leaf: Buffer | null;
}

function subjectsPass(db: Db, { kind, table, id }: Custody): Pass {
  const versions = versionsOf(kind);
  const subject = sql.ref(`s.${id}`);
  return rowsPass<SubjectRow>({
    db,
    what: `owners of ${table}`,
    table,
    written: [writtenLeaves(db, [kind, 'transfer'], { version: false })],
    key: [
      { column: 's.workspace_id', member: 'workspace_id' },
      { column: `s.${id}`, member: 'id' },
    ],
    read: ({ where, end }) => sql<SubjectRow>`
      select s.workspace_id, ${subject} as id, s.vault_id, s.transfer_id, s.last_leaf,
             coalesce((
               select t.to_vault_id from transfers t
               where t.workspace_id = s.workspace_id and t.subject_id = ${subject} and t.completed_at is not null
               order by t.number desc limit 1
             ), (
               select v.vault_id from ${sql.table(versions.table)} v
               where v.workspace_id = s.workspace_id and ${sql.ref(`v.${versions.subject}`)} = ${subject}
                 and v.version = 1
             )) as owner,
             (select t.id from transfers t
              where t.workspace_id = s.workspace_id and t.subject_id = ${subject} and t.completed_at is null
              limit 1) as open_transfer,
             (select l.leaf from anchor_leaves l
              where l.workspace_id = s.workspace_id and l.subject_id = ${subject}
                and l.kind in (${kind}, 'transfer')
              -- Not by the id itself: without sorting, PostgreSQL would read all leaves from the newest on for each row.
              order by l.id + 0 desc limit 1) as newest_leaf
      from ${sql.table(table)} s where ${where} ${end}`,
    judge: (rows) => rows.flatMap((row) => judgeSubject(kind, row)),
  });
}

function versionsOf(kind: SubjectKind) {
  const { rows } = anchoredKinds[kind];
  if (rows === null) throw new Error(`there are no versions of ${kind}`);
  return rows;
}

function judgeSubject(kind: SubjectKind, row: SubjectRow): Finding[] {
  const { workspace_id: workspace, id } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule: `${kind}_${rule}`,
      ids: { workspace, [kind]: id },
      message: `The ${kind} ${id} ${what}.`,
      advice: restore,
    });
  if (row.vault_id !== row.owner) {
    find('owner', `belongs to ${row.vault_id}, but its transfers lead to ${row.owner ?? 'nobody'}`);
  }
  if (row.transfer_id !== row.open_transfer) {
    find('transfer_open', 'names a transfer in progress other than the one that is not completed');
  }
  if (row.newest_leaf === null || !row.newest_leaf.equals(row.last_leaf)) {
    find('last_leaf', 'does not name its newest leaf, so the next one would not follow it');
  }
  return findings;
}

interface TransferRow {
  workspace_id: string;
  id: string;
  subject_id: string;
  from_vault_id: string;
  completed: boolean;
  leaf_vault: string | null;
  same_digest: boolean | null;
  /** Confirmed and announced. */
  told: boolean | null;
}

function transfersPass(db: Db, { kind, table, digest }: Custody): Pass {
  const versions = versionsOf(kind);
  return rowsPass<TransferRow>({
    db,
    what: `transfers of ${table}`,
    table: 'transfers',
    written: [writtenIds(db, 'transfers', 'trf')],
    key: [
      { column: 't.workspace_id', member: 'workspace_id' },
      { column: 't.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<TransferRow>`
      select t.workspace_id, t.id, t.subject_id, t.from_vault_id, t.completed_at is not null as completed,
             l.vault_id as leaf_vault, l.digest = ${sql.ref(`v.${digest}`)} as same_digest,
             l.announced_before
               or b.status in ('confirmed', 'finalized') and placed.place < b.announced as told
      from transfers t
      left join ${sql.table(versions.table)} v on v.workspace_id = t.workspace_id
        and ${sql.ref(`v.${versions.subject}`)} = t.subject_id and v.version = t.subject_version
      left join anchor_leaves l on ${sql.raw(isLeaf(leafKey('transfer', 't')))} ${sql.raw(joinPlace)}
      left join anchor_batches b on b.id = placed.batch_id
      where t.subject_kind = ${kind} and ${where} ${end}`,
    judge: (rows) => rows.flatMap((row) => judgeTransfer(kind, row)),
  });
}

function judgeTransfer(kind: SubjectKind, row: TransferRow): Finding[] {
  const { workspace_id: workspace, id: transfer, subject_id: subject } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule: `${kind}_transfer_${rule}`,
      ids: { workspace, [kind]: subject, transfer },
      message: `The transfer ${transfer} of the ${kind} ${subject} ${what}.`,
      advice: restore,
    });
  if (row.leaf_vault === null) find('without_leaf', 'has no leaf: it will never be confirmed');
  else if (row.leaf_vault !== row.from_vault_id || row.same_digest !== true) {
    find('leaf_differs', `has a leaf of another vault or another version of the ${kind}`);
  }
  if (row.told === true && !row.completed) {
    find('incomplete', `is confirmed on the chain, but the ${kind} still has its old owner`);
  }
  return findings;
}
